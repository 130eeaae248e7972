//! Every rank looks around and measures; rank 0 hears them all.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::files::SeenPath;
use crate::classifier::Kernel;
use crate::error::Error;
use crate::host::host_name;
use crate::load::{ExtraMemory, LoadOptions, LoadPlan, plan_load};
use crate::machine::{Launcher, NodeSettings, Processors, Threads};
use crate::memory::{LimitSource, MemoryLimit, memory_limits};
use crate::probe::{AllreduceTiming, read_bandwidth_synchronised, time_allreduce};
use crate::store::library_version;
use crate::world::{Nodes, World, mpi_library};

/// What the user wants to know about.
pub struct ExamineRequest<'a> {
    /// What a fit would load.
    pub load: Option<&'a LoadOptions>,
    /// Where it would write.
    pub folder: &'a Path,
    pub threads: &'a Threads,
}

/// What one rank found.
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
    /// Seconds since 1970, read by all ranks at about the same moment.
    pub clock: f64,
    /// Bytes that this rank read from memory, and in how many seconds, while the others of its node did the same.
    pub read: (u64, f64),
}

/// What a run would need of memory.
#[derive(Clone, Debug)]
pub enum LoadCheck {
    /// Nothing to load was named.
    NotRequested,
    Fits(LoadPlan),
    /// Loading would end with this message.
    Refused(String),
}

/// All that is known about a job; on rank 0.
#[derive(Clone, Debug)]
pub struct JobReport {
    pub nodes: Nodes,
    /// Of each rank.
    pub ranks: Vec<RankReport>,
    /// `None` for a process alone.
    pub allreduce: Option<AllreduceTiming>,
    pub memory: LoadCheck,
}

/// The length of the vector to add up when no data say how many labels there are.
const DEFAULT_LABELS: usize = 100_000;

/// Seconds for each of the two exchanges.
const EXCHANGE_SECONDS: f64 = 0.25;

/// Looks and measures, in less than three seconds or so. Rank 0 gets the job; every rank gets the error that
/// loading the data would end with, if it would. Collective.
pub fn examine(world: &World, request: &ExamineRequest<'_>) -> (Option<JobReport>, Option<Error>) {
    let (plan, problem) = match request
        .load
        .map(|load| plan_load(world, load, ExtraMemory::for_fitting(load.labels.is_some())))
    {
        None => (None, None),
        Some(Ok(plan)) => (Some(plan), None),
        Some(Err(error)) => (None, Some(error)),
    };
    let nodes = world.nodes();
    let labels = plan.as_ref().map_or(DEFAULT_LABELS, |plan| plan.labels as usize);
    let allreduce = (world.size() > 1).then(|| time_allreduce(world, labels, EXCHANGE_SECONDS));
    let ranks = world.gather_json(&examine_rank(world, request, &nodes));
    let memory = match (plan, &problem) {
        (Some(plan), _) => LoadCheck::Fits(plan),
        (None, Some(error)) => LoadCheck::Refused(error.to_string()),
        (None, None) => LoadCheck::NotRequested,
    };
    (ranks.map(|ranks| JobReport { nodes, ranks, allreduce, memory }), problem)
}

fn examine_rank(world: &World, request: &ExamineRequest<'_>, nodes: &Nodes) -> RankReport {
    let root = Path::new("/");
    let processors = Processors::detect(root);
    let memory_limits = memory_limits();
    let beside = nodes.same_node_ranks(world.rank()).len();
    let bytes = bytes_to_read(&processors, &memory_limits) / beside;
    let meet = || {
        world.gather_to_all(0);
    };
    let read = read_bandwidth_synchronised(request.threads.count, bytes, READ_ROUNDS, meet);
    let mut files: Vec<SeenPath> = data_files(request).iter().map(|path| SeenPath::data(path)).collect();
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

/// Often enough that it matters little when one rank begins a little later.
const READ_ROUNDS: usize = 8;

/// Bytes for all ranks of a node: more than its caches hold, but a small part of what is free.
fn bytes_to_read(processors: &Processors, memory_limits: &[MemoryLimit]) -> usize {
    let wanted = (4 * processors.cache_bytes).clamp(128 << 20, 2 << 30);
    let free = memory_limits.iter().map(|room| room.available).min().unwrap_or(u64::MAX);
    wanted.min(free / 8) as usize
}

fn data_files(request: &ExamineRequest<'_>) -> Vec<PathBuf> {
    let Some(load) = request.load else { return Vec::new() };
    let mut files = vec![load.marginals.file.clone()];
    files.extend(
        load.labels.iter().map(|labels| labels.file.clone()).filter(|file| *file != load.marginals.file),
    );
    files
}

impl RankReport {
    /// The limit that leaves least to this rank and those it shares it with.
    pub fn tightest_limit(&self) -> Option<&MemoryLimit> {
        self.memory_limits
            .iter()
            .filter(|room| !matches!(room.source, LimitSource::Process { .. }))
            .min_by_key(|room| room.available)
    }
}
