//! A rank's share of its node when no number of threads is set.

use serde::{Deserialize, Serialize};

use super::{Processors, Quota};
use crate::world::Nodes;

/// A rank's share of the processors it may run on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuShare {
    /// Whole processors, at least one.
    pub threads: usize,
    /// Ranks that may run on some of the same processors, this one included.
    pub ranks: usize,
    /// Processor time, in processors, that a control group grants to all its members, if that is the tighter limit.
    pub quota: Option<f64>,
}

/// Returns the share of a rank, given the processors of all ranks. Ranks share each processor that several of them may run on evenly, and the limit of a control
/// group likewise: bound ranks get all their processors, unbound ranks share those of the job.
pub fn cpu_share(rank: usize, ranks: &[Processors], nodes: &Nodes) -> CpuShare {
    let node: Vec<&Processors> = nodes.same_node_ranks(rank).into_iter().map(|other| &ranks[other]).collect();
    let mine = &ranks[rank];
    let users = |cpu| node.iter().filter(|other| other.allowed.contains(cpu)).count();
    let own: f64 = mine.allowed.iter().map(|cpu| 1.0 / users(cpu) as f64).sum();
    let of_quota = |quota: &Quota| {
        let shares = |other: &&&Processors| other.quotas.iter().any(|theirs| theirs.id == quota.id);
        (quota.processors / node.iter().filter(shares).count() as f64, quota.processors)
    };
    let tightest = mine.quotas.iter().map(of_quota).min_by(|a, b| a.0.total_cmp(&b.0));
    let limit = tightest.filter(|(share, _)| *share < own);
    let processors = limit.map_or(own, |(share, _)| share);
    CpuShare {
        // Three thirds of a processor sum to slightly less than one.
        threads: ((processors + 1e-6) as usize).max(1),
        ranks: node.iter().filter(|other| !other.allowed.is_disjoint(&mine.allowed)).count(),
        quota: limit.map(|(_, processors)| processors),
    }
}
