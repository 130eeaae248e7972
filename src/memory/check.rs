//! Whether all ranks together fit on their nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Refusal, Room, Source, rooms_here};
use crate::error::Result;
use crate::format::bytes;
use crate::host::host_name;
use crate::world::{Nodes, World};

/// What is needed, and that there is room for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fits {
    /// Bytes needed by all ranks of the job.
    pub need: u64,
    pub nodes: usize,
    /// Bytes left where it is tightest, when all ranks have what they need; `None` where the system
    /// does not say how much memory there is.
    pub margin: Option<u64>,
}

/// For a plan: `48.2 GiB of memory on 2 nodes, at least 12.0 GiB to spare`.
impl fmt::Display for Fits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of memory", bytes(self.need))?;
        let many = self.nodes > 1;
        if many {
            write!(f, " on {} nodes", self.nodes)?;
        }
        match self.margin {
            Some(margin) => write!(f, ", {}{} to spare", if many { "at least " } else { "" }, bytes(margin)),
            None => Ok(()),
        }
    }
}

/// What one rank tells rank 0.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Told {
    pub node: String,
    pub need: u64,
    pub rooms: Vec<Room>,
}

/// Whether every rank can take `need` bytes more than it holds now; each rank passes its own need. What
/// does not fit is an error on every rank alike. Collective.
pub fn check_room(world: &World, need: u64) -> Result<Fits> {
    check(world, Told { node: host_name(Path::new("/")), need, rooms: rooms_here() })
}

/// Rank 0 hears all ranks and decides for them.
pub(super) fn check(world: &World, mine: Told) -> Result<Fits> {
    tracing::debug!(rank = world.rank(), need = mine.need, rooms = ?mine.rooms, "memory");
    let nodes = world.nodes();
    let outcome = world.tell_root(&mine).map(|told| judge(&told, &nodes));
    let fits = world.agree(outcome.transpose().map_err(Into::into))?;
    Ok(world.tell_all(fits))
}

/// Who shares a limit: all ranks that name the same node, group or process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sharing {
    Node(usize),
    Cgroup(usize, u64),
    Rank(usize),
}

/// Compares every limit with the needs of those who share it. Of several that do not fit, the one that
/// lacks most is reported.
pub(super) fn judge(told: &[Told], nodes: &Nodes) -> Result<Fits, Refusal> {
    let mut limits: BTreeMap<Sharing, Refusal> = BTreeMap::new();
    for (rank, Told { node, need, rooms }) in told.iter().enumerate() {
        for room in rooms {
            let sharing = match room.source {
                Source::Node => Sharing::Node(nodes.of(rank)),
                Source::Cgroup { id, .. } => Sharing::Cgroup(nodes.of(rank), id),
                Source::Process { .. } => Sharing::Rank(rank),
            };
            let limit = limits.entry(sharing).or_insert_with(|| Refusal {
                node: node.clone(),
                ranks: Vec::new(),
                need: 0,
                room: room.clone(),
                others: 0,
            });
            limit.ranks.push(rank);
            limit.need = limit.need.saturating_add(*need);
            // Ranks look one after the other; the least that any of them saw is what counts.
            if room.bytes < limit.room.bytes {
                limit.room = room.clone();
            }
        }
    }
    let margin = limits.values().map(|limit| limit.room.bytes.saturating_sub(limit.need)).min();
    let refused: Vec<Refusal> = limits.into_values().filter(|limit| limit.short() > 0).collect();
    let full: BTreeSet<usize> = refused.iter().map(|limit| nodes.of(limit.ranks[0])).collect();
    // The first of equals, so that the message names the first node.
    match refused.into_iter().rev().max_by_key(Refusal::short) {
        Some(worst) => Err(Refusal { others: full.len() - 1, ..worst }),
        None => {
            let need = told.iter().fold(0u64, |sum, rank| sum.saturating_add(rank.need));
            Ok(Fits { need, nodes: nodes.count(), margin })
        }
    }
}
