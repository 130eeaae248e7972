//! The nearest right name for a wrong one.

/// Longer words are not misspelt names, and the distance takes quadratic time.
const MAX_WORD_LENGTH: usize = 40;

/// The known name fewest edits away from `word`, ignoring case, if that is at most a third of its letters.
pub(crate) fn nearest(word: &str, known: impl Iterator<Item = String>) -> Option<(usize, String)> {
    let word: Vec<char> = word.to_lowercase().chars().collect();
    if word.len() > MAX_WORD_LENGTH {
        return None;
    }
    known
        .map(|name| (distance(&word, &name.chars().collect::<Vec<_>>()), name))
        .min()
        .filter(|(edits, _)| *edits <= (word.len() / 3).max(1))
        // A one-letter word is one edit from every other one, which says nothing.
        .filter(|(edits, _)| *edits < word.len())
}

/// The number of insertions, deletions and replacements that turn one word into the other.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
