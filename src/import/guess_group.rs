//! Guessing the group that a file holds from its name.

use std::path::Path;

use super::input::Group;

/// Returns the group that the file name suggests, if it suggests exactly one.
///
/// `marginal` and `proba` take precedence, because `y_proba.npz` and `label_probabilities.npz` hold marginals. `x` and
/// `y` count only as whole words: `train_x.npz`, `Y.trn.npz`.
pub(super) fn guess(path: &Path) -> Option<Group> {
    let name = path.file_stem()?.to_string_lossy().to_lowercase();
    let has_word = |word: &str| name.split(|c: char| !c.is_alphanumeric()).any(|part| part == word);
    let labels = name.contains("label") || has_word("y");
    let features = name.contains("feature") || has_word("x");
    if name.contains("marginal") || name.contains("proba") {
        return Some(Group::Marginals);
    }
    match (features, labels) {
        (true, false) => Some(Group::Features),
        (false, true) => Some(Group::Labels),
        _ => None,
    }
}
