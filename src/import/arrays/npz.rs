//! The arrays of a `.npz` archive.

use super::npy::Array;
use super::zip::{self, Member};
use crate::import::matrix_problem::MatrixProblem;

const SUFFIX: &str = ".npy";

/// An archive with its directory.
pub(super) struct Archive {
    bytes: Vec<u8>,
    members: Vec<Member>,
}

impl Archive {
    pub fn open(bytes: Vec<u8>) -> Result<Archive, MatrixProblem> {
        let members = zip::members(&bytes).map_err(|reason| MatrixProblem::NotZip { reason })?;
        Ok(Archive { bytes, members })
    }

    /// Returns the names of all arrays, without `.npy`.
    pub fn names(&self) -> Vec<&str> {
        let names = self.members.iter().map(|member| member.name.as_str());
        names.filter_map(|name| name.strip_suffix(SUFFIX)).collect()
    }

    pub fn contains(&self, name: &str) -> bool {
        self.names().contains(&name)
    }

    /// Returns the names for messages.
    pub fn listing(&self) -> String {
        match &self.names()[..] {
            [] => "no array".to_owned(),
            names => names.join(", "),
        }
    }

    /// Unpacks and parses one array.
    pub fn array(&self, name: &str) -> Result<Array, MatrixProblem> {
        let file = format!("{name}{SUFFIX}");
        let Some(member) = self.members.iter().find(|member| member.name == file) else {
            return Err(MatrixProblem::MissingMember { missing: file, found: self.listing() });
        };
        match member.unpack(&self.bytes) {
            Ok(bytes) => Array::parse(&file, bytes),
            Err(reason) => Err(MatrixProblem::Unpack { member: file, reason }),
        }
    }
}
