//! The declarations of an ARFF file: its attributes and their values.

use std::collections::HashMap;

use super::token::next_word;
use crate::import::error::ImportError;
use crate::import::lines::Line;
use crate::import::source::SourceFile;
use crate::import::text_problem::{TextProblem, excerpt};

/// All attributes, and the position of each by name.
pub(super) struct ArffHeader {
    pub attributes: Vec<Attribute>,
    pub positions: HashMap<String, usize>,
}

pub(super) struct Attribute {
    pub name: String,
    pub values: Values,
}

/// The values of an attribute.
#[derive(Debug, PartialEq)]
pub(super) enum Values {
    Number,
    /// `{0,1}`, or `{1,0}` when reversed; the value is the digit either way.
    Binary {
        reversed: bool,
    },
    /// Any other list; a value is the position in it.
    Listed(HashMap<String, u32>),
}

impl ArffHeader {
    /// Reads the declarations up to `@data`. Also returns the lines of rows after it.
    pub fn read(source: &SourceFile) -> Result<(ArffHeader, Vec<Line<'_>>), ImportError> {
        let mut header = ArffHeader { attributes: Vec::new(), positions: HashMap::new() };
        let mut last = 1;
        let mut lines = (1..)
            .zip(source.text()?.lines())
            .map(|(number, line)| (number, line.trim()))
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('%'));
        for (number, line) in lines.by_ref() {
            last = number;
            let (keyword, rest) = line.split_once(|c: char| c.is_whitespace()).unwrap_or((line, ""));
            match keyword.to_ascii_lowercase().as_str() {
                "@relation" => {}
                "@attribute" => {
                    header.declare(rest.trim()).map_err(|problem| source.error_at(number, problem))?
                }
                "@data" => return Ok((header, lines.collect())),
                _ => {
                    let found = excerpt(line);
                    return Err(source.error_at(number, TextProblem::Declaration { found }));
                }
            }
        }
        Err(source.error_at(last, TextProblem::NoData))
    }

    fn declare(&mut self, text: &str) -> Result<(), TextProblem> {
        let (name, kind) = next_word(text, &[' ', '\t', '{'])?;
        let lacks = |what| TextProblem::Attribute { found: excerpt(text), what };
        if name.is_empty() {
            return Err(lacks("name"));
        }
        let kind = kind.trim();
        let values = match kind.to_ascii_lowercase().as_str() {
            "" => return Err(lacks("type")),
            "numeric" | "real" | "integer" => Values::Number,
            _ => match kind.strip_prefix('{').and_then(|k| k.strip_suffix('}')) {
                Some(list) => read_list(list)?,
                None => {
                    let (attribute, found) = (excerpt(&name), excerpt(kind));
                    return Err(TextProblem::AttributeType { attribute, found });
                }
            },
        };
        let name = name.into_owned();
        let place = self.attributes.len();
        if self.positions.insert(name.clone(), place).is_some() {
            return Err(TextProblem::AttributeTwice { attribute: excerpt(&name) });
        }
        self.attributes.push(Attribute { name, values });
        Ok(())
    }
}

fn read_list(list: &str) -> Result<Values, TextProblem> {
    let mut values = Vec::new();
    let mut rest = list;
    loop {
        let (value, after) = next_word(rest, &[','])?;
        values.push(value.into_owned());
        match after.trim_start().strip_prefix(',') {
            Some(after) => rest = after,
            None if after.trim().is_empty() => break,
            None => return Err(TextProblem::Declaration { found: excerpt(after) }),
        }
    }
    let texts: Vec<&str> = values.iter().map(String::as_str).collect();
    Ok(match texts[..] {
        ["0", "1"] | ["0"] => Values::Binary { reversed: false },
        ["1", "0"] | ["1"] => Values::Binary { reversed: true },
        _ => Values::Listed(values.into_iter().zip(0..).collect()),
    })
}
