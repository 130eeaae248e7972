//! Multi-label LIBSVM text: the lines of the Extreme Classification format without its header.

use super::combine::InputContents;
use super::error::ImportError;
use super::lines::{Limits, Line, read_line, read_rows};
use super::source::SourceFile;

/// Reads features and labels; their numbers are inferred from the largest index that occurs.
///
/// Labels count from 0. Features count from 0 or 1 as `zero_based` says, else from 0 if feature 0
/// occurs and from 1 if it does not.
pub(super) fn read(source: &SourceFile, zero_based: Option<bool>) -> Result<InputContents, ImportError> {
    let lines: Vec<Line> = (1..).zip(source.text()?.lines()).collect();
    let limits = Limits { labels: None, features: None, one_based: zero_based == Some(false) };
    let mut block = read_rows(source, &lines, |line, block| read_line(line, &limits, block))?;
    let mut part = InputContents::new(&source.path);
    let one_based = match zero_based {
        Some(zero_based) => !zero_based,
        None => {
            let from_zero = block.features.smallest_column() == Some(0);
            part.note(if from_zero {
                "feature 0 occurs, so features are read as zero-based".to_owned()
            } else {
                "feature 0 never occurs, so features are read as one-based; \
                 pass --zero-based true if they are not"
                    .to_owned()
            });
            !from_zero
        }
    };
    if one_based {
        block.features.shift_left();
    }
    let after = |largest: Option<u32>| largest.map_or(0, |column| column as usize + 1);
    let features = after(block.features.largest_column());
    let labels = after(block.labels.largest_column());
    part.note(format!(
        "without a header, {features} features and {labels} labels are inferred from the largest index"
    ));
    let empty = lines.iter().filter(|line| line.1.trim_ascii().is_empty());
    match empty.count() {
        0 => {}
        empty => part.note(format!("{empty} empty lines are rows without labels and features")),
    }
    part.features = Some(block.features.finish(features));
    part.labels = Some(block.labels.finish(labels));
    part.labels_inferred = true;
    Ok(part)
}
