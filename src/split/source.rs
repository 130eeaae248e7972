//! The file to split: its groups and names.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::{Result, usage};
use crate::load::{read_csr, rows_of_this_rank};
use crate::sparse::Csr;
use crate::store::{Hdf5File, Location, MatrixFile, Role, ValueKind, read_names};
use crate::world::World;

/// An open data file, of which shapes and, on rank 0, names have been read.
pub struct SplitSource {
    file: Hdf5File,
    path: PathBuf,
    rows: u64,
    pub groups: Vec<SourceGroup>,
    /// Names of instances and labels, if there are any; on rank 0.
    pub instance_names: Option<Vec<String>>,
    pub label_names: Option<Vec<String>>,
    /// Other contents of the file, which the parts lack.
    pub left_out: Vec<String>,
}

/// A matrix with one row per instance.
#[derive(Clone, Copy, Debug)]
pub struct SourceGroup {
    pub role: Role,
    pub columns: u64,
    pub entries: u64,
}

const INSTANCE_NAMES: &str = "instance_names";
const LABEL_NAMES: &str = "label_names";

impl SplitSource {
    /// Opens a file and finds its groups among `roles`. Collective.
    pub fn open(world: &World, path: &Path, roles: &[Role]) -> Result<SplitSource> {
        let mut source = world.agree(SplitSource::find_groups(path, roles))?;
        if world.is_root() {
            source.instance_names = read_names(&source.file, INSTANCE_NAMES);
            source.label_names = read_names(&source.file, LABEL_NAMES);
            let read = [
                (INSTANCE_NAMES, source.instance_names.is_some()),
                (LABEL_NAMES, source.label_names.is_some()),
            ];
            let unread = read.into_iter().filter(|(name, read)| source.file.has(name) && !read);
            let unread = unread.map(|(name, _)| format!("{name} (not text of variable length)"));
            source.left_out.extend(unread.collect::<Vec<_>>());
        }
        world.agree(source.check_names())?;
        Ok(source)
    }

    fn find_groups(path: &Path, roles: &[Role]) -> Result<SplitSource> {
        let file = Hdf5File::open(path)?;
        let (mut groups, mut rows) = (Vec::new(), 0);
        for &role in roles.iter().filter(|role| file.has(role.group())) {
            let matrix = MatrixFile::open_in(&file, location_of(path, role))?;
            let (found, columns) = matrix.shape();
            if let Some(SourceGroup { role: first, .. }) = groups.first().filter(|_| rows != found) {
                return usage(format!(
                    "{}: {} has {rows} rows, but {} has {found}; all groups describe the same rows",
                    path.display(),
                    first.group(),
                    role.group()
                ));
            }
            rows = found;
            groups.push(SourceGroup { role, columns, entries: matrix.entries() });
        }
        let names: Vec<&str> = roles.iter().map(|role| role.group()).collect();
        let members = file.members();
        if groups.is_empty() {
            let found = if members.is_empty() { "nothing".into() } else { members.join(", ") };
            return usage(format!("{}: holds {found}, but none of {}", path.display(), names.join(", ")));
        }
        if rows > u32::MAX.into() {
            return usage(format!("{}: {rows} rows, but at most {} can be split", path.display(), u32::MAX));
        }
        let known = |name: &String| {
            names.contains(&name.as_str()) || [INSTANCE_NAMES, LABEL_NAMES, "rows"].contains(&name.as_str())
        };
        let left_out = members.into_iter().filter(|name| !known(name)).collect();
        let (instance_names, label_names) = (None, None);
        Ok(SplitSource { file, path: path.into(), rows, groups, instance_names, label_names, left_out })
    }

    fn check_names(&mut self) -> Result<()> {
        let found = self.instance_names.as_ref().map_or(self.rows, |names| names.len() as u64);
        if found != self.rows {
            let (path, rows) = (self.path.display(), self.rows);
            return usage(format!("{path}: {INSTANCE_NAMES} has {found} names, but there are {rows} rows"));
        }
        Ok(())
    }

    pub fn rows(&self) -> u64 {
        self.rows
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn labels(&self) -> Option<SourceGroup> {
        self.groups.iter().copied().find(|group| group.role == Role::Labels)
    }

    pub(super) fn label_entries(&self) -> u64 {
        self.labels().map_or(0, |group| group.entries)
    }

    /// Returns the rows of this rank, balanced by the entries of the largest group. Collective.
    pub(super) fn rank_rows(&self, world: &World) -> Result<Range<u64>> {
        let largest = self.groups.iter().max_by_key(|group| group.entries).expect("there is a group").role;
        let matrix = world.agree(self.matrix(largest))?;
        rows_of_this_rank(world, &matrix)
    }

    pub(super) fn matrix(&self, role: Role) -> Result<MatrixFile> {
        Ok(MatrixFile::open_in(&self.file, location_of(&self.path, role))?)
    }

    /// Reads all labels of the file. For rank 0.
    pub(super) fn read_all_labels(&self) -> Result<Csr> {
        let matrix = self.matrix(Role::Labels)?;
        let starts = matrix.row_starts(0..self.rows)?;
        Ok(read_csr(&matrix, &starts, ValueKind::Labels)?)
    }
}

fn location_of(path: &Path, role: Role) -> Location {
    Location::in_file(path, role)
}

/// Returns the check that values must pass. Marginals outside [0, 1] are copied, so that their user may clamp them.
pub(super) fn value_kind(role: Role) -> ValueKind {
    match role {
        Role::Labels => ValueKind::Labels,
        Role::Features | Role::Marginals | Role::Predictions => ValueKind::Finite,
    }
}
