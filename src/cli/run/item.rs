//! A value of a job file, with its key and position.

use toml::de::DeValue;

use super::document::Section;
use super::problem::{Hint, JobError, Problem, Result};
use crate::suggest::nearest;

#[derive(Clone, Copy)]
pub(super) struct Item<'d> {
    pub section: Section<'d>,
    pub key: &'d str,
    pub key_at: usize,
    pub value: &'d DeValue<'d>,
    /// First and last byte (exclusive) of the value.
    pub span: (usize, usize),
    /// Whether the value is an element of a list.
    pub in_list: bool,
}

impl<'d> Item<'d> {
    /// The source text of the value, on one line.
    pub fn source_text(&self) -> String {
        let text = &self.section.document.text[self.span.0..self.span.1];
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub fn error(&self, problem: Problem) -> JobError {
        self.section.document.error(self.span.0, problem)
    }

    /// The key and its section, for problems.
    pub fn key_and_section(&self) -> (String, String) {
        (self.key.to_owned(), self.section.location_text())
    }

    pub fn invalid(&self, wanted: impl Into<String>) -> JobError {
        self.invalid_with_hint(wanted, Hint(None))
    }

    /// As [`Item::invalid`], with the name that was probably meant.
    pub fn invalid_with_hint(&self, wanted: impl Into<String>, hint: Hint) -> JobError {
        let (key, section) = self.key_and_section();
        let wanted = wanted.into();
        let found = match self.value {
            DeValue::Table(_) => "a section".to_owned(),
            DeValue::Array(_) => format!("the list {}", self.source_text()),
            _ => self.source_text(),
        };
        self.error(match self.in_list {
            false => Problem::InvalidValue { key, section, found, wanted, hint },
            true => Problem::InvalidListValue { key, section, found, wanted, hint },
        })
    }

    pub fn text(&self) -> Result<&'d str> {
        self.value.as_str().ok_or_else(|| self.invalid("text in quotes"))
    }

    /// A whole number in decimal digits, with its sign.
    pub fn integer(&self) -> Option<i128> {
        let number = self.value.as_integer()?;
        i128::from_str_radix(number.as_str(), number.radix()).ok()
    }

    /// A whole number of at least `least`.
    pub fn at_least(&self, least: u64) -> Result<u64> {
        let number = self.integer().and_then(|number| u64::try_from(number).ok());
        number
            .filter(|&number| number >= least)
            .ok_or_else(|| self.invalid(format!("a whole number of at least {least}")))
    }

    /// Reads the values of a list with `read`, and refuses empty lists and duplicates.
    pub fn list<T: PartialEq>(
        &self,
        like: &str,
        read: impl Fn(&Item<'d>) -> Result<T>,
    ) -> Result<Vec<(Item<'d>, T)>> {
        let Some(values) = self.value.as_array() else {
            return Err(self.invalid(format!("a list, such as {like}")));
        };
        let (key, section) = self.key_and_section();
        if values.is_empty() {
            return Err(self.error(Problem::EmptyList { key, section }));
        }
        let mut found: Vec<(Item<'d>, T)> = Vec::new();
        for value in values {
            let span = (value.span().start, value.span().end);
            let item = Item { value: value.get_ref(), span, in_list: true, ..*self };
            let value = read(&item)?;
            if found.iter().any(|(_, known)| *known == value) {
                return Err(item.error(Problem::DuplicateValue { key, section, found: item.source_text() }));
            }
            found.push((item, value));
        }
        Ok(found)
    }

    /// The numbers of a list, in decimal digits.
    pub fn numbers(&self, like: &str) -> Result<Vec<String>> {
        let Some(values) = self.value.as_array() else {
            return Err(self.invalid(format!("a list of numbers, such as {like}")));
        };
        let number = |value: &'d toml::Spanned<DeValue<'d>>| {
            let span = (value.span().start, value.span().end);
            let item = Item { value: value.get_ref(), span, in_list: true, ..*self };
            item.number_text().ok_or_else(|| item.invalid("a number"))
        };
        values.iter().map(number).collect()
    }

    /// The number in decimal digits, if the value is a number.
    pub fn number_text(&self) -> Option<String> {
        let real = self.value.as_float().map(|number| number.as_str().to_owned());
        real.or_else(|| self.integer().map(|number| number.to_string()))
    }

    /// The choice whose name is the text.
    pub fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Result<T> {
        let text = self.text()?;
        if let Some((_, value)) = choices.iter().find(|(name, _)| *name == text) {
            return Ok(*value);
        }
        let names = choices.iter().map(|(name, _)| (*name).to_owned());
        let hint = Hint(nearest(text, names.clone()).map(|(_, name)| name));
        let wanted = names.collect::<Vec<_>>().join(", ");
        Err(self.invalid_with_hint(format!("one of {wanted}"), hint))
    }
}
