//! Mulan's ARFF files: attributes by name, some of which are labels, then dense or sparse rows.

mod data;
mod header;
mod label_list;
mod token;

use super::combine::InputContents;
use super::error::{ImportError, InputProblem};
use super::input::ImportOptions;
use super::lines::read_rows;
use super::source::SourceFile;
use super::text_problem::TextProblem;
use data::{RowLayout, read_row};
use header::ArffHeader;
pub(super) use label_list::LabelList;

/// What an attribute is to us, and its column there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AttributeRole {
    Feature(u32),
    Label(u32),
}

/// Reads features and labels. Columns and label names are in the order of the attributes.
///
/// Which attributes are labels is what `list` says, else the `label_count` last ones (or first).
pub(super) fn read(
    source: &SourceFile,
    list: Option<&LabelList>,
    options: &ImportOptions,
) -> Result<InputContents, ImportError> {
    let (header, lines) = ArffHeader::read(source)?;
    let is_label = match list {
        Some(list) => labels_by_list(source, &header, list, options.label_count)?,
        None => labels_by_count(source, &header, options)?,
    };
    let (mut features, mut labels) = (0, 0);
    let roles: Vec<AttributeRole> = is_label
        .iter()
        .map(|&label| {
            let (next, role): (&mut u32, fn(u32) -> AttributeRole) = match label {
                true => (&mut labels, AttributeRole::Label),
                false => (&mut features, AttributeRole::Feature),
            };
            *next += 1;
            role(*next - 1)
        })
        .collect();
    let layout = RowLayout::new(&header.attributes, &roles);
    let block = read_rows(source, &lines, |line, block| read_row(line, &layout, block))?;
    let names = header.attributes.into_iter().zip(is_label);
    let mut part = InputContents::new(&source.path);
    part.label_names = Some(names.filter(|n| n.1).map(|n| n.0.name).collect());
    part.features = Some(block.features.finish(features as usize));
    part.labels = Some(block.labels.finish(labels as usize));
    Ok(part)
}

fn labels_by_list(
    source: &SourceFile,
    header: &ArffHeader,
    list: &LabelList,
    requested: Option<usize>,
) -> Result<Vec<bool>, ImportError> {
    if let Some(requested) = requested.filter(|&requested| requested != list.names.len()) {
        return Err(InputProblem::LabelCountDiffers {
            path: list.path.clone(),
            listed: list.names.len(),
            requested,
        }
        .into());
    }
    let mut is_label = vec![false; header.attributes.len()];
    for (name, line) in &list.names {
        match header.positions.get(name) {
            Some(&place) => is_label[place] = true,
            None => {
                return Err(ImportError::Text {
                    path: list.path.clone(),
                    line: *line,
                    problem: TextProblem::XmlUnknown {
                        name: name.clone(),
                        arff: source.path.display().to_string(),
                    },
                });
            }
        }
    }
    Ok(is_label)
}

fn labels_by_count(
    source: &SourceFile,
    header: &ArffHeader,
    options: &ImportOptions,
) -> Result<Vec<bool>, InputProblem> {
    let path = source.path.clone();
    let attributes = header.attributes.len();
    let Some(requested) = options.label_count else {
        return Err(InputProblem::LabelsUnknown { path });
    };
    if !(1..=attributes).contains(&requested) {
        return Err(InputProblem::LabelCount { path, requested, attributes });
    }
    let labels = match options.labels_first {
        true => 0..requested,
        false => attributes - requested..attributes,
    };
    Ok((0..attributes).map(|at| labels.contains(&at)).collect())
}
