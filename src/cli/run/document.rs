//! The text of a job file and its sections.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::item::Item;
use super::problem::{Hint, JobError, Problem, Result};
use crate::suggest::nearest;

/// A job file parsed as TOML.
pub(super) struct Document<'t> {
    /// The name in messages.
    pub file: String,
    pub text: &'t str,
    root: Spanned<DeTable<'t>>,
}

impl<'t> Document<'t> {
    pub fn parse(file: &str, text: &'t str) -> Result<Document<'t>> {
        match DeTable::parse(text) {
            Ok(root) => Ok(Document { file: file.to_owned(), text, root }),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                let line = line(text, at);
                let source_line = text.lines().nth(line - 1).unwrap_or_default().trim().to_owned();
                let problem = Problem::Syntax { fault: error.message().to_owned(), source_line }.into();
                Err(JobError { file: file.to_owned(), line, problem })
            }
        }
    }

    pub fn top(&self) -> Section<'_> {
        Section { document: self, name: "", table: Some(self.root.get_ref()), at: 0 }
    }

    pub fn error(&self, at: usize, problem: Problem) -> JobError {
        JobError { file: self.file.clone(), line: line(self.text, at), problem: problem.into() }
    }
}

/// The line, counted from 1, that contains byte `at`.
fn line(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count()
}

/// A section of a document. A missing section is empty.
#[derive(Clone, Copy)]
pub(super) struct Section<'d> {
    pub document: &'d Document<'d>,
    /// The name without brackets; empty at the top.
    pub name: &'static str,
    table: Option<&'d DeTable<'d>>,
    at: usize,
}

impl<'d> Section<'d> {
    pub fn exists(&self) -> bool {
        self.table.is_some()
    }

    /// The place for messages: ` in [fit]`, or nothing at the top.
    pub fn location_text(&self) -> String {
        if self.name.is_empty() { String::new() } else { format!(" in [{}]", self.name) }
    }

    pub fn error(&self, problem: Problem) -> JobError {
        self.document.error(self.at, problem)
    }

    /// The subsection `key`, whose full name is `name`.
    pub fn section(&self, key: &'static str, name: &'static str) -> Result<Section<'d>> {
        let Section { document, .. } = *self;
        let Some(item) = self.item(key) else {
            return Ok(Section { document, name, table: None, at: self.at });
        };
        match item.value.as_table() {
            Some(table) => Ok(Section { document, name, table: Some(table), at: item.key_at }),
            None => Err(item.invalid(format!("a section: [{name}]"))),
        }
    }

    pub fn item(&self, key: &str) -> Option<Item<'d>> {
        self.items().into_iter().find(|item| item.key == key)
    }

    /// All keys, in the order of the file.
    pub fn items(&self) -> Vec<Item<'d>> {
        let entry = |(key, value): (&'d Spanned<_>, &'d Spanned<DeValue<'d>>)| {
            let name: &'d std::borrow::Cow<'d, str> = key.get_ref();
            let key_at = key.span().start;
            Item {
                section: *self,
                key: name,
                key_at,
                value: value.get_ref(),
                span: (value.span().start, value.span().end),
                in_list: false,
            }
        };
        let mut items: Vec<Item<'d>> = self.table.into_iter().flatten().map(entry).collect();
        items.sort_by_key(|item| item.key_at);
        items
    }

    /// Refuses keys that are not among `allowed`.
    pub fn check_keys(&self, allowed: &[String]) -> Result<()> {
        let unknown = self.items().into_iter().find(|item| !allowed.iter().any(|name| name == item.key));
        let Some(item) = unknown else { return Ok(()) };
        let hint = Hint(nearest(item.key, allowed.iter().cloned()).map(|(_, name)| name));
        let (key, section) = (item.key.to_owned(), self.location_text());
        let problem = Problem::UnknownKey { key, section, hint, allowed: allowed.to_vec() };
        Err(self.document.error(item.key_at, problem))
    }
}
