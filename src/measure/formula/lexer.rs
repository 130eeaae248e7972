//! The conversion of text to tokens.

use super::catalogue::{lookup, names};
use super::error::FormulaErrorKind;
use crate::suggest::nearest;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    Name(String),
    /// One of `+ - * / ^ ( ) ,`.
    Symbol(char),
}

/// A token and its start, in characters.
pub(super) type PlacedToken = (Token, usize);

/// A result, or an error and its place in characters.
pub(super) type ParseResult<T> = Result<T, (FormulaErrorKind, usize)>;

pub(super) fn tokens(text: &str) -> ParseResult<Vec<PlacedToken>> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let (token, end) = match chars[at] {
            c if c.is_whitespace() => {
                at += 1;
                continue;
            }
            c @ ('+' | '-' | '*' | '/' | '^' | '(' | ')' | ',') => (Token::Symbol(c), at + 1),
            c if c.is_ascii_digit() || c == '.' => number(&chars, at)?,
            c if is_word(c) => name(&chars, at)?,
            found => return Err((FormulaErrorKind::UnexpectedCharacter { found, hint: hint(found) }, at)),
        };
        tokens.push((token, at));
        at = end;
    }
    Ok(tokens)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn skip(chars: &[char], from: usize, wanted: impl Fn(char) -> bool) -> usize {
    from + chars[from..].iter().take_while(|&&c| wanted(c)).count()
}

fn number(chars: &[char], start: usize) -> ParseResult<(Token, usize)> {
    let digit = |c: char| c.is_ascii_digit();
    let mut end = skip(chars, start, digit);
    if chars.get(end) == Some(&'.') {
        end = skip(chars, end + 1, digit);
    }
    if matches!(chars.get(end), Some('e' | 'E')) {
        let sign = usize::from(matches!(chars.get(end + 1), Some('+' | '-')));
        let exponent = skip(chars, (end + 1 + sign).min(chars.len()), digit);
        // A letter without digits behind it is not an exponent.
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    let text: String = chars[start..end].iter().collect();
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Token::Number(value), end)),
        _ => Err((FormulaErrorKind::Unexpected { expected: "a number", found: text }, start)),
    }
}

/// Takes the longest known name, so that `tp-fp` is a difference and `macro-f1` a name.
fn name(chars: &[char], start: usize) -> ParseResult<(Token, usize)> {
    let mut ends = vec![skip(chars, start, is_word)];
    while let [.., end] = ends[..] {
        match chars.get(end..end + 2) {
            Some(&['-', next]) if is_word(next) => ends.push(skip(chars, end + 1, is_word)),
            _ => break,
        }
    }
    let text = |end: usize| chars[start..end].iter().collect::<String>();
    let known = |end: usize| lookup(&text(end), false).is_some() || text(end) == super::parser::PARAMETER;
    // No name has more than four words. The limit avoids quadratic time.
    let candidates = &ends[..ends.len().min(4)];
    let found = candidates.iter().rev().copied().find(|&end| known(end));
    // An aggregation must be called: `macro-f2` is a misspelt name, not a difference.
    let misspelt =
        |end: usize| matches!(text(end).as_str(), "macro" | "micro") && ends[0] == end && ends.len() > 1;
    match found {
        Some(end) if !misspelt(end) => Ok((Token::Name(text(end)), end)),
        _ => Err((unknown(candidates, text), start)),
    }
}

/// The error for an unknown name, read with or without hyphens, whichever is nearest to a known name.
fn unknown(ends: &[usize], text: impl Fn(usize) -> String) -> FormulaErrorKind {
    let first = text(ends[0]);
    // `macro` alone is a known name, so the error is behind it.
    let prefixed = matches!(first.as_str(), "macro" | "micro");
    let readings = ends.iter().skip(usize::from(prefixed)).rev().map(|&end| text(end));
    let candidates = readings.filter_map(|word| Some((nearest(&word, names())?, word)));
    match candidates.min_by_key(|((edits, _), _)| *edits) {
        Some(((_, suggestion), name)) => FormulaErrorKind::UnknownName { name, suggestion: Some(suggestion) },
        None if prefixed => FormulaErrorKind::UnknownName { name: text(ends[1]), suggestion: None },
        None => FormulaErrorKind::UnknownName { name: first, suggestion: None },
    }
}

/// Hints for similar characters, such as non-ASCII signs copied from a PDF.
fn hint(found: char) -> &'static str {
    match found {
        '\u{2212}' | '\u{2013}' | '\u{2014}' => "; write `-`",
        '\u{d7}' | '\u{b7}' | '\u{22c5}' => "; write `*`",
        '\u{f7}' | '\u{2044}' => "; write `/`",
        '[' | '{' => "; write `(`",
        ']' | '}' => "; write `)`",
        _ => "",
    }
}
