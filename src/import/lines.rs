//! Reads many lines at once, each into one row of features and one of labels.

use rayon::prelude::*;

use super::error::ImportError;
use super::matrix::SparseBuilder;
use super::parse_number::{self, NumberError};
use super::source::SourceFile;
use super::text_problem::{TextProblem, excerpt};

/// Lines one task reads; small enough that threads end together, large enough to be worth one.
const LINES_PER_TASK: usize = 256;

/// Features and labels of the same rows.
pub(super) struct RowBlock {
    pub features: SparseBuilder,
    pub labels: SparseBuilder,
}

impl RowBlock {
    fn new() -> RowBlock {
        RowBlock { features: SparseBuilder::new(), labels: SparseBuilder::new() }
    }
}

/// A line and its number in the file, counted from 1.
pub(super) type Line<'a> = (usize, &'a str);

/// Applies `read` to every line on all threads; it adds one row to each half of the block.
///
/// The error, if any, is that of the first bad line, on any number of threads.
pub(super) fn read_rows(
    source: &SourceFile,
    lines: &[Line],
    read: impl Fn(&str, &mut RowBlock) -> Result<(), TextProblem> + Sync,
) -> Result<RowBlock, ImportError> {
    let blocks: Vec<Result<RowBlock, ImportError>> = lines
        .par_chunks(LINES_PER_TASK)
        .map(|chunk| {
            let mut block = RowBlock::new();
            for &(number, line) in chunk {
                read(line, &mut block).map_err(|problem| source.error_at(number, problem))?;
            }
            Ok(block)
        })
        .collect();
    let mut whole = RowBlock::new();
    for block in blocks {
        let block = block?;
        whole.features.append(block.features);
        whole.labels.append(block.labels);
    }
    Ok(whole)
}

/// Which indices a line may hold.
pub(super) struct Limits {
    pub labels: Option<usize>,
    pub features: Option<usize>,
    /// Feature 0 is an error.
    pub one_based: bool,
}

/// Reads `l,l f:v f:v`. A line that starts with a blank or with `f:v` has no label.
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
        Some(labels) if label as usize >= labels => Err(TextProblem::LabelOutOfRange { label, labels }),
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
