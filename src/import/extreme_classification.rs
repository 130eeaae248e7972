//! The text format of the Extreme Classification Repository: a header, then one line per row.

use super::combine::InputContents;
use super::error::ImportError;
use super::format::{FileFormat, ReadRequest};
use super::input::Group;
use super::lines::{Limits, Line, cut_to_rows, read_line, read_rows, read_size, whole_numbers};
use super::parse_number::MAX_COLUMNS;
use super::source::{SourceFile, first_line};
use super::text_problem::{TextProblem, excerpt};

pub(super) const FORMAT: FileFormat = FileFormat {
    name: "xc",
    help: "Extreme Classification: header `rows features labels`, then `l,l f:v f:v`, counted from 0",
    title: "the Extreme Classification format",
    groups: &[Group::Features, Group::Labels],
    extensions: &[],
    overrides_option: false,
    takes_label_list: false,
    recognises: |bytes, _| whole_numbers::<3>(&first_line(bytes)).is_some(),
    read,
};

/// Reads features and labels, of the sizes in the header.
fn read(source: SourceFile, _: &ReadRequest<'_>) -> Result<InputContents, ImportError> {
    let mut lines = source.text()?.lines();
    let (rows, features, labels) =
        read_header(lines.next().unwrap_or_default()).map_err(|problem| source.error_at(1, problem))?;
    let mut lines: Vec<Line> = (2..).zip(lines).collect();
    let dropped = cut_to_rows(&source, &mut lines, rows)?;
    let limits = Limits { labels: Some(labels), features: Some(features), one_based: false };
    let block = read_rows(&source, &lines, |line, block| read_line(line, &limits, block))?;
    let mut part = InputContents::new(&source.path);
    part.matrices.push((Group::Features, block.features.finish(features)));
    part.matrices.push((Group::Labels, block.labels.finish(labels)));
    part.note_count("empty lines after the last row, which are ignored", dropped);
    Ok(part)
}

/// Returns the numbers of rows, features and labels.
fn read_header(line: &str) -> Result<(usize, usize, usize), TextProblem> {
    let Some([rows, features, labels]) = whole_numbers(line) else {
        return Err(TextProblem::Header { found: excerpt(line) });
    };
    Ok((
        read_size("rows", rows, usize::MAX)?,
        read_size("features", features, MAX_COLUMNS)?,
        read_size("labels", labels, MAX_COLUMNS)?,
    ))
}
