//! The bytes of a file, unpacked if it is gzipped.

use std::borrow::Cow;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::{fs, io};

use flate2::read::MultiGzDecoder;

use super::error::{FileProblem, ImportError};
use super::text_problem::TextProblem;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A file that has been read; never empty.
pub(super) struct SourceFile {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

impl SourceFile {
    pub fn read(path: &Path) -> Result<SourceFile, ImportError> {
        let fail = |problem| ImportError::File { path: path.to_owned(), problem };
        let packed = fs::read(path).map_err(|error| {
            fail(match error.kind() {
                ErrorKind::NotFound => FileProblem::Missing,
                ErrorKind::IsADirectory => FileProblem::Folder,
                _ => FileProblem::Unreadable(error),
            })
        })?;
        let bytes = if packed.starts_with(&GZIP) {
            unpack(&packed).map_err(|error| fail(FileProblem::Gzip(error)))?
        } else {
            packed
        };
        if bytes.is_empty() {
            return Err(fail(FileProblem::Empty));
        }
        if bytes.starts_with(HDF5) {
            return Err(fail(FileProblem::Hdf5));
        }
        Ok(SourceFile { path: path.to_owned(), bytes })
    }

    /// Returns the text, without a byte order mark.
    pub fn text(&self) -> Result<&str, ImportError> {
        let bytes = without_mark(&self.bytes);
        std::str::from_utf8(bytes).map_err(|error| {
            let good = error.valid_up_to();
            let line = 1 + bytes[..good].iter().filter(|&&byte| byte == b'\n').count();
            self.error_at(line, TextProblem::NotUtf8 { byte: bytes[good] })
        })
    }

    /// Returns the error for a problem on `line`, counted from 1.
    pub fn error_at(&self, line: usize, problem: TextProblem) -> ImportError {
        ImportError::Text { path: self.path.clone(), line, problem }
    }
}

fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// Returns the first line of a text.
pub(super) fn first_line(bytes: &[u8]) -> Cow<'_, str> {
    let line = without_mark(bytes).split(|&byte| byte == b'\n').next();
    String::from_utf8_lossy(line.unwrap_or_default())
}

fn unpack(packed: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    MultiGzDecoder::new(packed).read_to_end(&mut bytes)?;
    Ok(bytes)
}
