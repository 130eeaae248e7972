//! The name of a matrix as users type it: `FILE.h5` (its usual group) or `FILE.h5:GROUP`.

use std::fmt;
use std::path::{Path, PathBuf};

/// The use of a matrix, which decides its usual group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Features,
    Labels,
    Marginals,
    Predictions,
}

impl Role {
    pub const ALL: [Role; 4] = [Role::Features, Role::Labels, Role::Marginals, Role::Predictions];

    pub fn group(self) -> &'static str {
        match self {
            Role::Features => "features",
            Role::Labels => "labels",
            Role::Marginals => "marginals",
            Role::Predictions => "predictions",
        }
    }
}

/// A matrix within a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub file: PathBuf,
    pub group: String,
}

impl Location {
    /// Parses `FILE` or `FILE:GROUP`. A text that names an existing file is taken whole, since file names may contain
    /// colons.
    pub fn parse(text: &str, role: Role) -> Location {
        if !Path::new(text).exists()
            && let Some((file, group)) = text.rsplit_once(':')
            && !file.is_empty()
            && !group.trim_matches('/').is_empty()
        {
            return Location { file: file.into(), group: group.trim_matches('/').to_owned() };
        }
        Location::in_file(text, role)
    }

    /// The usual group of `role` in a file.
    pub fn in_file(file: impl Into<PathBuf>, role: Role) -> Location {
        Location { file: file.into(), group: role.group().to_owned() }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_usual_group_and_given_ones() {
        assert_eq!(Location::parse("a.h5", Role::Labels).to_string(), "a.h5:labels");
        assert_eq!(Location::parse("a.h5:oof", Role::Labels).to_string(), "a.h5:oof");
        assert_eq!(Location::parse("a.h5:x/y", Role::Labels).group, "x/y");
        assert_eq!(Location::parse("a.h5:/x/y", Role::Labels).group, "x/y");
    }
}
