//! Checks that all ranks together fit on their nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{InsufficientMemory, LimitSource, MemoryLimit, memory_limits};
use crate::error::Result;
use crate::format::format_bytes;
use crate::host::host_name;
use crate::world::{Nodes, World};

/// The memory that a job needs, which its nodes have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryBudget {
    /// Bytes that all ranks of the job need.
    pub need: u64,
    pub nodes: usize,
    /// Bytes that the tightest limit leaves beyond the needs; `None` if the system does not report limits.
    pub margin: Option<u64>,
}

/// Formats the budget for a plan: `48.2 GiB of memory on 2 nodes, at least 12.0 GiB to spare`.
impl fmt::Display for MemoryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of memory", format_bytes(self.need))?;
        let mut at_least = "";
        if self.nodes > 1 {
            write!(f, " on {} nodes", self.nodes)?;
            at_least = "at least ";
        }
        self.margin.map_or(Ok(()), |margin| write!(f, ", {at_least}{} to spare", format_bytes(margin)))
    }
}

/// The report of one rank to rank 0.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RankMemory {
    pub node: String,
    pub need: u64,
    pub limits: Vec<MemoryLimit>,
}

/// Checks that every rank can allocate `need` more bytes, its own need. Otherwise all ranks get the same error. Collective.
pub fn check_memory(world: &World, need: u64) -> Result<MemoryBudget> {
    check_ranks(world, RankMemory { node: host_name(Path::new("/")), need, limits: memory_limits() })
}

/// Decides on rank 0 for all ranks.
pub(super) fn check_ranks(world: &World, mine: RankMemory) -> Result<MemoryBudget> {
    tracing::debug!(rank = world.rank(), need = mine.need, limits = ?mine.limits, "memory");
    let nodes = world.nodes();
    let outcome = world.gather_json(&mine).map(|ranks| check_limits(&ranks, &nodes));
    let fits = world.agree(outcome.transpose())?;
    Ok(world.broadcast_json(fits))
}

/// The scope of a limit: ranks of the same node, group or process share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LimitScope {
    Node(usize),
    Cgroup(usize, u64),
    Rank(usize),
}

/// Compares every limit with the needs of the ranks that share it. Of several insufficient ones, the one that lacks most is
/// the error.
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
            // Ranks read the limit at different moments; the smallest value counts.
            if limit.available < group.limit.available {
                group.limit = limit.clone();
            }
        }
    }
    let margin = groups.values().map(|group| group.limit.available.saturating_sub(group.need)).min();
    let refused: Vec<InsufficientMemory> = groups.into_values().filter(|group| group.missing() > 0).collect();
    let full: BTreeSet<usize> = refused.iter().map(|group| nodes.node_of(group.ranks[0])).collect();
    // Of equal ones the first, so that the message names the first node.
    match refused.into_iter().rev().max_by_key(InsufficientMemory::missing) {
        Some(worst) => Err(InsufficientMemory { other_nodes: full.len() - 1, ..worst }),
        None => {
            let need = ranks.iter().fold(0u64, |sum, rank| sum.saturating_add(rank.need));
            Ok(MemoryBudget { need, nodes: nodes.count(), margin })
        }
    }
}
