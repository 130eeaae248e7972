//! Multi-label LIBSVM text: the lines of the Extreme Classification format without its header.

use super::combine::InputContents;
use super::error::ImportError;
use super::format::{FileFormat, ReadRequest};
use super::input::Group;
use super::lines::{Limits, Line, is_empty, read_line, read_rows};
use super::source::SourceFile;

/// The format of all files that no other format recognises.
pub(super) const FORMAT: FileFormat = FileFormat {
    name: "libsvm",
    help: "Lines `l,l f:v f:v` without a header",
    title: "the LIBSVM format",
    groups: &[Group::Features, Group::Labels],
    extensions: &[],
    overrides_option: false,
    takes_label_list: false,
    recognises: |_, _| true,
    read,
};

/// Reads features and labels, whose numbers are inferred from the largest index of each.
///
/// Labels count from 0. Features count from 0 or 1 as `zero_based` says; by default from 0 if feature 0 occurs.
fn read(source: SourceFile, request: &ReadRequest<'_>) -> Result<InputContents, ImportError> {
    let zero_based = request.options.zero_based;
    let lines: Vec<Line> = (1..).zip(source.text()?.lines()).collect();
    let limits = Limits { labels: None, features: None, one_based: zero_based == Some(false) };
    let mut block = read_rows(&source, &lines, |line, block| read_line(line, &limits, block))?;
    let mut part = InputContents::new(&source.path);
    let zero_based = zero_based.unwrap_or_else(|| {
        let from_zero = block.features.columns.contains(&0);
        part.note(if from_zero {
            "feature 0 occurs, so features are read as zero-based"
        } else {
            "feature 0 never occurs, so features are read as one-based; pass --zero-based true if they are not"
        });
        from_zero
    });
    if !zero_based {
        block.features.columns.iter_mut().for_each(|feature| *feature -= 1);
    }
    let (features, labels) = (block.features.used_columns(), block.labels.used_columns());
    part.note(format_args!(
        "without a header, {features} features and {labels} labels are inferred from the largest index"
    ));
    let empty = lines.iter().filter(|line| is_empty(line)).count();
    part.note_count("empty lines, which are rows without labels and features", empty);
    part.matrices.push((Group::Features, block.features.finish(features)));
    part.matrices.push((Group::Labels, block.labels.finish(labels)));
    part.inferred = Some(Group::Labels);
    Ok(part)
}
