//! Why an import failed: in the lines of a text, in a stored matrix, in a file, or between inputs.

use std::io;
use std::path::PathBuf;

use super::input::Group;
use super::matrix_problem::MatrixProblem;
use super::text_problem::TextProblem;
use crate::error::ModuleError;

/// Why an import failed. The message starts with the place, `FILE:LINE: ` or `FILE: `.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A line of a text file cannot be read.
    #[error("{}:{line}: {problem}", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// Its line, counted from 1.
        line: usize,
        /// What is wrong there.
        problem: TextProblem,
    },
    /// An array file cannot be read as a matrix.
    #[error("{}: {problem}", path.display())]
    Matrix {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        problem: MatrixProblem,
    },
    /// A file cannot be read at all.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: FileProblem,
    },
    /// The inputs as typed, or together, make no sense.
    #[error(transparent)]
    Inputs(#[from] InputProblem),
}

/// Why a file cannot be read at all.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // each message says what its fields are
pub enum FileProblem {
    #[error("no such file; check the path")]
    Missing,
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
    #[error("the gzip stream is damaged or cut short ({0}); fetch the file again")]
    Gzip(io::Error),
    #[error("the file is empty; a data file has at least one line")]
    Empty,
}

/// Why the inputs, as typed or together, make no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // each message says what its fields are
pub enum InputProblem {
    #[error("no input was given; name at least one file as [GROUP=]FILE")]
    None,
    #[error(
        "'{input}': '{found}' is no group; the groups are features, labels and marginals \
         (write ./{input} if '=' is part of the file name)"
    )]
    UnknownGroup { found: String, input: String },
    #[error("'{input}' names no file; write [GROUP=]FILE, for example labels=Y.npz")]
    NoFile { input: String },
    #[error(
        "{0}: the name does not tell whether it holds features, labels or marginals; \
         say so: features={0}, labels={0} or marginals={0}", path.display()
    )]
    GroupUnknown { path: PathBuf },
    #[error(
        "{}: {kind} holds no marginals; give them as marginals=FILE, an .npz or .npy array or lines of label:score",
        path.display()
    )]
    NoMarginals { path: PathBuf, kind: &'static str },
    #[error(
        "{0}: prediction text holds marginals, not {group}; leave --format out, which is for all inputs, and write \
         marginals=FILE for the one that has predictions", path.display()
    )]
    OnlyMarginals { path: PathBuf, group: Group },
    #[error(
        "{} and {} both hold {group}; write features=FILE or labels=FILE to take one group of a file",
        first.display(), second.display()
    )]
    Twice { group: Group, first: PathBuf, second: PathBuf },
    #[error(
        "{} has {first_rows} rows, but {} has {second_rows}; all inputs describe the same rows",
        first.display(), second.display()
    )]
    RowsDiffer { first: PathBuf, first_rows: usize, second: PathBuf, second_rows: usize },
    #[error(
        "{} has {labels} labels, but {} has {marginals} columns of marginals; \
         both have one column a label", labels_path.display(), marginals_path.display()
    )]
    ColumnsDiffer { labels_path: PathBuf, labels: usize, marginals_path: PathBuf, marginals: usize },
    #[error("{}: an XML label list needs its ARFF file; name that as well", path.display())]
    ListAlone { path: PathBuf },
    #[error("{}: an XML label list takes no group; name it without GROUP=", path.display())]
    ListWithGroup { path: PathBuf },
    #[error(
        "{} and {} are both XML label lists; give the one of the ARFF file",
        first.display(), second.display()
    )]
    TwoLists { first: PathBuf, second: PathBuf },
    #[error(
        "{}: nothing says which attributes are labels; \
         give its XML label list as well, or --label-count N", path.display()
    )]
    LabelsUnknown { path: PathBuf },
    #[error(
        "{}: {requested} labels were asked for, but a file of {attributes} attributes has \
         1 to {attributes}; correct --label-count", path.display()
    )]
    LabelCount { path: PathBuf, requested: usize, attributes: usize },
    #[error(
        "{}: lists {listed} labels, but --label-count is {requested}; leave --label-count out",
        path.display()
    )]
    LabelCountDiffers { path: PathBuf, listed: usize, requested: usize },
}

impl ModuleError for ImportError {}
