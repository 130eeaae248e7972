//! What the user asks to read, and how.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::error::{ImportError, InputProblem};

/// One kind of matrix a problem is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// What a row is described by.
    Features,
    /// Which labels are relevant to a row.
    Labels,
    /// How probable each label is for a row.
    Marginals,
}

impl Group {
    /// The word users type and read.
    pub fn name(self) -> &'static str {
        match self {
            Group::Features => "features",
            Group::Labels => "labels",
            Group::Marginals => "marginals",
        }
    }

    fn from_name(word: &str) -> Option<Group> {
        [Group::Features, Group::Labels, Group::Marginals]
            .into_iter()
            .find(|group| group.name().eq_ignore_ascii_case(word))
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One file to read, typed as `[GROUP=]FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The file.
    pub path: PathBuf,
    /// What to take from it; `None` takes everything, and guesses by name where that is not known.
    pub group: Option<Group>,
}

impl Input {
    /// Reads `FILE`, `features=FILE`, `labels=FILE` or `marginals=FILE`.
    ///
    /// A word before `=` that is no group is an error rather than part of a file name, so that a
    /// typing mistake is not reported as a missing file; `./a=b.txt` names such a file.
    pub fn parse(text: &str) -> Result<Input, ImportError> {
        let (group, file) = match text.split_once('=') {
            Some((word, file)) if is_word(word) => {
                let group = Group::from_name(word).ok_or_else(|| InputProblem::UnknownGroup {
                    found: word.to_owned(),
                    input: text.to_owned(),
                })?;
                (Some(group), file)
            }
            _ => (None, text),
        };
        if file.is_empty() {
            return Err(InputProblem::NoFile { input: text.to_owned() }.into());
        }
        Ok(Input { path: PathBuf::from(file), group })
    }
}

impl FromStr for Input {
    type Err = ImportError;

    fn from_str(text: &str) -> Result<Input, ImportError> {
        Input::parse(text)
    }
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// The format of a file; the help of `macrok import` shows these comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, clap::ValueEnum)]
pub enum Format {
    /// By file name, otherwise by the first line
    #[default]
    Auto,
    /// Extreme Classification: header `rows features labels`, then `l,l f:v f:v`, counted from 0
    #[value(name = "xc")]
    ExtremeClassification,
    /// Lines `l,l f:v f:v` without a header
    Libsvm,
    /// ARFF of Mulan, dense or sparse
    Arff,
    /// NumPy arrays, dense or sparse as saved by SciPy
    Npz,
    /// Marginals as text: a line of `label:score` pairs per row
    Predictions,
}

/// What a format leaves open.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportOptions {
    /// Of all inputs whose name ends neither in `.npz`, `.npy` nor `.xml`: those speak for themselves.
    pub format: Format,
    /// ARFF without an XML label list: how many attributes are labels. Predictions: how many labels there are.
    pub label_count: Option<usize>,
    /// With `label_count`: the first attributes are the labels, not the last.
    pub labels_first: bool,
    /// LIBSVM: whether features count from 0. `None` decides by whether feature 0 occurs.
    pub zero_based: Option<bool>,
    /// Moves marginals outside [0, 1] to the nearer end instead of refusing them.
    pub clamp: bool,
}
