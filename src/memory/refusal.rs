//! What is said when it will not fit.

use std::fmt;

use super::{Room, Source};
use crate::error::ModuleError;
use crate::format::bytes;

/// Ranks that need more than a limit leaves them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The name of the node.
    pub node: String,
    /// The ranks that share the limit, at least one.
    pub ranks: Vec<usize>,
    /// Bytes they need together.
    pub need: u64,
    pub room: Room,
    /// How many nodes besides this one have too little as well.
    pub others: usize,
}

impl std::error::Error for Refusal {}

impl Refusal {
    pub(super) fn short(&self) -> u64 {
        self.need.saturating_sub(self.room.bytes)
    }

    fn found(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { node, ranks, .. } = self;
        let (need, free, limit) = (bytes(self.need), bytes(self.room.bytes), bytes(self.room.limit));
        let plural = if ranks.len() == 1 { "" } else { "s" };
        match &self.room.source {
            Source::Node => write!(
                f,
                "node {node}: {need} of memory needed for {} rank{plural}, but only {free} of {limit} is free",
                ranks.len()
            )?,
            Source::Cgroup { file, .. } => write!(
                f,
                "node {node}: {need} of memory needed for {} rank{plural}, but the limit of the job or container \
                 leaves only {free} of {limit} ({file})",
                ranks.len()
            )?,
            Source::Process { option } => write!(
                f,
                "rank {} on node {node}: {need} of memory needed, but `ulimit -{option}` leaves only {free} of \
                 {limit}",
                ranks[0]
            )?,
        }
        write!(f, ", {} too little", bytes(self.short()))?;
        match self.others {
            0 => Ok(()),
            1 => write!(f, " (and 1 other node has too little)"),
            others => write!(f, " (and {others} other nodes have too little)"),
        }
    }

    fn remedy(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.room.source {
            Source::Node if self.need <= self.room.limit => {
                write!(f, "end what else runs there, use more nodes, or nodes with more memory")?;
            }
            Source::Node => write!(f, "use more nodes, or nodes with more memory")?,
            Source::Cgroup { .. } => {
                let ask = self.room.limit.saturating_add(self.short()).div_ceil(1 << 30);
                write!(f, "ask for more (Slurm: --mem={ask}G, Docker: --memory={ask}g), or use more nodes")?;
            }
            Source::Process { option } => {
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

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.found(f)?;
        write!(f, "; ")?;
        self.remedy(f)
    }
}

impl ModuleError for Refusal {}
