//! The ranks of a job, grouped by host.

use super::examine::{JobReport, RankReport};
use crate::machine::{CpuSet, format_ranges};
use crate::memory::LimitSource;

/// A host and its ranks.
pub struct Host<'j> {
    pub name: &'j str,
    pub numbers: Vec<usize>,
    pub ranks: Vec<&'j RankReport>,
}

impl JobReport {
    /// Returns the hosts, in the order of their first ranks.
    pub fn hosts(&self) -> Vec<Host<'_>> {
        let firsts = (0..self.ranks.len()).filter(|&rank| self.nodes.node_of(rank) == rank);
        let host = |first: usize| {
            let numbers = self.nodes.same_node_ranks(first);
            let ranks = numbers.iter().map(|&rank| &self.ranks[rank]).collect();
            Host { name: &self.ranks[first].host, numbers, ranks }
        };
        firsts.map(host).collect()
    }
}

impl Host<'_> {
    pub fn first(&self) -> &RankReport {
        self.ranks[0]
    }

    /// Returns the threads of all ranks.
    pub fn threads(&self) -> usize {
        self.ranks.iter().map(|rank| rank.threads.count).sum()
    }

    /// Returns the processors that any of the ranks may run on.
    pub fn usable(&self) -> CpuSet {
        CpuSet::union(self.ranks.iter().map(|rank| &rank.processors.allowed))
    }

    /// Returns the number of processors that the job could use.
    pub fn available(&self) -> usize {
        let granted = self.first().processors.granted.len();
        self.first().launcher.slurm_processors.map_or(granted, |processors| processors.min(granted))
    }

    /// Returns the memory bandwidth of all ranks together, measured until the last has finished.
    pub fn read_bytes_per_second(&self) -> f64 {
        let bytes: u64 = self.ranks.iter().map(|rank| rank.read.0).sum();
        bytes as f64 / self.ranks.iter().map(|rank| rank.read.1).fold(0.0, f64::max)
    }

    /// Returns the free and the total bytes of the tightest memory limit that any rank sees.
    pub fn memory(&self) -> Option<(u64, u64)> {
        let limits = self.ranks.iter().flat_map(|rank| &rank.memory_limits);
        let limits = limits.filter(|limit| !matches!(limit.source, LimitSource::Process { .. }));
        limits.min_by_key(|limit| limit.available).map(|limit| (limit.available, limit.total))
    }

    pub fn rank_numbers(&self) -> String {
        format_ranges(self.numbers.iter().copied())
    }

    /// Formats ranks and threads: `4 x 2`, or `4 x 1 to 2` if the ranks differ.
    pub fn threads_text(&self) -> String {
        let counts = || self.ranks.iter().map(|rank| rank.threads.count);
        let (ranks, least, most) =
            (self.ranks.len(), counts().min().unwrap_or(0), counts().max().unwrap_or(0));
        if least == most { format!("{ranks} x {most}") } else { format!("{ranks} x {least} to {most}") }
    }

    /// Formats the processors that the ranks are bound to, of each rank if they differ.
    pub fn binding(&self) -> String {
        let masks: Vec<&CpuSet> = self.ranks.iter().map(|rank| &rank.processors.allowed).collect();
        if self.ranks.iter().all(|rank| !rank.processors.is_bound()) {
            return "not bound".into();
        }
        if masks.iter().all(|mask| *mask == masks[0]) {
            let all = if masks.len() > 1 { "all to " } else { "" };
            return format!("{all}{}", masks[0]);
        }
        let mut shown: Vec<String> = masks.iter().take(SHOWN_MASKS).map(ToString::to_string).collect();
        if masks.len() > SHOWN_MASKS {
            shown.push("...".into());
        }
        shown.join(" | ")
    }
}

/// The most affinity masks in a cell of the table.
const SHOWN_MASKS: usize = 4;
