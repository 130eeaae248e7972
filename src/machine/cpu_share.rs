//! What a rank may take of its node when nobody says how much.

use serde::{Deserialize, Serialize};

use super::{CpuSet, Processors, Quota};
use crate::world::Nodes;

/// Where a rank may run, as the ranks tell each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankCpus {
    pub allowed: CpuSet,
    pub quotas: Vec<Quota>,
}

impl From<&Processors> for RankCpus {
    fn from(processors: &Processors) -> RankCpus {
        RankCpus { allowed: processors.allowed.clone(), quotas: processors.quotas.clone() }
    }
}

/// A rank's share of the processors it may run on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuShare {
    /// Whole processors, at least one.
    pub threads: usize,
    /// Ranks, this one included, that may run on some of the same processors.
    pub ranks: usize,
    /// Processors' worth of time that a control group leaves to those in it, when that is the tighter limit.
    pub quota: Option<f64>,
}

/// A processor that several ranks may run on is shared evenly, and so is the limit of a control group.
/// So ranks with processors of their own take all of them, and ranks that are not bound share the node,
/// also within a job that has only a part of it.
pub fn cpu_share(rank: usize, places: &[RankCpus], nodes: &Nodes) -> CpuShare {
    let beside: Vec<&RankCpus> =
        nodes.same_node_ranks(rank).into_iter().map(|other| &places[other]).collect();
    let mine = &places[rank];
    let users = |cpu| beside.iter().filter(|other| other.allowed.contains(cpu)).count();
    let own: f64 = mine.allowed.iter().map(|cpu| 1.0 / users(cpu) as f64).sum();
    let of_quota = |quota: &Quota| {
        let shares = |other: &&&RankCpus| other.quotas.iter().any(|theirs| theirs.id == quota.id);
        (quota.processors / beside.iter().filter(shares).count() as f64, quota.processors)
    };
    let tightest = mine.quotas.iter().map(of_quota).min_by(|a, b| a.0.total_cmp(&b.0));
    let limit = tightest.filter(|(share, _)| *share < own);
    let processors = limit.map_or(own, |(share, _)| share);
    CpuShare {
        // Thirds of a processor add up to a little less than one.
        threads: ((processors + 1e-6) as usize).max(1),
        ranks: beside.iter().filter(|other| !other.allowed.is_disjoint(&mine.allowed)).count(),
        quota: limit.map(|(_, processors)| processors),
    }
}
