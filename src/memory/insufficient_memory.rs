//! What is said when it will not fit.

use std::fmt;

use super::{LimitSource, MemoryLimit};
use crate::error::ModuleError;
use crate::format::{count_noun, format_bytes};

/// Ranks that need more than a limit leaves them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InsufficientMemory {
    /// The name of the node.
    pub node: String,
    /// The ranks that share the limit, at least one.
    pub ranks: Vec<usize>,
    /// Bytes they need together.
    pub need: u64,
    pub limit: MemoryLimit,
    /// How many nodes besides this one have too little as well.
    pub other_nodes: usize,
}

impl std::error::Error for InsufficientMemory {}

impl InsufficientMemory {
    pub(super) fn missing(&self) -> u64 {
        self.need.saturating_sub(self.limit.available)
    }

    fn write_problem(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InsufficientMemory { node, ranks, .. } = self;
        let (need, free, limit) =
            (format_bytes(self.need), format_bytes(self.limit.available), format_bytes(self.limit.total));
        let count = count_noun(ranks.len(), "rank");
        match &self.limit.source {
            LimitSource::Node => write!(
                f,
                "node {node}: {need} of memory needed for {count}, but only {free} of {limit} is free"
            )?,
            LimitSource::Cgroup { file, .. } => write!(
                f,
                "node {node}: {need} of memory needed for {count}, but the limit of the job or container leaves only \
                 {free} of {limit} ({file})"
            )?,
            LimitSource::Process { option } => write!(
                f,
                "rank {} on node {node}: {need} of memory needed, but `ulimit -{option}` leaves only {free} of \
                 {limit}",
                ranks[0]
            )?,
        }
        write!(f, ", {} too little", format_bytes(self.missing()))?;
        match self.other_nodes {
            0 => Ok(()),
            1 => write!(f, " (and 1 other node has too little)"),
            others => write!(f, " (and {others} other nodes have too little)"),
        }
    }

    fn write_remedy(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.limit.source {
            LimitSource::Node if self.need <= self.limit.total => {
                write!(f, "end what else runs there, use more nodes, or nodes with more memory")?;
            }
            LimitSource::Node => write!(f, "use more nodes, or nodes with more memory")?,
            LimitSource::Cgroup { .. } => {
                let ask = self.limit.total.saturating_add(self.missing()).div_ceil(1 << 30);
                write!(f, "ask for more (Slurm: --mem={ask}G, Docker: --memory={ask}g), or use more nodes")?;
            }
            LimitSource::Process { option } => {
                return write!(
                    f,
                    "raise it where the job is started (ulimit -{option} unlimited; Slurm: --propagate=NONE), or \
                     use more ranks, so that each holds fewer rows"
                );
            }
        }
        if self.ranks.len() > 1 {
            write!(f, "; fewer ranks hold as many rows and will not help")
        } else {
            Ok(())
        }
    }
}

impl fmt::Display for InsufficientMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_problem(f)?;
        write!(f, "; ")?;
        self.write_remedy(f)
    }
}

impl ModuleError for InsufficientMemory {}
