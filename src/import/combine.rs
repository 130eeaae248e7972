//! Combining the contents of the inputs, and checking that they fit together.

use std::path::{Path, PathBuf};

use super::Imported;
use super::error::{ImportError, InputProblem};
use super::input::Group;
use crate::sparse::{Csr, widen};

/// The contents of one input.
pub(super) struct InputContents {
    pub path: PathBuf,
    pub matrices: Vec<(Group, Csr)>,
    pub label_names: Option<Vec<String>>,
    /// The group whose number of columns was inferred from the largest that occurs; there may be more.
    pub inferred: Option<Group>,
    pub notes: Vec<String>,
}

impl InputContents {
    pub fn new(path: &Path) -> InputContents {
        let (matrices, notes) = (Vec::new(), Vec::new());
        InputContents { path: path.to_owned(), matrices, label_names: None, inferred: None, notes }
    }

    pub fn note(&mut self, sentence: impl std::fmt::Display) {
        self.notes.push(format!("{}: {sentence}", self.path.display()));
    }

    /// Notes a count unless it is 0.
    pub fn note_count(&mut self, counted: &str, count: usize) {
        if count > 0 {
            self.note(format_args!("{counted}: {count}"));
        }
    }

    /// Keeps one group, or everything.
    pub fn keep_group(mut self, group: Option<Group>) -> InputContents {
        if let Some(group) = group {
            self.matrices.retain(|matrix| matrix.0 == group);
            self.inferred = self.inferred.filter(|&inferred| inferred == group);
            self.label_names = self.label_names.filter(|_| group == Group::Labels);
        }
        self
    }
}

/// A group that some input holds.
struct Taken {
    group: Group,
    path: PathBuf,
    rows: usize,
    inferred: bool,
}

/// Combines all parts. An inferred number of labels grows to that of the marginals, and vice versa.
pub(super) fn combine(parts: Vec<InputContents>) -> Result<Imported, ImportError> {
    let mut whole = Imported::default();
    let mut taken: Vec<Taken> = Vec::new();
    for part in parts {
        for (group, matrix) in part.matrices {
            let (path, rows) = (part.path.clone(), matrix.rows());
            check_input(&taken, group, &path, rows)?;
            taken.push(Taken { group, path, rows, inferred: part.inferred == Some(group) });
            *whole.matrix_mut(group) = Some(matrix);
        }
        whole.label_names = whole.label_names.or(part.label_names);
        whole.notes.extend(part.notes);
    }
    unify_label_counts(&mut whole, &taken)?;
    Ok(whole)
}

fn check_input(taken: &[Taken], group: Group, path: &Path, rows: usize) -> Result<(), InputProblem> {
    let second = path.to_owned();
    if let Some(first) = taken.iter().find(|taken| taken.group == group) {
        return Err(InputProblem::Twice { group, first: first.path.clone(), second });
    }
    match taken.first() {
        Some(first) if first.rows != rows => {
            let (first, first_rows) = (first.path.clone(), first.rows);
            Err(InputProblem::RowsDiffer { first, first_rows, second, second_rows: rows })
        }
        _ => Ok(()),
    }
}

fn unify_label_counts(whole: &mut Imported, taken: &[Taken]) -> Result<(), InputProblem> {
    let of = |group| taken.iter().find(|taken| taken.group == group);
    let (Some(labels), Some(marginals)) = (of(Group::Labels), of(Group::Marginals)) else { return Ok(()) };
    let columns = |matrix: &Option<Csr>| matrix.as_ref().map_or(0, |matrix| matrix.cols());
    let (label_columns, marginal_columns) = (columns(&whole.labels), columns(&whole.marginals));
    let (fewer, more) =
        if label_columns < marginal_columns { (labels, marginals) } else { (marginals, labels) };
    if label_columns == marginal_columns {
        return Ok(());
    }
    if !fewer.inferred {
        return Err(InputProblem::ColumnsDiffer {
            labels_path: labels.path.clone(),
            labels: label_columns,
            marginals_path: marginals.path.clone(),
            marginals: marginal_columns,
        });
    }
    let all = label_columns.max(marginal_columns);
    let matrix = whole.matrix_mut(fewer.group);
    *matrix = matrix.take().map(|matrix| widen(matrix, all));
    let (fewer, more) = (fewer.path.display(), more.path.display());
    whole.notes.push(format!("{fewer}: the number of labels is that of {more}: {all}"));
    Ok(())
}
