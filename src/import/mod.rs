//! Reads multi-label data from the formats others publish it in.
//!
//! Known are the Extreme Classification text format, multi-label LIBSVM, Mulan's ARFF with its
//! XML label list, NumPy's `.npz` and `.npy` as SciPy writes them, and predictions as text. Text may be gzipped.
//!
//! Reading is strict: what is not a number is an error that says where, never a zero.
//! [`import`] is the only way in; everything it hands back has passed the checks of [`SparseMatrix`].

mod arff;
mod arrays;
mod combine;
mod error;
mod extreme_classification;
mod file_kind;
mod guess_group;
mod input;
mod libsvm;
mod lines;
mod matrix;
mod matrix_problem;
mod parse_number;
mod predictions;
mod source;
mod text_problem;

#[cfg(test)]
mod tests;

pub use error::{FileProblem, ImportError, InputProblem};
pub use input::{Format, Group, ImportOptions, Input};
pub use matrix::SparseMatrix;
pub use matrix_problem::MatrixProblem;
pub use text_problem::TextProblem;

use combine::combine;
use file_kind::FileKind;
use source::SourceFile;

/// What the inputs held, checked and ready to be written in our own format.
///
/// All matrices have the same number of rows; labels and marginals the same number of columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Imported {
    /// Features by row; values are finite.
    pub features: Option<SparseMatrix>,
    /// Relevant labels by row; every value is 1.
    pub labels: Option<SparseMatrix>,
    /// Probability of each label by row; values lie in [0, 1].
    pub marginals: Option<SparseMatrix>,
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
pub fn import(inputs: &[Input], options: &ImportOptions) -> Result<Imported, ImportError> {
    if inputs.is_empty() {
        return Err(InputProblem::None.into());
    }
    let (lists, data): (Vec<&Input>, Vec<&Input>) =
        inputs.iter().partition(|input| file_kind::is_label_list(&input.path));
    let list = read_label_list(&lists)?;
    let mut list_used = false;
    let mut parts = Vec::with_capacity(data.len());
    for input in data {
        let source = SourceFile::read(&input.path)?;
        let kind = FileKind::detect(&source, options.format, input.group);
        if let Some(group) = input.group.filter(|&group| !kind.can_hold(group)) {
            let path = input.path.clone();
            return Err(match group {
                Group::Marginals => InputProblem::NoMarginals { path, kind: kind.name() },
                _ => InputProblem::OnlyMarginals { path, group },
            }
            .into());
        }
        let part = match kind {
            FileKind::ExtremeClassification => extreme_classification::read(&source)?,
            FileKind::Libsvm => libsvm::read(&source, options.zero_based)?,
            FileKind::Arff => {
                list_used = true;
                arff::read(&source, list.as_ref(), options)?
            }
            FileKind::Predictions => predictions::read(&source, options.label_count, options.clamp)?,
            FileKind::Npz => arrays::read_npz(source, input.group, options.clamp)?,
            FileKind::Npy => arrays::read_npy(source, input.group, options.clamp)?,
        };
        parts.push(part.keep_group(input.group));
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
