//! Words of an ARFF line, quoted or unquoted.

use std::borrow::Cow;

use crate::import::text_problem::{TextProblem, excerpt};

/// Splits off the first word of `text`: quoted, or unquoted up to one of `stops`.
///
/// Returns it without quotes and escapes, and the rest of the text. Skips leading blanks. An unquoted word may be empty.
pub(super) fn next_word<'a>(text: &'a str, stops: &[char]) -> Result<(Cow<'a, str>, &'a str), TextProblem> {
    let text = text.trim_start();
    let Some(quote) = text.chars().next().filter(|c| matches!(c, '\'' | '"')) else {
        let end = text.find(stops).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        return Ok((Cow::Borrowed(word.trim_end()), rest));
    };
    let mut word = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some((_, escaped)) => word.push(escaped),
                None => break,
            },
            _ if character == quote => return Ok((Cow::Owned(word), &text[at + 1..])),
            _ => word.push(character),
        }
    }
    Err(TextProblem::Quote { found: excerpt(text) })
}
