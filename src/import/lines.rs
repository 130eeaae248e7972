//! Reading lines in parallel, each into one row of features and one of labels.

use rayon::prelude::*;

use super::error::ImportError;
use super::parse_number::{self, NumberError};
use super::source::SourceFile;
use super::text_problem::{TextProblem, excerpt};
use crate::sparse::CsrBuilder;

/// Lines per task: few enough that threads finish together, enough to make a task worthwhile.
const LINES_PER_TASK: usize = 256;

/// Features and labels of the same rows.
#[derive(Default)]
pub(super) struct RowBlock {
    pub features: CsrBuilder,
    pub labels: CsrBuilder,
}

/// A line with its number in the file, from 1.
pub(super) type Line<'a> = (usize, &'a str);

/// Applies `read` to every line on all threads; it adds one row to each half of the block.
///
/// The error, if any, is that of the first bad line.
pub(super) fn read_rows(
    source: &SourceFile,
    lines: &[Line],
    read: impl Fn(&str, &mut RowBlock) -> Result<(), TextProblem> + Sync,
) -> Result<RowBlock, ImportError> {
    let read_block = |chunk: &[Line]| {
        let mut block = RowBlock::default();
        for &(number, line) in chunk {
            read(line, &mut block).map_err(|problem| source.error_at(number, problem))?;
        }
        Ok(block)
    };
    let blocks: Vec<Result<RowBlock, ImportError>> =
        lines.par_chunks(LINES_PER_TASK).map(read_block).collect();
    let mut whole = RowBlock::default();
    for block in blocks {
        let block = block?;
        whole.features.append(&block.features);
        whole.labels.append(&block.labels);
    }
    Ok(whole)
}

/// Returns the fields of a line that consists of exactly `N` runs of digits.
pub(super) fn whole_numbers<const N: usize>(line: &str) -> Option<[&str; N]> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let fields: [&str; N] = fields.try_into().ok()?;
    fields.iter().all(|field| field.bytes().all(|byte| byte.is_ascii_digit())).then_some(fields)
}

/// Parses a size of a header.
pub(super) fn read_size(what: &'static str, digits: &str, largest: usize) -> Result<usize, TextProblem> {
    match digits.parse() {
        Ok(size) if size <= largest => Ok(size),
        _ => Err(TextProblem::HeaderOverflow { what, found: excerpt(digits), largest }),
    }
}

/// Cuts the lines after a header to the `promised` rows. Only empty lines, which are common at the end of files, may
/// follow. Returns their number.
pub(super) fn cut_to_rows(
    source: &SourceFile,
    lines: &mut Vec<Line>,
    promised: usize,
) -> Result<usize, ImportError> {
    let found = lines.len();
    if found < promised {
        return Err(source.error_at(1, TextProblem::TooFewRows { promised, found }));
    }
    if let Some(&(number, _)) = lines[promised..].iter().find(|line| !is_empty(line)) {
        return Err(source.error_at(number, TextProblem::TooManyRows { promised, found: number - 1 }));
    }
    lines.truncate(promised);
    Ok(found - promised)
}

/// Whether a line consists of blanks.
pub(super) fn is_empty(line: &Line) -> bool {
    line.1.trim_ascii().is_empty()
}

/// The indices that a line may hold.
pub(super) struct Limits {
    pub labels: Option<usize>,
    pub features: Option<usize>,
    /// Feature 0 is an error.
    pub one_based: bool,
}

/// Reads `l,l f:v f:v`. A line that starts with a blank or with `f:v` has no labels.
pub(super) fn read_line(line: &str, limits: &Limits, block: &mut RowBlock) -> Result<(), TextProblem> {
    let mut fields = line.split_ascii_whitespace().peekable();
    let unlabelled = line.starts_with(|c: char| c.is_ascii_whitespace());
    if let Some(field) = fields.next_if(|field| !unlabelled && !field.contains(':')) {
        for label in field.split(',') {
            block.labels.push(read_label(label, limits)?, 1.0);
        }
    }
    for field in fields {
        let (feature, value) = read_feature(field, limits)?;
        block.features.push(feature, value);
    }
    block.labels.end_row().map_err(|label| TextProblem::LabelTwice { label })?;
    block.features.end_row().map_err(|feature| TextProblem::FeatureTwice { feature })
}

fn read_label(text: &str, limits: &Limits) -> Result<u32, TextProblem> {
    let label = parse_number::index(text).ok_or_else(|| TextProblem::Label { found: excerpt(text) })?;
    match limits.labels {
        Some(labels) if label as usize >= labels => {
            Err(TextProblem::LabelOutOfRange { label, labels, by: "the header" })
        }
        _ => Ok(label),
    }
}

fn read_feature(field: &str, limits: &Limits) -> Result<(u32, f32), TextProblem> {
    let (index, value) = field.split_once(':').ok_or_else(|| TextProblem::Pair { found: excerpt(field) })?;
    let feature = parse_number::index(index)
        .ok_or_else(|| TextProblem::FeatureIndex { index: excerpt(index), found: excerpt(field) })?;
    if let Some(features) = limits.features.filter(|&all| feature as usize >= all) {
        return Err(TextProblem::FeatureOutOfRange { feature, features });
    }
    if limits.one_based && feature == 0 {
        return Err(TextProblem::FeatureZero);
    }
    let number = parse_number::value(value).map_err(|why| {
        let (value, found) = (excerpt(value), excerpt(field));
        match why {
            NumberError::NotANumber => TextProblem::Value { value, found },
            NumberError::NotFinite => TextProblem::NotFinite { value, found },
        }
    })?;
    Ok((feature, number))
}
