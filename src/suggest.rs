//! Suggestions for misspelt names.

/// Longer words are not misspelt names, and the distance takes quadratic time.
const MAX_WORD_LENGTH: usize = 40;

/// The known name fewest edits away from `word`, ignoring case and the order of the parts between hyphens, if that is at
/// most a third of its letters.
pub(crate) fn nearest(word: &str, known: impl Iterator<Item = String>) -> Option<(usize, String)> {
    let word = word.to_lowercase().replace('_', "-");
    if word.chars().count() > MAX_WORD_LENGTH {
        return None;
    }
    let edits = |name: &str| distance(&word, name).min(distance(&sorted_parts(&word), &sorted_parts(name)));
    let length = word.chars().count();
    known
        .map(|name| (edits(&name), name))
        .min()
        .filter(|(edits, _)| *edits <= (length / 3).max(1))
        // A one-letter word is one edit from every other one, which says nothing.
        .filter(|(edits, _)| *edits < length)
}

/// The number of insertions, deletions and replacements that turn one word into the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// The parts between hyphens in alphabetical order.
fn sorted_parts(name: &str) -> String {
    let mut parts: Vec<&str> = name.split('-').collect();
    parts.sort_unstable();
    parts.join("-")
}
