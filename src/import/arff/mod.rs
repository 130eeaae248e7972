//! Mulan's ARFF files: attributes by name, some of which are labels, then dense or sparse rows.

mod data;
mod header;
mod labels;
mod token;

use super::combine::Part;
use super::error::{ImportError, InputProblem};
use super::input::Options;
use super::lines::read_rows;
use super::source::Source;
use super::text_problem::TextProblem;
use data::{Layout, read_row};
use header::Header;
pub(super) use labels::LabelList;

/// What an attribute is to us, and its column there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Feature(u32),
    Label(u32),
}

/// Reads features and labels. Columns and label names are in the order of the attributes.
///
/// Which attributes are labels is what `list` says, else the `label_count` last ones (or first).
pub(super) fn read(
    source: &Source,
    list: Option<&LabelList>,
    options: &Options,
) -> Result<Part, ImportError> {
    let (header, lines) = Header::read(source)?;
    let is_label = match list {
        Some(list) => by_list(source, &header, list, options.label_count)?,
        None => by_count(source, &header, options)?,
    };
    let (mut features, mut labels) = (0, 0);
    let roles: Vec<Role> = is_label
        .iter()
        .map(|&label| {
            let (next, role): (&mut u32, fn(u32) -> Role) = match label {
                true => (&mut labels, Role::Label),
                false => (&mut features, Role::Feature),
            };
            *next += 1;
            role(*next - 1)
        })
        .collect();
    let layout = Layout::new(&header.attributes, &roles);
    let block = read_rows(source, &lines, |line, block| read_row(line, &layout, block))?;
    let names = header.attributes.into_iter().zip(is_label);
    let mut part = Part::new(&source.path);
    part.label_names = Some(names.filter(|n| n.1).map(|n| n.0.name).collect());
    part.features = Some(block.features.finish(features as usize));
    part.labels = Some(block.labels.finish(labels as usize));
    Ok(part)
}

fn by_list(
    source: &Source,
    header: &Header,
    list: &LabelList,
    asked: Option<usize>,
) -> Result<Vec<bool>, ImportError> {
    if let Some(asked) = asked.filter(|&asked| asked != list.names.len()) {
        return Err(InputProblem::LabelCountDiffers {
            path: list.path.clone(),
            listed: list.names.len(),
            asked,
        }
        .into());
    }
    let mut is_label = vec![false; header.attributes.len()];
    for (name, line) in &list.names {
        match header.places.get(name) {
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

fn by_count(source: &Source, header: &Header, options: &Options) -> Result<Vec<bool>, InputProblem> {
    let path = source.path.clone();
    let attributes = header.attributes.len();
    let Some(asked) = options.label_count else {
        return Err(InputProblem::LabelsUnknown { path });
    };
    if !(1..=attributes).contains(&asked) {
        return Err(InputProblem::LabelCount { path, asked, attributes });
    }
    let labels = match options.labels_first {
        true => 0..asked,
        false => attributes - asked..attributes,
    };
    Ok((0..attributes).map(|at| labels.contains(&at)).collect())
}
