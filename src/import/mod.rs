//! Reading multi-label data from the formats in which others publish it.
//!
//! Reading is strict: text that is not a number is an error with its place, never a zero.
//!
//! To add a format, add a file with a [`FileFormat`] and list that in [`format`].

mod arff;
mod arrays;
mod combine;
mod error;
mod extreme_classification;
mod format;
mod input;
mod libsvm;
mod lines;
mod matrix_problem;
mod parse_number;
mod predictions;
mod source;
mod text_problem;

#[cfg(test)]
mod tests;

pub use error::{FileProblem, ImportError, InputProblem};
pub use format::Format;
pub use input::{Group, ImportOptions, Input};
pub use matrix_problem::MatrixProblem;
pub use text_problem::TextProblem;

use combine::combine;
use format::{FileFormat, ReadRequest};
use source::SourceFile;

use crate::sparse::Csr;

/// The checked contents of all inputs.
///
/// All matrices have the same number of rows; labels and marginals have the same number of columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Imported {
    /// Features; values are finite.
    pub features: Option<Csr>,
    /// True labels; every value is 1.
    pub labels: Option<Csr>,
    /// Marginals; values are in [0, 1].
    pub marginals: Option<Csr>,
    /// Names of the labels, if the format has names.
    pub label_names: Option<Vec<String>>,
    /// Sentences about everything that was guessed, inferred or changed.
    pub notes: Vec<String>,
}

impl Imported {
    /// Returns the matrices that were read, each with its group.
    pub fn groups(&self) -> impl Iterator<Item = (Group, &Csr)> {
        let matrices = [&self.features, &self.labels, &self.marginals];
        Group::ALL.into_iter().zip(matrices).filter_map(|(group, matrix)| Some((group, matrix.as_ref()?)))
    }

    fn matrix_mut(&mut self, group: Group) -> &mut Option<Csr> {
        match group {
            Group::Features => &mut self.features,
            Group::Labels => &mut self.labels,
            Group::Marginals => &mut self.marginals,
        }
    }
}

/// Reads all inputs and combines them.
///
/// An input may hold several groups (text and ARFF hold features and labels). If its group was given, only that group is
/// read from it. Stored zeros are kept in sparse features and marginals; in dense arrays and in labels they are dropped.
///
/// # Errors
/// On the first part that does not follow its format, in the order of inputs and lines; and if two inputs hold the same
/// group or do not fit together.
pub fn import(inputs: &[Input], options: &ImportOptions) -> Result<Imported, ImportError> {
    if inputs.is_empty() {
        return Err(InputProblem::None.into());
    }
    let (lists, data): (Vec<&Input>, Vec<&Input>) =
        inputs.iter().partition(|input| format::is_label_list(&input.path));
    let list = read_label_list(&lists)?;
    let mut list_used = false;
    let mut parts = Vec::with_capacity(data.len());
    for input in data {
        let source = SourceFile::read(&input.path)?;
        let format = FileFormat::of(&source, options.format, input.group);
        if let Some(group) = input.group.filter(|group| !format.groups.contains(group)) {
            let path = input.path.clone();
            return Err(match group {
                Group::Marginals => InputProblem::NoMarginals { path, format: format.title },
                _ => InputProblem::OnlyMarginals { path, group },
            }
            .into());
        }
        list_used |= format.takes_label_list;
        let request = ReadRequest { group: input.group, options, list: list.as_ref() };
        parts.push((format.read)(source, &request)?.keep_group(input.group));
    }
    if let (Some(list), false) = (&list, list_used) {
        return Err(InputProblem::ListAlone { path: list.path.clone() }.into());
    }
    combine(parts)
}

fn read_label_list(lists: &[&Input]) -> Result<Option<arff::LabelList>, ImportError> {
    match lists {
        [] => Ok(None),
        [input] if input.group.is_some() => {
            Err(InputProblem::ListWithGroup { path: input.path.clone() }.into())
        }
        [input] => arff::LabelList::read(&SourceFile::read(&input.path)?).map(Some),
        [first, second, ..] => {
            Err(InputProblem::TwoLists { first: first.path.clone(), second: second.path.clone() }.into())
        }
    }
}
