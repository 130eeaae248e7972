//! Predictions as text, one row per line of `label:score label:score`: the output of napkinXC's `predict` and, after a first
//! line `rows labels`, the score files of Parabel, Bonsai and similar programs.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::combine::InputContents;
use super::error::ImportError;
use super::format::{FileFormat, ReadRequest};
use super::input::Group;
use super::lines::{Line, cut_to_rows, is_empty, read_rows, read_size, whole_numbers};
use super::parse_number::{self, MAX_COLUMNS};
use super::source::SourceFile;
use super::text_problem::{TextProblem, excerpt};

pub(super) const FORMAT: FileFormat = FileFormat {
    name: "predictions",
    help: "Marginals as text: a line of `label:score` pairs per row",
    title: "prediction text",
    groups: &[Group::Marginals],
    extensions: &[],
    overrides_option: false,
    takes_label_list: false,
    recognises: |_, group| group == Some(Group::Marginals),
    read,
};

/// The number of labels, and its source for messages.
#[derive(Clone, Copy)]
struct LabelCount {
    labels: usize,
    by: &'static str,
}

/// Reads marginals. Labels count from 0; their number is that of the header, otherwise `label_count`, otherwise inferred
/// from the largest label. An empty line is a row without scores. Scores must be probabilities; with `clamp` others are
/// moved to the nearest bound.
fn read(source: SourceFile, request: &ReadRequest<'_>) -> Result<InputContents, ImportError> {
    let mut lines: Vec<Line> = (1..).zip(source.text()?.lines()).collect();
    let mut known = request.options.label_count.map(|labels| LabelCount { labels, by: "--label-count" });
    if let Some([rows, labels]) = lines.first().and_then(|line| whole_numbers(line.1)) {
        let size = |what, digits| {
            read_size(what, digits, MAX_COLUMNS).map_err(|problem| source.error_at(1, problem))
        };
        let (rows, labels) = (size("rows", rows)?, size("labels", labels)?);
        lines.remove(0);
        cut_to_rows(&source, &mut lines, rows)?;
        known = Some(LabelCount { labels, by: "the header" });
    }
    let clamped = AtomicUsize::new(0);
    let block = read_rows(&source, &lines, |line, block| {
        for field in line.split_ascii_whitespace() {
            let (label, score) = read_score(field, known)?;
            let inside = score.clamp(0.0, 1.0);
            if inside != score {
                if !request.options.clamp {
                    return Err(TextProblem::NotProbability { label, score: excerpt(&score.to_string()) });
                }
                clamped.fetch_add(1, Ordering::Relaxed);
            }
            // Marginals use the half of a block that has values. The absolute value of minus zero is zero.
            block.features.push(label, inside.abs() as f32);
        }
        block.features.end_row().map_err(|label| TextProblem::LabelTwice { label })
    })?;
    let scores = block.features;
    let mut part = InputContents::new(&source.path);
    let labels = known.map_or_else(|| scores.used_columns(), |known| known.labels);
    if known.is_none() {
        part.inferred = Some(Group::Marginals);
        part.note(format_args!(
            "{labels} labels are inferred from the largest that occurs; pass --label-count if there are more, or \
             import the labels too"
        ));
    }
    part.note_count("marginals outside [0, 1], which were clamped", clamped.into_inner());
    let empty = lines.iter().filter(|line| is_empty(line)).count();
    part.note_count("empty lines, which are rows without marginals", empty);
    part.matrices.push((Group::Marginals, scores.finish(labels)));
    Ok(part)
}

fn read_score(field: &str, known: Option<LabelCount>) -> Result<(u32, f64), TextProblem> {
    let (label, score) =
        field.split_once(':').ok_or_else(|| TextProblem::ScorePair { found: excerpt(field) })?;
    let label = parse_number::index(label).ok_or_else(|| TextProblem::Label { found: excerpt(label) })?;
    if let Some(LabelCount { labels, by }) = known.filter(|known| label as usize >= known.labels) {
        return Err(TextProblem::LabelOutOfRange { label, labels, by });
    }
    // 64 bits, because rounding to 32 would hide a probability just above 1.
    let (value, found) = (excerpt(score), excerpt(field));
    match score.parse::<f64>() {
        Ok(score) if (score as f32).is_finite() => Ok((label, score)),
        Ok(_) => Err(TextProblem::NotFinite { value, found }),
        Err(_) => Err(TextProblem::Value { value, found }),
    }
}
