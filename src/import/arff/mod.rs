//! Mulan's ARFF files: named attributes, some of which are labels, then dense or sparse rows.

mod data;
mod header;
mod label_list;
mod token;

use super::combine::InputContents;
use super::error::{ImportError, InputProblem};
use super::format::{FileFormat, ReadRequest};
use super::input::{Group, ImportOptions};
use super::lines::read_rows;
use super::source::SourceFile;
use super::text_problem::TextProblem;
use data::{RowLayout, read_row};
use header::ArffHeader;
pub(super) use label_list::LabelList;

pub(super) const FORMAT: FileFormat = FileFormat {
    name: "arff",
    help: "ARFF of Mulan, dense or sparse",
    title: "an ARFF file",
    groups: &[Group::Features, Group::Labels],
    extensions: &["arff"],
    overrides_option: false,
    takes_label_list: true,
    recognises: |_, _| false,
    read,
};

/// The use of an attribute, with its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AttributeRole {
    Feature(u32),
    Label(u32),
}

/// Reads features and labels. Columns and label names are in the order of the attributes.
///
/// The labels are the attributes of the list, or without a list the last (or first) `label_count` attributes.
fn read(source: SourceFile, request: &ReadRequest<'_>) -> Result<InputContents, ImportError> {
    let options = request.options;
    let (header, lines) = ArffHeader::read(&source)?;
    let is_label = match request.list {
        Some(list) => labels_by_list(&source, &header, list, options.label_count)?,
        None => labels_by_count(&source, &header, options)?,
    };
    let (mut features, mut labels) = (0.., 0..);
    let role = |&label: &bool| match label {
        true => labels.next().map(AttributeRole::Label),
        false => features.next().map(AttributeRole::Feature),
    };
    let roles: Vec<AttributeRole> = is_label.iter().filter_map(role).collect();
    let layout = RowLayout::new(&header.attributes, &roles);
    let block = read_rows(&source, &lines, |line, block| read_row(line, &layout, block))?;
    let names = header.attributes.into_iter().zip(is_label);
    let mut part = InputContents::new(&source.path);
    part.label_names = Some(names.filter(|n| n.1).map(|n| n.0.name).collect());
    part.matrices.push((Group::Features, block.features.finish(features.start as usize)));
    part.matrices.push((Group::Labels, block.labels.finish(labels.start as usize)));
    Ok(part)
}

fn labels_by_list(
    source: &SourceFile,
    header: &ArffHeader,
    list: &LabelList,
    requested: Option<usize>,
) -> Result<Vec<bool>, ImportError> {
    if let Some(requested) = requested.filter(|&requested| requested != list.names.len()) {
        let (path, listed) = (list.path.clone(), list.names.len());
        return Err(InputProblem::LabelCountDiffers { path, listed, requested }.into());
    }
    let mut is_label = vec![false; header.attributes.len()];
    for (name, line) in &list.names {
        let Some(&place) = header.positions.get(name) else {
            let (name, arff) = (name.clone(), source.path.display().to_string());
            let problem = TextProblem::XmlUnknown { name, arff };
            return Err(ImportError::Text { path: list.path.clone(), line: *line, problem });
        };
        is_label[place] = true;
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
    let unknown = || InputProblem::LabelsUnknown { path: path.clone() };
    let requested = options.label_count.ok_or_else(unknown)?;
    if !(1..=attributes).contains(&requested) {
        return Err(InputProblem::LabelCount { path, requested, attributes });
    }
    let first = if options.labels_first { 0 } else { attributes - requested };
    Ok((0..attributes).map(|at| (first..first + requested).contains(&at)).collect())
}
