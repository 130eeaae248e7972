//! The table of file formats, from which the values of `--format` and the recognition of files derive.

use std::path::Path;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::arff::{self, LabelList};
use super::combine::InputContents;
use super::error::ImportError;
use super::input::{Group, ImportOptions};
use super::source::SourceFile;
use super::{arrays, extreme_classification, libsvm, predictions};

/// All values of `--format`. Of several formats that recognise a file, the first one reads it.
const FORMATS: [Format; 6] = [
    Format(None),
    Format(Some(&arrays::FORMAT)),
    Format(Some(&arff::FORMAT)),
    Format(Some(&extreme_classification::FORMAT)),
    Format(Some(&predictions::FORMAT)),
    Format(Some(&libsvm::FORMAT)),
];

/// A file format and its reader.
pub(super) struct FileFormat {
    /// The value of `--format`.
    pub name: &'static str,
    /// Help for that value.
    pub help: &'static str,
    /// The format as the subject of a sentence.
    pub title: &'static str,
    /// The groups that a file can hold.
    pub groups: &'static [Group],
    /// File name extensions, in lower case.
    pub extensions: &'static [&'static str],
    /// Whether such an extension decides even if `--format` names another format.
    pub overrides_option: bool,
    /// Whether it uses an XML label list.
    pub takes_label_list: bool,
    /// Recognises a file by its first bytes and the group it is to hold.
    pub recognises: fn(&[u8], Option<Group>) -> bool,
    pub read: fn(SourceFile, &ReadRequest<'_>) -> Result<InputContents, ImportError>,
}

/// Everything that a reader may need in addition to the file.
pub(super) struct ReadRequest<'a> {
    /// The group to read, if it was given.
    pub group: Option<Group>,
    pub options: &'a ImportOptions,
    pub list: Option<&'a LabelList>,
}

impl FileFormat {
    /// Returns the format of a file: by its extension or `--format`, otherwise by its contents.
    pub fn of(source: &SourceFile, requested: Format, group: Option<Group>) -> &'static FileFormat {
        let extension = extension(&source.path);
        let all = || FORMATS.iter().filter_map(|format| format.0);
        let by_extension = all()
            .filter(|format| format.overrides_option || requested.0.is_none())
            .find(|format| format.extensions.contains(&extension.as_str()));
        by_extension
            .or(requested.0)
            .or_else(|| all().find(|format| (format.recognises)(&source.bytes, group)))
            .unwrap_or(&libsvm::FORMAT)
    }
}

/// A value of `--format`: a format, or `auto`, the default.
#[derive(Clone, Copy, Default)]
pub struct Format(Option<&'static FileFormat>);

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.map_or("auto", |format| format.name))
    }
}

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Format] {
        &FORMATS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = self.0.map_or(("auto", "By file name, otherwise by the first line"), |format| {
            (format.name, format.help)
        });
        Some(PossibleValue::new(name).help(help))
    }
}

/// Whether the file is an XML label list, which belongs to another file.
pub(super) fn is_label_list(path: &Path) -> bool {
    extension(path) == "xml"
}

/// Returns the extension in lower case, ignoring `.gz`.
fn extension(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').map_or(String::new(), |(_, extension)| extension.to_owned())
}
