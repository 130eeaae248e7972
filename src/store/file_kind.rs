//! Recognition of what an HDF5 file holds, so that an error about a file of the wrong kind can name it.

use std::fmt;

use super::error::{Result, StoreError};
use super::hdf5_file::Hdf5File;
use super::location::Role;

/// The contents of an HDF5 file, by its layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    Classifier,
    /// A trained estimator.
    Model,
    /// Matrices with one row per instance.
    Data(Vec<Role>),
    /// Anything else, by the names at the top level.
    Other(Vec<String>),
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileKind::Classifier => f.write_str("a classifier"),
            FileKind::Model => f.write_str("a model"),
            FileKind::Data(roles) => {
                let groups: Vec<&str> = roles.iter().map(|role| role.group()).collect();
                write!(f, "a data file ({})", groups.join(", "))
            }
            FileKind::Other(names) if names.is_empty() => f.write_str("an HDF5 file without any groups"),
            FileKind::Other(names) => write!(f, "an HDF5 file of an unknown kind ({})", names.join(", ")),
        }
    }
}

impl Hdf5File {
    pub fn kind(&self) -> FileKind {
        let has_attribute = |name| self.file.attr(name).is_ok();
        if self.has("slopes") || has_attribute("classifier-version") {
            return FileKind::Classifier;
        }
        if has_attribute("model-version") {
            return FileKind::Model;
        }
        let roles: Vec<Role> = Role::ALL.into_iter().filter(|role| self.has(role.group())).collect();
        if roles.is_empty() { FileKind::Other(self.members()) } else { FileKind::Data(roles) }
    }

    /// Fails unless the file is of the kind `expected`.
    pub fn require(&self, expected: FileKind) -> Result<()> {
        match self.kind() {
            found if found == expected => Ok(()),
            found => Err(StoreError::WrongKind {
                file: self.path.to_path_buf(),
                found,
                expected: expected.to_string(),
            }),
        }
    }
}
