//! Reads multi-label data from the formats others publish it in.
//!
//! Known are the Extreme Classification text format, multi-label LIBSVM, Mulan's ARFF with its
//! XML label list, NumPy's `.npz` and `.npy` as SciPy writes them, and predictions as text. Text may be gzipped.
//!
//! Reading is strict: what is not a number is an error that says where, never a zero.
//! [`import`] is the only way in; everything it hands back has passed the checks of [`Sparse`].

mod arff;
mod arrays;
mod combine;
mod error;
mod extreme;
mod group;
mod input;
mod kind;
mod libsvm;
mod lines;
mod matrix;
mod matrix_problem;
mod number;
mod predictions;
mod source;
mod text_problem;

#[cfg(test)]
mod tests;

pub use error::{FileProblem, ImportError, InputProblem};
pub use input::{Format, Group, Input, Options};
pub use matrix::Sparse;
pub use matrix_problem::MatrixProblem;
pub use text_problem::TextProblem;

use combine::combine;
use kind::Kind;
use source::Source;

/// What the inputs held, checked and ready to be written in our own format.
///
/// All matrices have the same number of rows; labels and marginals the same number of columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Imported {
    /// Features by row; values are finite.
    pub features: Option<Sparse>,
    /// Relevant labels by row; every value is 1.
    pub labels: Option<Sparse>,
    /// Probability of each label by row; values lie in [0, 1].
    pub marginals: Option<Sparse>,
    /// Names of the label columns, in their order, when the format has names.
    pub label_names: Option<Vec<String>>,
    /// What was guessed, inferred or changed while reading, one sentence each.
    pub notes: Vec<String>,
}

/// Reads all inputs and puts them together.
///
/// An input may hold several groups (text and ARFF hold features and labels). One that was given
/// a group yields that group alone. Values stored as zero are kept where the format is sparse
/// (features and marginals), and dropped where it is dense, and always in labels.
///
/// # Errors
/// On the first thing that cannot be read as the format says, in the order of the inputs and of
/// their lines; and when two inputs hold the same group or do not fit each other.
pub fn import(inputs: &[Input], options: &Options) -> Result<Imported, ImportError> {
    if inputs.is_empty() {
        return Err(InputProblem::None.into());
    }
    let (lists, data): (Vec<&Input>, Vec<&Input>) =
        inputs.iter().partition(|input| kind::is_label_list(&input.path));
    let list = read_label_list(&lists)?;
    let mut list_used = false;
    let mut parts = Vec::with_capacity(data.len());
    for input in data {
        let source = Source::read(&input.path)?;
        let kind = Kind::of(&source, options.format, input.group);
        if let Some(group) = input.group.filter(|&group| !kind.holds(group)) {
            let path = input.path.clone();
            return Err(match group {
                Group::Marginals => InputProblem::NoMarginals { path, kind: kind.name() },
                _ => InputProblem::OnlyMarginals { path, group },
            }
            .into());
        }
        let part = match kind {
            Kind::ExtremeClassification => extreme::read(&source)?,
            Kind::Libsvm => libsvm::read(&source, options.zero_based)?,
            Kind::Arff => {
                list_used = true;
                arff::read(&source, list.as_ref(), options)?
            }
            Kind::Predictions => predictions::read(&source, options.label_count, options.clamp)?,
            Kind::Npz => arrays::read_npz(source, input.group, options.clamp)?,
            Kind::Npy => arrays::read_npy(source, input.group, options.clamp)?,
        };
        parts.push(part.only(input.group));
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
        [input] => arff::LabelList::read(&Source::read(&input.path)?).map(Some),
        [first, second, ..] => {
            Err(InputProblem::TwoLists { first: first.path.clone(), second: second.path.clone() }.into())
        }
    }
}
