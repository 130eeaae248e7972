//! Predictions as text, one row a line of `label:score label:score`: what napkinXC's `predict` prints, and, with a
//! first line `rows labels`, the score files of Parabel, Bonsai and the like.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::combine::InputContents;
use super::error::ImportError;
use super::lines::{Line, read_rows};
use super::parse_number;
use super::source::SourceFile;
use super::text_problem::{TextProblem, excerpt};

/// How many labels there are, and who says so.
#[derive(Clone, Copy)]
struct LabelCount {
    labels: usize,
    by: &'static str,
}

/// Reads marginals. Labels count from 0; their number is that of the header, else `label_count`, else inferred from
/// the largest that occurs. An empty line is a row without a score. Scores are probabilities; with `clamp` others are
/// moved to the nearer end of [0, 1].
pub(super) fn read(
    source: &SourceFile,
    label_count: Option<usize>,
    clamp: bool,
) -> Result<InputContents, ImportError> {
    let mut lines: Vec<Line> = (1..).zip(source.text()?.lines()).collect();
    let header = read_header(lines.first().map_or("", |line| line.1))
        .map_err(|problem| source.error_at(1, problem))?;
    if let Some((rows, _)) = header {
        lines.remove(0);
        check_rows(source, &mut lines, rows)?;
    }
    let by_header = header.map(|(_, labels)| LabelCount { labels, by: "the header" });
    let known = by_header.or(label_count.map(|labels| LabelCount { labels, by: "--label-count" }));
    let clamped = AtomicUsize::new(0);
    let block = read_rows(source, &lines, |line, block| {
        for field in line.split_ascii_whitespace() {
            let (label, score) = read_score(field, known)?;
            let inside = score.clamp(0.0, 1.0);
            if inside != score {
                if !clamp {
                    return Err(TextProblem::NotProbability { label, score: excerpt(&score.to_string()) });
                }
                clamped.fetch_add(1, Ordering::Relaxed);
            }
            // The half of a block that has values; minus zero is zero.
            block.features.push(label, inside.abs() as f32);
        }
        block.features.end_row().map_err(|label| TextProblem::LabelTwice { label })
    })?;
    let scores = block.features;
    let mut part = InputContents::new(&source.path);
    let inferred = scores.largest_column().map_or(0, |label| label as usize + 1);
    if known.is_none() {
        part.marginals_inferred = true;
        part.note(format!(
            "{inferred} labels are inferred from the largest that occurs; pass --label-count if there are more, or \
             import the labels along"
        ));
    }
    match clamped.into_inner() {
        0 => {}
        count => part.note(format!("{count} marginals outside [0, 1] were clamped")),
    }
    match lines.iter().filter(|line| line.1.trim_ascii().is_empty()).count() {
        0 => {}
        empty => part.note(format!("{empty} empty lines are rows without a marginal")),
    }
    part.marginals = Some(scores.finish(known.map_or(inferred, |known| known.labels)));
    Ok(part)
}

/// Rows and labels, where the first line is exactly two whole numbers. No other line is.
fn read_header(line: &str) -> Result<Option<(usize, usize)>, TextProblem> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let digits = |field: &&str| field.bytes().all(|byte| byte.is_ascii_digit());
    let &[rows, labels] = fields.as_slice() else { return Ok(None) };
    if !fields.iter().all(digits) {
        return Ok(None);
    }
    let size = |what, digits: &str| match digits.parse() {
        Ok(size) if size <= u32::MAX as usize => Ok(size),
        _ => Err(TextProblem::HeaderOverflow { what, found: excerpt(digits), largest: u32::MAX as usize }),
    };
    Ok(Some((size("rows", rows)?, size("labels", labels)?)))
}

/// Leaves as many rows as the header promises; only empty lines may follow.
fn check_rows(source: &SourceFile, lines: &mut Vec<Line>, promised: usize) -> Result<(), ImportError> {
    let found = lines.len();
    if found < promised {
        return Err(source.error_at(1, TextProblem::TooFewRows { promised, found }));
    }
    if let Some((number, _)) = lines[promised..].iter().find(|line| !line.1.trim_ascii().is_empty()) {
        return Err(source.error_at(*number, TextProblem::TooManyRows { promised, found: number - 1 }));
    }
    lines.truncate(promised);
    Ok(())
}

fn read_score(field: &str, known: Option<LabelCount>) -> Result<(u32, f64), TextProblem> {
    let (label, score) =
        field.split_once(':').ok_or_else(|| TextProblem::ScorePair { found: excerpt(field) })?;
    let label = parse_number::index(label).ok_or_else(|| TextProblem::Label { found: excerpt(label) })?;
    if let Some(LabelCount { labels, by }) = known.filter(|known| label as usize >= known.labels) {
        return Err(TextProblem::ScoredLabel { label, labels, by });
    }
    // Wider than it is stored: rounding would hide a probability just above 1.
    let (value, found) = (excerpt(score), excerpt(field));
    match score.parse::<f64>() {
        Ok(score) if (score as f32).is_finite() => Ok((label, score)),
        Ok(_) => Err(TextProblem::NotFinite { value, found }),
        Err(_) => Err(TextProblem::Value { value, found }),
    }
}
