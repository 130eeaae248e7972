//! Errors of imports: in a line of text, in a stored matrix, in a file, or between inputs.

use std::io;
use std::path::PathBuf;

use super::input::Group;
use super::matrix_problem::MatrixProblem;
use super::text_problem::TextProblem;
use crate::error::ModuleError;

/// An error of an import. The message starts with the place, `FILE:LINE: ` or `FILE: `.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// An invalid line of text, counted from 1.
    #[error("{}:{line}: {problem}", path.display())]
    Text { path: PathBuf, line: usize, problem: TextProblem },
    /// An array file that is not a valid matrix.
    #[error("{}: {problem}", path.display())]
    Matrix { path: PathBuf, problem: MatrixProblem },
    /// An unreadable file.
    #[error("{}: {problem}", path.display())]
    File { path: PathBuf, problem: FileProblem },
    #[error(transparent)]
    Inputs(#[from] InputProblem),
}

/// A problem of a whole file.
#[derive(Debug, thiserror::Error)]
pub enum FileProblem {
    #[error("no such file; check the path")]
    Missing,
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
    #[error("the gzip stream is damaged or cut short ({0}); fetch the file again")]
    Gzip(io::Error),
    #[error("the file is empty; a data file has at least one line")]
    Empty,
    #[error("is a folder; expected a file")]
    Folder,
    #[error("is an HDF5 file, which needs no import")]
    Hdf5,
}

/// A problem of the inputs as named, or of several inputs together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputProblem {
    #[error("no input was given; name at least one file as [GROUP=]FILE")]
    None,
    #[error(
        "'{input}': unknown group '{found}'; the groups are features, labels and marginals \
         (write ./{input} if '=' is part of the file name)"
    )]
    UnknownGroup { found: String, input: String },
    #[error("'{input}' does not name a file; write [GROUP=]FILE, for example labels=Y.npz")]
    NoFile { input: String },
    #[error(
        "{0}: the name does not tell whether the file holds features, labels or marginals; \
         write features={0}, labels={0} or marginals={0}", path.display()
    )]
    GroupUnknown { path: PathBuf },
    #[error(
        "{}: {format} cannot hold marginals; give them as an .npz or .npy array or as lines of label:score",
        path.display()
    )]
    NoMarginals { path: PathBuf, format: &'static str },
    #[error(
        "{0}: prediction text holds marginals, not {group}; omit --format, which applies to all inputs, and write \
         marginals=FILE for the file of predictions", path.display()
    )]
    OnlyMarginals { path: PathBuf, group: Group },
    #[error(
        "{} and {} both hold {group}; write features=FILE or labels=FILE to read one group of a file",
        first.display(), second.display()
    )]
    Twice { group: Group, first: PathBuf, second: PathBuf },
    #[error(
        "{} has {first_rows} rows, but {} has {second_rows}; all inputs must have the same rows",
        first.display(), second.display()
    )]
    RowsDiffer { first: PathBuf, first_rows: usize, second: PathBuf, second_rows: usize },
    #[error(
        "{} has {labels} labels, but {} has {marginals} columns of marginals; \
         both must have one column per label", labels_path.display(), marginals_path.display()
    )]
    ColumnsDiffer { labels_path: PathBuf, labels: usize, marginals_path: PathBuf, marginals: usize },
    #[error("{}: an XML label list needs its ARFF file; name that too", path.display())]
    ListAlone { path: PathBuf },
    #[error("{}: an XML label list has no group; name it without GROUP=", path.display())]
    ListWithGroup { path: PathBuf },
    #[error(
        "{} and {} are both XML label lists; give the one of the ARFF file",
        first.display(), second.display()
    )]
    TwoLists { first: PathBuf, second: PathBuf },
    #[error(
        "{}: the labels among the attributes are unknown; \
         give the XML label list too, or --label-count N", path.display()
    )]
    LabelsUnknown { path: PathBuf },
    #[error(
        "{}: --label-count is {requested}, but must be from 1 to {attributes}, the number of attributes", path.display()
    )]
    LabelCount { path: PathBuf, requested: usize, attributes: usize },
    #[error(
        "{}: lists {listed} labels, but --label-count is {requested}; omit --label-count",
        path.display()
    )]
    LabelCountDiffers { path: PathBuf, listed: usize, requested: usize },
}

impl ModuleError for ImportError {}
