//! The text format of the Extreme Classification Repository: a header, then one line a row.

use super::combine::InputContents;
use super::error::ImportError;
use super::lines::{Limits, Line, read_line, read_rows};
use super::source::SourceFile;
use super::text_problem::{TextProblem, excerpt};

/// Reads features and labels, of the sizes the header gives.
pub(super) fn read(source: &SourceFile) -> Result<InputContents, ImportError> {
    let mut lines = source.text()?.lines();
    let header =
        read_header(lines.next().unwrap_or_default()).map_err(|problem| source.error_at(1, problem))?;
    let mut lines: Vec<Line> = (2..).zip(lines).collect();
    let found = lines.len();
    if found < header.rows {
        return Err(source.error_at(1, TextProblem::TooFewRows { promised: header.rows, found }));
    }
    // Empty lines after the last row hold nothing and are common; anything else is a row too many.
    for &(number, line) in &lines[header.rows..] {
        if !line.trim_ascii().is_empty() {
            return Err(source
                .error_at(number, TextProblem::TooManyRows { promised: header.rows, found: number - 1 }));
        }
    }
    lines.truncate(header.rows);
    let limits = Limits { labels: Some(header.labels), features: Some(header.features), one_based: false };
    let block = read_rows(source, &lines, |line, block| read_line(line, &limits, block))?;
    let mut part = InputContents::new(&source.path);
    part.features = Some(block.features.finish(header.features));
    part.labels = Some(block.labels.finish(header.labels));
    if found > header.rows {
        let extra = found - header.rows;
        part.note(format!("{extra} empty lines after the last row were ignored"));
    }
    Ok(part)
}

struct SizesHeader {
    rows: usize,
    features: usize,
    labels: usize,
}

fn read_header(line: &str) -> Result<SizesHeader, TextProblem> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let digits = |field: &&str| field.bytes().all(|byte| byte.is_ascii_digit());
    match fields[..] {
        [rows, features, labels] if fields.iter().all(digits) => Ok(SizesHeader {
            rows: read_size("rows", rows, usize::MAX)?,
            features: read_size("features", features, u32::MAX as usize)?,
            labels: read_size("labels", labels, u32::MAX as usize)?,
        }),
        _ => Err(TextProblem::Header { found: excerpt(line) }),
    }
}

fn read_size(what: &'static str, digits: &str, largest: usize) -> Result<usize, TextProblem> {
    match digits.parse() {
        Ok(size) if size <= largest => Ok(size),
        _ => Err(TextProblem::HeaderOverflow { what, found: excerpt(digits), largest }),
    }
}
