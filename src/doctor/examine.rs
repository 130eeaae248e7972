//! Facts and measurements of every rank, collected on rank 0.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::files::SeenPath;
use crate::classifier::Kernel;
use crate::error::Error;
use crate::host::host_name;
use crate::load::{ExtraMemory, LoadOptions, LoadSummary, plan_load};
use crate::machine::{Launcher, NodeSettings, Processors, Threads};
use crate::memory::{MemoryLimit, memory_limits};
use crate::probe::{AllreduceTiming, read_bandwidth, time_allreduce};
use crate::store::library_version;
use crate::world::{Nodes, World, mpi_library};

/// The run to examine.
pub struct ExamineRequest<'a> {
    /// The rows that a fit would load.
    pub load: Option<&'a LoadOptions>,
    /// The folder that it would write into.
    pub folder: &'a Path,
    pub threads: &'a Threads,
}

/// The facts of one rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankReport {
    pub host: String,
    pub threads: Threads,
    pub processors: Processors,
    pub settings: NodeSettings,
    pub launcher: Launcher,
    pub memory_limits: Vec<MemoryLimit>,
    pub files: Vec<SeenPath>,
    pub kernel: String,
    pub mpi: String,
    pub hdf5: String,
    /// The value of HDF5_USE_FILE_LOCKING.
    pub file_locking: Option<String>,
    /// Seconds since 1970, read by all ranks at about the same time.
    pub clock: f64,
    /// Bytes that this rank read from memory, and the seconds it took, while the other ranks of its node did the same.
    pub read: (u64, f64),
}

/// The facts of all ranks; on rank 0.
#[derive(Clone, Debug)]
pub struct JobReport {
    pub nodes: Nodes,
    pub ranks: Vec<RankReport>,
    /// `None` for one process alone.
    pub allreduce: Option<AllreduceTiming>,
    /// The plan to load the data, or the message of the error; `None` if no data were named.
    pub plan: Option<Result<LoadSummary, String>>,
}

/// The length of the vector to add when no data give the number of labels.
const DEFAULT_LABELS: usize = 100_000;

/// Seconds for each of the two measurements of exchanges.
const EXCHANGE_SECONDS: f64 = 0.25;

/// Examines the job in about three seconds. Rank 0 gets the report; every rank gets the error with which loading the data
/// would fail, if any. Collective.
pub fn examine(world: &World, request: &ExamineRequest<'_>) -> (Option<JobReport>, Option<Error>) {
    let plan = |load: &LoadOptions| plan_load(world, load, ExtraMemory::for_fitting(load.labels.is_some()));
    let plan = request.load.map(|load| plan(load).map(|plan| plan.summary));
    let nodes = world.nodes();
    let labels = plan.iter().flatten().next().map_or(DEFAULT_LABELS, |plan| plan.labels as usize);
    let allreduce = (world.size() > 1).then(|| time_allreduce(world, labels, EXCHANGE_SECONDS));
    let ranks = world.gather_json(&examine_rank(world, request, &nodes));
    let (plan, problem) = match plan {
        Some(Err(error)) => (Some(Err(error.to_string())), Some(error)),
        plan => (plan.map(|plan| plan.map_err(|_| String::new())), None),
    };
    (ranks.map(|ranks| JobReport { nodes, ranks, allreduce, plan }), problem)
}

fn examine_rank(world: &World, request: &ExamineRequest<'_>, nodes: &Nodes) -> RankReport {
    let root = Path::new("/");
    let processors = Processors::detect(root);
    let memory_limits = memory_limits();
    let bytes = bytes_to_read(&processors, &memory_limits) / nodes.same_node_ranks(world.rank()).len();
    let meet = || {
        world.gather_to_all(0);
    };
    let read = read_bandwidth(request.threads.count, bytes, READ_ROUNDS, meet);
    let inputs = request.load.iter().flat_map(|load| [Some(&load.marginals), load.labels.as_ref()]).flatten();
    let mut files: Vec<SeenPath> = inputs.map(|location| SeenPath::data(&location.file)).collect();
    files.dedup_by(|one, other| one.path == other.path);
    files.push(SeenPath::output(world, request.folder));
    meet();
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
    RankReport {
        host: host_name(root),
        threads: request.threads.clone(),
        processors,
        settings: NodeSettings::detect(root),
        launcher: Launcher::detect(|name| std::env::var(name).ok()),
        memory_limits,
        files,
        kernel: Kernel::fastest().name().into(),
        mpi: mpi_library(),
        hdf5: library_version(),
        file_locking: std::env::var("HDF5_USE_FILE_LOCKING").ok(),
        clock,
        read: (READ_ROUNDS as u64 * read.bytes, read.seconds),
    }
}

/// Enough rounds that slightly different starts of the ranks do not matter.
const READ_ROUNDS: usize = 8;

/// Returns the bytes that all ranks of a node read: more than its caches hold, but a small part of the free memory.
fn bytes_to_read(processors: &Processors, memory_limits: &[MemoryLimit]) -> usize {
    let wanted = (4 * processors.cache_bytes).clamp(128 << 20, 2 << 30);
    let free = memory_limits.iter().map(|limit| limit.available).min().unwrap_or(u64::MAX);
    wanted.min(free / 8) as usize
}
