//! The error for ranks that need more memory than there is.

use std::fmt;

use super::{LimitSource, MemoryLimit};
use crate::error::ModuleError;
use crate::format::{count_noun, format_bytes};

/// Ranks that need more than a limit leaves them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct InsufficientMemory {
    /// Name of the node.
    pub node: String,
    /// Ranks that share the limit, at least one.
    pub ranks: Vec<usize>,
    /// Bytes that they need together.
    pub need: u64,
    pub limit: MemoryLimit,
    /// Number of other nodes with too little memory.
    pub other_nodes: usize,
}

impl ModuleError for InsufficientMemory {}

impl InsufficientMemory {
    pub(super) fn missing(&self) -> u64 {
        self.need.saturating_sub(self.limit.available)
    }

    fn problem(&self) -> String {
        let InsufficientMemory { node, ranks, need, limit, .. } = self;
        let [need, free, total] = [*need, limit.available, limit.total].map(format_bytes);
        let needed = format!("{need} of memory needed");
        let by = count_noun(ranks.len(), "rank");
        match &limit.source {
            LimitSource::Node => {
                format!("node {node}: {needed} for {by}, but only {free} of {total} is free")
            }
            LimitSource::Cgroup { file, .. } => format!(
                "node {node}: {needed} for {by}, but the limit of the job or container leaves only {free} of {total} \
                 ({file})"
            ),
            LimitSource::Process { option } => format!(
                "rank {} on node {node}: {needed}, but `ulimit -{option}` leaves only {free} of {total}",
                ranks[0]
            ),
        }
    }

    fn remedy(&self) -> String {
        match self.limit.source {
            LimitSource::Node if self.need <= self.limit.total => {
                "end other programs there, use more nodes, or nodes with more memory".into()
            }
            LimitSource::Node => "use more nodes, or nodes with more memory".into(),
            LimitSource::Cgroup { .. } => {
                let request = self.limit.total.saturating_add(self.missing()).div_ceil(1 << 30);
                format!(
                    "request more (Slurm: --mem={request}G, Docker: --memory={request}g), or use more nodes"
                )
            }
            LimitSource::Process { option } => format!(
                "raise it where the job is started (ulimit -{option} unlimited; Slurm: --propagate=NONE), or use more \
                 ranks, so that each holds fewer rows"
            ),
        }
    }
}

impl fmt::Display for InsufficientMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} too little", self.problem(), format_bytes(self.missing()))?;
        match self.other_nodes {
            0 => {}
            1 => write!(f, " (and 1 other node has too little)")?,
            others => write!(f, " (and {others} other nodes have too little)")?,
        }
        let shared =
            if self.ranks.len() > 1 { "; fewer ranks hold as many rows and will not help" } else { "" };
        write!(f, "; {}{shared}", self.remedy())
    }
}
