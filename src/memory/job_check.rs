//! Whether all ranks together fit on their nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{InsufficientMemory, LimitSource, MemoryLimit, memory_limits};
use crate::error::Result;
use crate::format::format_bytes;
use crate::host::host_name;
use crate::world::{Nodes, World};

/// What is needed, and that there is room for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryBudget {
    /// Bytes needed by all ranks of the job.
    pub need: u64,
    pub nodes: usize,
    /// Bytes left where it is tightest, when all ranks have what they need; `None` where the system
    /// does not say how much memory there is.
    pub margin: Option<u64>,
}

/// For a plan: `48.2 GiB of memory on 2 nodes, at least 12.0 GiB to spare`.
impl fmt::Display for MemoryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of memory", format_bytes(self.need))?;
        let many = self.nodes > 1;
        if many {
            write!(f, " on {} nodes", self.nodes)?;
        }
        match self.margin {
            Some(margin) => {
                write!(f, ", {}{} to spare", if many { "at least " } else { "" }, format_bytes(margin))
            }
            None => Ok(()),
        }
    }
}

/// What one rank tells rank 0.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RankMemory {
    pub node: String,
    pub need: u64,
    pub limits: Vec<MemoryLimit>,
}

/// Whether every rank can take `need` bytes more than it holds now; each rank passes its own need. What
/// does not fit is an error on every rank alike. Collective.
pub fn check_memory(world: &World, need: u64) -> Result<MemoryBudget> {
    check_ranks(world, RankMemory { node: host_name(Path::new("/")), need, limits: memory_limits() })
}

/// Rank 0 hears all ranks and decides for them.
pub(super) fn check_ranks(world: &World, mine: RankMemory) -> Result<MemoryBudget> {
    tracing::debug!(rank = world.rank(), need = mine.need, limits = ?mine.limits, "memory");
    let nodes = world.nodes();
    let outcome = world.gather_json(&mine).map(|ranks| check_limits(&ranks, &nodes));
    let fits = world.agree(outcome.transpose().map_err(Into::into))?;
    Ok(world.broadcast_json(fits))
}

/// Who shares a limit: all ranks that name the same node, group or process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LimitScope {
    Node(usize),
    Cgroup(usize, u64),
    Rank(usize),
}

/// Compares every limit with the needs of those who share it. Of several that do not fit, the one that
/// lacks most is reported.
pub(super) fn check_limits(ranks: &[RankMemory], nodes: &Nodes) -> Result<MemoryBudget, InsufficientMemory> {
    let mut groups: BTreeMap<LimitScope, InsufficientMemory> = BTreeMap::new();
    for (rank, RankMemory { node, need, limits }) in ranks.iter().enumerate() {
        for limit in limits {
            let scope = match limit.source {
                LimitSource::Node => LimitScope::Node(nodes.node_of(rank)),
                LimitSource::Cgroup { id, .. } => LimitScope::Cgroup(nodes.node_of(rank), id),
                LimitSource::Process { .. } => LimitScope::Rank(rank),
            };
            let group = groups.entry(scope).or_insert_with(|| InsufficientMemory {
                node: node.clone(),
                ranks: Vec::new(),
                need: 0,
                limit: limit.clone(),
                other_nodes: 0,
            });
            group.ranks.push(rank);
            group.need = group.need.saturating_add(*need);
            // Ranks look one after the other; the least that any of them saw is what counts.
            if limit.available < group.limit.available {
                group.limit = limit.clone();
            }
        }
    }
    let margin = groups.values().map(|group| group.limit.available.saturating_sub(group.need)).min();
    let refused: Vec<InsufficientMemory> = groups.into_values().filter(|group| group.missing() > 0).collect();
    let full: BTreeSet<usize> = refused.iter().map(|group| nodes.node_of(group.ranks[0])).collect();
    // The first of equals, so that the message names the first node.
    match refused.into_iter().rev().max_by_key(InsufficientMemory::missing) {
        Some(worst) => Err(InsufficientMemory { other_nodes: full.len() - 1, ..worst }),
        None => {
            let need = ranks.iter().fold(0u64, |sum, rank| sum.saturating_add(rank.need));
            Ok(MemoryBudget { need, nodes: nodes.count(), margin })
        }
    }
}
