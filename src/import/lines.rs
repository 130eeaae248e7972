//! Reads many lines at once, each into one row of features and one of labels.

use rayon::prelude::*;

use super::error::ImportError;
use super::matrix::Rows;
use super::number::{self, NoValue};
use super::source::Source;
use super::text_problem::{TextProblem, excerpt};

/// Lines one task reads; small enough that threads end together, large enough to be worth one.
const LINES_PER_TASK: usize = 256;

/// Features and labels of the same rows.
pub(super) struct Block {
    pub features: Rows,
    pub labels: Rows,
}

impl Block {
    fn new() -> Block {
        Block { features: Rows::new(), labels: Rows::new() }
    }
}

/// A line and its number in the file, counted from 1.
pub(super) type Line<'a> = (usize, &'a str);

/// Applies `read` to every line on all threads; it adds one row to each half of the block.
///
/// The error, if any, is that of the first bad line, on any number of threads.
pub(super) fn read_rows(
    source: &Source,
    lines: &[Line],
    read: impl Fn(&str, &mut Block) -> Result<(), TextProblem> + Sync,
) -> Result<Block, ImportError> {
    let blocks: Vec<Result<Block, ImportError>> = lines
        .par_chunks(LINES_PER_TASK)
        .map(|chunk| {
            let mut block = Block::new();
            for &(number, line) in chunk {
                read(line, &mut block).map_err(|problem| source.at(number, problem))?;
            }
            Ok(block)
        })
        .collect();
    let mut whole = Block::new();
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
pub(super) fn read_line(line: &str, limits: &Limits, block: &mut Block) -> Result<(), TextProblem> {
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
    let label = number::index(text).ok_or_else(|| TextProblem::Label { found: excerpt(text) })?;
    match limits.labels {
        Some(labels) if label as usize >= labels => Err(TextProblem::LabelOutOfRange { label, labels }),
        _ => Ok(label),
    }
}

fn read_feature(field: &str, limits: &Limits) -> Result<(u32, f32), TextProblem> {
    let (index, value) = field.split_once(':').ok_or_else(|| TextProblem::Pair { found: excerpt(field) })?;
    let feature = number::index(index)
        .ok_or_else(|| TextProblem::FeatureIndex { index: excerpt(index), found: excerpt(field) })?;
    if let Some(features) = limits.features.filter(|&all| feature as usize >= all) {
        return Err(TextProblem::FeatureOutOfRange { feature, features });
    }
    if limits.one_based && feature == 0 {
        return Err(TextProblem::FeatureZero);
    }
    let number = number::value(value).map_err(|why| {
        let (value, found) = (excerpt(value), excerpt(field));
        match why {
            NoValue::Garbage => TextProblem::Value { value, found },
            NoValue::NotFinite => TextProblem::NotFinite { value, found },
        }
    })?;
    Ok((feature, number))
}
