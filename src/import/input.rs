//! Inputs as users name them, and options of reading.

use std::fmt;
use std::path::{Path, PathBuf};

use super::error::{ImportError, InputProblem};
use super::format::Format;

/// A kind of matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    Features,
    Labels,
    Marginals,
}

impl Group {
    pub const ALL: [Group; 3] = [Group::Features, Group::Labels, Group::Marginals];

    pub fn name(self) -> &'static str {
        match self {
            Group::Features => "features",
            Group::Labels => "labels",
            Group::Marginals => "marginals",
        }
    }

    /// Returns the group that the file name suggests, if it suggests exactly one.
    ///
    /// `marginal` and `proba` take precedence, because `y_proba.npz` and `label_probabilities.npz` hold marginals. `x` and
    /// `y` count only as whole words: `train_x.npz`, `Y.trn.npz`.
    pub(super) fn guess(path: &Path) -> Option<Group> {
        let name = path.file_stem()?.to_string_lossy().to_lowercase();
        let has_word = |word: &str| name.split(|c: char| !c.is_alphanumeric()).any(|part| part == word);
        if name.contains("marginal") || name.contains("proba") {
            return Some(Group::Marginals);
        }
        match (name.contains("feature") || has_word("x"), name.contains("label") || has_word("y")) {
            (true, false) => Some(Group::Features),
            (false, true) => Some(Group::Labels),
            _ => None,
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A file to read, named as `[GROUP=]FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    pub path: PathBuf,
    /// The group to read; `None` for all groups, or for the one that the file name suggests.
    pub group: Option<Group>,
}

impl Input {
    /// Parses `FILE`, `features=FILE`, `labels=FILE` or `marginals=FILE`.
    ///
    /// Any other word before `=` is an error, so that a misspelt group is not reported as a missing file; `./a=b.txt`
    /// names such a file.
    pub fn parse(text: &str) -> Result<Input, ImportError> {
        let (group, file) = match text.split_once('=') {
            Some((word, file)) if is_word(word) => {
                let group = Group::ALL.into_iter().find(|group| group.name().eq_ignore_ascii_case(word));
                let unknown =
                    || InputProblem::UnknownGroup { found: word.to_owned(), input: text.to_owned() };
                (Some(group.ok_or_else(unknown)?), file)
            }
            _ => (None, text),
        };
        if file.is_empty() {
            return Err(InputProblem::NoFile { input: text.to_owned() }.into());
        }
        Ok(Input { path: PathBuf::from(file), group })
    }
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Options of reading.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// The format of all inputs whose extension is not `.npz`, `.npy` or `.xml`.
    pub format: Format,
    /// The number of labels, of predictions, or of ARFF without an XML label list.
    pub label_count: Option<usize>,
    /// With `label_count`: the labels are the first attributes, not the last.
    pub labels_first: bool,
    /// LIBSVM: whether features are numbered from 0. `None` decides by whether feature 0 occurs.
    pub zero_based: Option<bool>,
    /// Moves marginals outside [0, 1] to the nearest bound instead of refusing them.
    pub clamp: bool,
}
