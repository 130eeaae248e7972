//! Mulan's XML list of labels: `<labels><label name="a"/></labels>`, nested or not.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::import::error::ImportError;
use crate::import::source::SourceFile;
use crate::import::text_problem::{TextProblem, excerpt};

/// The distinct names of the attributes that are labels, each with its line; at least one.
pub(in crate::import) struct LabelList {
    pub path: PathBuf,
    pub names: Vec<(String, usize)>,
}

impl LabelList {
    pub fn read(source: &SourceFile) -> Result<LabelList, ImportError> {
        let text = source.text()?;
        let document = roxmltree::Document::parse(text).map_err(|error| {
            let reason = error.to_string();
            source.error_at(error.pos().row as usize, TextProblem::Xml { reason })
        })?;
        let root = document.root_element();
        let line_of = |at: usize| document.text_pos_at(at).row as usize;
        let root_line = line_of(root.range().start);
        if root.tag_name().name() != "labels" {
            let found = excerpt(root.tag_name().name());
            return Err(source.error_at(root_line, TextProblem::XmlRoot { found }));
        }
        let mut names: Vec<(String, usize)> = Vec::new();
        let mut seen = HashSet::new();
        // Line numbers are counted incrementally; computing each from the start would take quadratic time.
        let (mut line, mut counted) = (1, 0);
        for label in root.descendants() {
            if label.tag_name().name() != "label" {
                continue;
            }
            let start = label.range().start;
            line += text[counted..start].matches('\n').count();
            counted = start;
            let name =
                label.attribute("name").ok_or_else(|| source.error_at(line, TextProblem::XmlNameless))?;
            if !seen.insert(name) {
                let name = excerpt(name);
                return Err(source.error_at(line, TextProblem::XmlTwice { name }));
            }
            names.push((name.to_owned(), line));
        }
        if names.is_empty() {
            return Err(source.error_at(root_line, TextProblem::XmlEmpty));
        }
        Ok(LabelList { path: source.path.clone(), names })
    }
}
