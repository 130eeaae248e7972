//! One row of an ARFF file: `1,0,2.5`, or sparse, `{0 1, 2 2.5}`.

use super::AttributeRole;
use super::header::{Attribute, Values};
use super::token::next_word;
use crate::import::lines::RowBlock;
use crate::import::parse_number::{self, NumberError};
use crate::import::text_problem::{TextProblem, excerpt};

/// The attributes of a row, and their uses.
pub(super) struct RowLayout<'a> {
    attributes: &'a [Attribute],
    roles: &'a [AttributeRole],
    /// An attribute whose absence from a sparse row means 1.
    reversed: Option<&'a Attribute>,
}

impl<'a> RowLayout<'a> {
    pub fn new(attributes: &'a [Attribute], roles: &'a [AttributeRole]) -> RowLayout<'a> {
        let reversed = |a: &&Attribute| a.values == Values::Binary { reversed: true };
        RowLayout { attributes, roles, reversed: attributes.iter().find(reversed) }
    }
}

/// Adds a row to `block`, without zeros.
pub(super) fn read_row(line: &str, layout: &RowLayout, block: &mut RowBlock) -> Result<(), TextProblem> {
    let RowLayout { attributes, roles, .. } = layout;
    let mut store = |at: usize, text: &str| -> Result<(), TextProblem> {
        let value = read_value(&attributes[at], roles[at], text)?;
        if value != 0.0 {
            match roles[at] {
                AttributeRole::Feature(column) => block.features.push(column, value),
                AttributeRole::Label(column) => block.labels.push(column, value),
            }
        }
        Ok(())
    };
    match line.strip_prefix('{') {
        Some(entries) => read_sparse(entries, line, layout, &mut store)?,
        None => read_dense(line, attributes.len(), &mut store)?,
    }
    // Each attribute was stored at most once, so a row cannot hold a column twice.
    for rows in [&mut block.features, &mut block.labels] {
        rows.end_row().map_err(|feature| TextProblem::FeatureTwice { feature })?;
    }
    Ok(())
}

fn read_dense(
    line: &str,
    width: usize,
    store: &mut impl FnMut(usize, &str) -> Result<(), TextProblem>,
) -> Result<(), TextProblem> {
    let mut rest = line;
    let mut found = 0;
    loop {
        let (value, after) = next_word(rest, &[','])?;
        if found < width {
            store(found, &value)?;
        }
        found += 1;
        match after.trim_start().strip_prefix(',') {
            Some(after) => rest = after,
            None if after.trim_start().is_empty() => break,
            None => return Err(TextProblem::Quote { found: excerpt(rest.trim_start()) }),
        }
    }
    if found != width {
        return Err(TextProblem::Width { found, attributes: width });
    }
    Ok(())
}

fn read_sparse(
    entries: &str,
    line: &str,
    layout: &RowLayout,
    store: &mut impl FnMut(usize, &str) -> Result<(), TextProblem>,
) -> Result<(), TextProblem> {
    let attributes = layout.attributes;
    if let Some(attribute) = layout.reversed {
        return Err(TextProblem::SparseReversed { attribute: excerpt(&attribute.name) });
    }
    let wrong = |found: &str| TextProblem::SparseEntry { found: excerpt(found) };
    let mut seen: Vec<usize> = Vec::new();
    let mut rest = entries.trim_start();
    while !rest.starts_with('}') {
        let entry = rest;
        let (index, after) = next_word(rest, &[' ', '\t', ',', '}'])?;
        if !after.starts_with([' ', '\t']) {
            return Err(wrong(entry));
        }
        let at = parse_number::index(&index).ok_or_else(|| wrong(entry))? as usize;
        if at >= attributes.len() {
            return Err(TextProblem::SparseIndex { found: index.into_owned(), attributes: attributes.len() });
        }
        let (value, after) = next_word(after, &[',', '}'])?;
        store(at, &value)?;
        seen.push(at);
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(next) if !next.trim_start().starts_with('}') => next.trim_start(),
            None if after.starts_with('}') => after,
            _ => return Err(wrong(entry)),
        };
    }
    if rest != "}" {
        return Err(wrong(line));
    }
    seen.sort_unstable();
    seen.windows(2).find(|pair| pair[0] == pair[1]).map_or(Ok(()), |pair| {
        Err(TextProblem::SparseTwice { index: pair[0], attribute: excerpt(&attributes[pair[0]].name) })
    })
}

fn read_value(attribute: &Attribute, role: AttributeRole, text: &str) -> Result<f32, TextProblem> {
    let name = || excerpt(&attribute.name);
    if text == "?" {
        return Err(TextProblem::Missing { attribute: name() });
    }
    let wrong = |allowed: &str| TextProblem::AttributeValue {
        attribute: name(),
        found: excerpt(text),
        allowed: allowed.to_owned(),
    };
    let not_binary = || TextProblem::LabelValue { attribute: name(), found: excerpt(text) };
    let value = match &attribute.values {
        Values::Number => parse_number::value(text).map_err(|why| match why {
            NumberError::NotANumber => wrong("a number is needed"),
            NumberError::NotFinite => wrong("a value must be a finite 32-bit number"),
        })?,
        Values::Binary { .. } if text == "0" => 0.0,
        Values::Binary { .. } if text == "1" => 1.0,
        Values::Binary { .. } => return Err(wrong("it is declared {0,1}")),
        Values::Listed(list) => match list.get(text) {
            None => return Err(wrong("that is not one of its declared values")),
            // Positions in the list do not tell which value means 1, so labels cannot be listed.
            Some(_) if matches!(role, AttributeRole::Label(_)) => return Err(not_binary()),
            Some(&position) => position as f32,
        },
    };
    match role {
        AttributeRole::Label(_) if value != 0.0 && value != 1.0 => Err(not_binary()),
        _ => Ok(value),
    }
}
