//! Every rank looks around and measures; rank 0 hears them all.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::files::Seen;
use crate::classifier::Kernel;
use crate::error::Error;
use crate::host::host_name;
use crate::load::{Extra, LoadOptions, Plan, plan_load};
use crate::machine::{Launcher, Processors, Settings, Threads};
use crate::memory::{Room, Source, rooms_here};
use crate::probe::{Allreduce, read_bandwidth_when, time_allreduce};
use crate::store::library_version;
use crate::world::{Nodes, World, library};

/// What the user wants to know about.
pub struct Asked<'a> {
    /// What a fit would load.
    pub load: Option<&'a LoadOptions>,
    /// Where it would write.
    pub folder: &'a Path,
    pub threads: &'a Threads,
}

/// What one rank found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    pub host: String,
    pub threads: Threads,
    pub processors: Processors,
    pub settings: Settings,
    pub launcher: Launcher,
    pub rooms: Vec<Room>,
    pub files: Vec<Seen>,
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
pub enum Memory {
    /// Nothing to load was named.
    NotAsked,
    Fits(Plan),
    /// Loading would end with this message.
    Refused(String),
}

/// All that is known about a job; on rank 0.
#[derive(Clone, Debug)]
pub struct Job {
    pub nodes: Nodes,
    /// Of each rank.
    pub ranks: Vec<Found>,
    /// `None` for a process alone.
    pub allreduce: Option<Allreduce>,
    pub memory: Memory,
}

/// The length of the vector to add up when no data say how many labels there are.
const SOME_LABELS: usize = 100_000;

/// Seconds for each of the two exchanges.
const EXCHANGE_SECONDS: f64 = 0.25;

/// Looks and measures, in less than three seconds or so. Rank 0 gets the job; every rank gets the error that
/// loading the data would end with, if it would. Collective.
pub fn examine(world: &World, asked: &Asked<'_>) -> (Option<Job>, Option<Error>) {
    let (plan, problem) =
        match asked.load.map(|load| plan_load(world, load, Extra::fitting(load.labels.is_some()))) {
            None => (None, None),
            Some(Ok(plan)) => (Some(plan), None),
            Some(Err(error)) => (None, Some(error)),
        };
    let nodes = world.nodes();
    let labels = plan.as_ref().map_or(SOME_LABELS, |plan| plan.labels as usize);
    let allreduce = (world.size() > 1).then(|| time_allreduce(world, labels, EXCHANGE_SECONDS));
    let ranks = world.tell_root(&found(world, asked, &nodes));
    let memory = match (plan, &problem) {
        (Some(plan), _) => Memory::Fits(plan),
        (None, Some(error)) => Memory::Refused(error.to_string()),
        (None, None) => Memory::NotAsked,
    };
    (ranks.map(|ranks| Job { nodes, ranks, allreduce, memory }), problem)
}

fn found(world: &World, asked: &Asked<'_>, nodes: &Nodes) -> Found {
    let root = Path::new("/");
    let processors = Processors::find(root);
    let rooms = rooms_here();
    let beside = nodes.beside(world.rank()).len();
    let bytes = bytes_to_read(&processors, &rooms) / beside;
    let meet = || {
        world.gather_to_all(0);
    };
    let read = read_bandwidth_when(asked.threads.count, bytes, ROUNDS, meet);
    let mut files: Vec<Seen> = data_files(asked).iter().map(|path| Seen::data(path)).collect();
    files.push(Seen::output(world, asked.folder));
    meet();
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
    Found {
        host: host_name(root),
        threads: asked.threads.clone(),
        processors,
        settings: Settings::find(root),
        launcher: Launcher::find(|name| std::env::var(name).ok()),
        rooms,
        files,
        kernel: Kernel::best().name().into(),
        mpi: library(),
        hdf5: library_version(),
        file_locking: std::env::var("HDF5_USE_FILE_LOCKING").ok(),
        clock,
        read: (ROUNDS as u64 * read.bytes, read.seconds),
    }
}

/// Often enough that it matters little when one rank begins a little later.
const ROUNDS: usize = 8;

/// Bytes for all ranks of a node: more than its caches hold, but a small part of what is free.
fn bytes_to_read(processors: &Processors, rooms: &[Room]) -> usize {
    let wanted = (4 * processors.cache_bytes).clamp(128 << 20, 2 << 30);
    let free = rooms.iter().map(|room| room.bytes).min().unwrap_or(u64::MAX);
    wanted.min(free / 8) as usize
}

fn data_files(asked: &Asked<'_>) -> Vec<PathBuf> {
    let Some(load) = asked.load else { return Vec::new() };
    let mut files = vec![load.marginals.file.clone()];
    files.extend(
        load.labels.iter().map(|labels| labels.file.clone()).filter(|file| *file != load.marginals.file),
    );
    files
}

impl Found {
    /// The limit that leaves least to this rank and those it shares it with.
    pub fn room(&self) -> Option<&Room> {
        self.rooms
            .iter()
            .filter(|room| !matches!(room.source, Source::Process { .. }))
            .min_by_key(|room| room.bytes)
    }
}
