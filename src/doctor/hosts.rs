//! The ranks of a job by the host they run on.

use super::examine::{JobReport, RankReport};
use crate::machine::{CpuSet, format_ranges};

/// A host and its ranks.
pub struct Host<'j> {
    pub name: &'j str,
    pub numbers: Vec<usize>,
    pub ranks: Vec<&'j RankReport>,
}

impl JobReport {
    /// In the order of their first ranks.
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

    /// Threads of all ranks here.
    pub fn threads(&self) -> usize {
        self.ranks.iter().map(|rank| rank.threads.count).sum()
    }

    /// Processors that any of the ranks may run on.
    pub fn usable(&self) -> CpuSet {
        CpuSet::union(self.ranks.iter().map(|rank| &rank.processors.allowed))
    }

    /// Processors that the job could use here.
    pub fn available(&self) -> usize {
        let granted = self.first().processors.granted.len();
        self.first().launcher.slurm_processors.map_or(granted, |processors| processors.min(granted))
    }

    /// What all ranks together read from memory, until the last was done.
    pub fn read_bytes_per_second(&self) -> f64 {
        let bytes: u64 = self.ranks.iter().map(|rank| rank.read.0).sum();
        bytes as f64 / self.ranks.iter().map(|rank| rank.read.1).fold(0.0, f64::max)
    }

    /// Bytes of memory that are free, and how many there are: of the tightest limit that any rank sees.
    pub fn memory(&self) -> Option<(u64, u64)> {
        let memory_limits = self.ranks.iter().filter_map(|rank| rank.tightest_limit());
        memory_limits.min_by_key(|room| room.available).map(|room| (room.available, room.total))
    }

    pub fn rank_numbers(&self) -> String {
        format_ranges(self.numbers.iter().copied())
    }

    /// `4 x 2`, or the whole list when the ranks differ.
    pub fn threads_text(&self) -> String {
        let counts: Vec<usize> = self.ranks.iter().map(|rank| rank.threads.count).collect();
        let (least, most) = (counts.iter().min(), counts.iter().max());
        match (least, most) {
            (Some(least), Some(most)) if least == most => format!("{} x {most}", counts.len()),
            (Some(least), Some(most)) => format!("{} x {least} to {most}", counts.len()),
            _ => String::new(),
        }
    }

    /// Which processors the ranks may use: all of them, the same ones, or which each.
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

/// Masks of ranks in a cell of the table.
const SHOWN_MASKS: usize = 4;
