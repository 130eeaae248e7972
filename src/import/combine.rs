//! Puts what the inputs hold together, and checks that it fits.

use std::path::{Path, PathBuf};

use super::Imported;
use super::error::{ImportError, InputProblem};
use super::input::Group;
use super::matrix::SparseMatrix;

/// What one input holds.
pub(super) struct InputContents {
    pub path: PathBuf,
    pub features: Option<SparseMatrix>,
    pub labels: Option<SparseMatrix>,
    pub marginals: Option<SparseMatrix>,
    pub label_names: Option<Vec<String>>,
    /// The number of labels is only the largest that occurs; there may be more.
    pub labels_inferred: bool,
    /// The same of the columns of the marginals.
    pub marginals_inferred: bool,
    pub notes: Vec<String>,
}

impl InputContents {
    pub fn new(path: &Path) -> InputContents {
        InputContents {
            path: path.to_owned(),
            features: None,
            labels: None,
            marginals: None,
            label_names: None,
            labels_inferred: false,
            marginals_inferred: false,
            notes: Vec::new(),
        }
    }

    pub fn note(&mut self, sentence: String) {
        self.notes.push(format!("{}: {sentence}", self.path.display()));
    }

    /// Keeps one group, or everything.
    pub fn keep_group(mut self, group: Option<Group>) -> InputContents {
        if let Some(group) = group {
            if group != Group::Features {
                self.features = None;
            }
            if group != Group::Labels {
                self.labels = None;
                self.label_names = None;
            }
            if group != Group::Marginals {
                self.marginals = None;
            }
        }
        self
    }
}

/// All parts as one. Labels whose number was inferred grow to that of the marginals, and the other way round.
pub(super) fn combine(parts: Vec<InputContents>) -> Result<Imported, ImportError> {
    let mut whole = Imported::default();
    let mut taken: Vec<(Group, PathBuf, usize)> = Vec::new();
    let (mut labels_inferred, mut marginals_inferred) = (false, false);
    for part in parts {
        let groups = [
            (Group::Features, part.features, &mut whole.features),
            (Group::Labels, part.labels, &mut whole.labels),
            (Group::Marginals, part.marginals, &mut whole.marginals),
        ];
        for (group, matrix, place) in groups {
            let Some(matrix) = matrix else { continue };
            check_input(&taken, group, &part.path, matrix.rows)?;
            taken.push((group, part.path.clone(), matrix.rows));
            *place = Some(matrix);
        }
        whole.label_names = whole.label_names.or(part.label_names);
        labels_inferred |= part.labels_inferred;
        marginals_inferred |= part.marginals_inferred;
        whole.notes.extend(part.notes);
    }
    unify_label_counts(&mut whole, &taken, labels_inferred, marginals_inferred)?;
    Ok(whole)
}

fn check_input(
    taken: &[(Group, PathBuf, usize)],
    group: Group,
    path: &Path,
    rows: usize,
) -> Result<(), InputProblem> {
    if let Some((_, first, _)) = taken.iter().find(|entry| entry.0 == group) {
        return Err(InputProblem::Twice { group, first: first.clone(), second: path.to_owned() });
    }
    match taken.first() {
        Some((_, first, first_rows)) if *first_rows != rows => Err(InputProblem::RowsDiffer {
            first: first.clone(),
            first_rows: *first_rows,
            second: path.to_owned(),
            second_rows: rows,
        }),
        _ => Ok(()),
    }
}

fn unify_label_counts(
    whole: &mut Imported,
    taken: &[(Group, PathBuf, usize)],
    labels_inferred: bool,
    marginals_inferred: bool,
) -> Result<(), InputProblem> {
    let (Some(labels), Some(marginals)) = (&mut whole.labels, &mut whole.marginals) else {
        return Ok(());
    };
    if labels.columns == marginals.columns {
        return Ok(());
    }
    let path_of = |group| {
        let entry = taken.iter().find(|entry| entry.0 == group);
        entry.map_or_else(PathBuf::new, |entry| entry.1.clone())
    };
    let (fewer, more) = if labels.columns < marginals.columns {
        (Group::Labels, Group::Marginals)
    } else {
        (Group::Marginals, Group::Labels)
    };
    let inferred = if fewer == Group::Labels { labels_inferred } else { marginals_inferred };
    if inferred {
        let all = labels.columns.max(marginals.columns);
        (labels.columns, marginals.columns) = (all, all);
        let (fewer, more) = (path_of(fewer), path_of(more));
        let note = format!("{}: the number of labels is that of {}: {all}", fewer.display(), more.display());
        whole.notes.push(note);
        return Ok(());
    }
    Err(InputProblem::ColumnsDiffer {
        labels_path: path_of(Group::Labels),
        labels: labels.columns,
        marginals_path: path_of(Group::Marginals),
        marginals: marginals.columns,
    })
}
