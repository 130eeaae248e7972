//! Which reader a file needs.

use std::path::Path;

use super::input::{Format, Group};
use super::source::SourceFile;

const ZIP: &[u8] = b"PK\x03\x04";
const NUMPY: &[u8] = b"\x93NUMPY";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    ExtremeClassification,
    Libsvm,
    Arff,
    Npz,
    Npy,
    Predictions,
}

impl FileKind {
    /// By the name, else by what was asked, else by what the bytes look like.
    ///
    /// Text that is to hold marginals, and is no other format, is predictions.
    pub fn detect(source: &SourceFile, format: Format, group: Option<Group>) -> FileKind {
        let array = if source.bytes.starts_with(NUMPY) { FileKind::Npy } else { FileKind::Npz };
        match (extension(&source.path).as_str(), format) {
            ("npz" | "npy", _) | (_, Format::Npz) => array,
            (_, Format::ExtremeClassification) => FileKind::ExtremeClassification,
            (_, Format::Libsvm) => FileKind::Libsvm,
            (_, Format::Predictions) => FileKind::Predictions,
            ("arff", Format::Auto) | (_, Format::Arff) => FileKind::Arff,
            (_, Format::Auto) if source.bytes.starts_with(NUMPY) || source.bytes.starts_with(ZIP) => array,
            (_, Format::Auto) if has_header(&source.bytes) => FileKind::ExtremeClassification,
            (_, Format::Auto) if group == Some(Group::Marginals) => FileKind::Predictions,
            (_, Format::Auto) => FileKind::Libsvm,
        }
    }

    /// Whether it can hold a group.
    pub fn can_hold(self, group: Group) -> bool {
        match self {
            FileKind::Npz | FileKind::Npy => true,
            FileKind::Predictions => group == Group::Marginals,
            FileKind::ExtremeClassification | FileKind::Libsvm | FileKind::Arff => group != Group::Marginals,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            FileKind::ExtremeClassification => "the Extreme Classification format",
            FileKind::Libsvm => "the LIBSVM format",
            FileKind::Arff => "an ARFF file",
            FileKind::Npz => "an .npz archive",
            FileKind::Npy => "an .npy array",
            FileKind::Predictions => "prediction text",
        }
    }
}

/// Whether the file is an XML label list, which belongs to another file.
pub(super) fn is_label_list(path: &Path) -> bool {
    extension(path) == "xml"
}

/// The lower-case extension, looking through `.gz`.
fn extension(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').map_or(String::new(), |(_, extension)| extension.to_owned())
}

/// Whether the first line is exactly three runs of digits.
fn has_header(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or(bytes);
    let fields: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).collect();
    fields.len() == 3 && fields.iter().all(|f| f.iter().all(u8::is_ascii_digit))
}
