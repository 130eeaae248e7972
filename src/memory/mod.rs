//! Whether what is about to be loaded will fit: asked before loading, because the kernel's own answer
//! to too much is to kill a rank in the middle of it, without a word.
//!
//! Memory has several limits, and each is shared by others: the memory of the node by all ranks there,
//! the limit of a control group by the ranks in that group, a `ulimit` by nobody. A [`Room`] is what one
//! of them leaves; [`check_room`] compares each with the needs of all the ranks that share it.

mod cgroup;
mod check;
mod meminfo;
mod refusal;
#[cfg(test)]
mod tests;
mod ulimit;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use check::{Fits, check_room};
pub use refusal::Refusal;

/// What one limit leaves for us, now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    /// Bytes that can still be taken.
    pub bytes: u64,
    /// Bytes there are in all.
    pub limit: u64,
    pub source: Source,
}

/// Where a limit comes from, and with that, who shares it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// The memory of the node, shared by all ranks there.
    Node,
    /// A control group (a Slurm job, a container, a service), shared by the ranks in it. Paths differ
    /// between containers; the number of the group's directory does not.
    Cgroup { id: u64, file: String },
    /// A resource limit of this process alone, by the option of `ulimit` that sets it.
    Process { option: char },
}

impl Room {
    /// Where what is in use cannot be read, all of the limit counts as free: then only what can never
    /// fit is refused.
    fn new(limit: u64, used: Option<u64>, source: Source) -> Room {
        Room { bytes: limit.saturating_sub(used.unwrap_or(0)), limit, source }
    }
}

/// Every limit this process is under; none where the system does not tell (macOS), and then nothing is
/// refused.
pub fn rooms_here() -> Vec<Room> {
    #[cfg(debug_assertions)]
    if let Some(rooms) = rooms_as_tests_ask() {
        return rooms;
    }
    rooms(Path::new("/"))
}

/// The same, as the files below `root` tell it.
fn rooms(root: &Path) -> Vec<Room> {
    let mut rooms: Vec<Room> = meminfo::room(root).into_iter().collect();
    rooms.extend(cgroup::rooms(root));
    rooms.extend(ulimit::room(root));
    rooms
}

/// Lets tests see what becomes of a job on a node with this much memory. Not in release builds.
#[cfg(debug_assertions)]
fn rooms_as_tests_ask() -> Option<Vec<Room>> {
    let bytes = std::env::var("MACROK_TEST_ROOM").ok()?;
    let bytes = bytes.parse().expect("MACROK_TEST_ROOM is a number of bytes");
    Some(vec![Room { bytes, limit: bytes, source: Source::Node }])
}
