//! The number of threads of a rank, and its reason.

use std::error::Error;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{CpuShare, Processors, cpu_share};
use crate::error::{Result, usage};
use crate::format::count_noun;
use crate::world::{SLURM_JOB_ID, World};

/// The threads of a rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threads {
    pub count: usize,
    pub reason: ThreadCountSource,
    /// Settings that were ignored or reduced.
    pub warnings: Vec<ThreadWarning>,
}

/// The source of the number; an earlier variant precedes a later one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ThreadCountSource {
    /// `--threads`.
    Option,
    /// An environment variable of the scheduler or the user.
    Variable(String),
    /// The rank's share of the processors it may run on.
    Share { share: CpuShare, processors: usize, bound: bool },
}

/// A setting that was ignored or reduced, and what to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreadWarning {
    pub problem: String,
    pub remedy: String,
}

const SLURM: &str = "SLURM_CPUS_PER_TASK";
const OPEN_MP: &str = "OMP_NUM_THREADS";

/// Starts the threads of this rank: `requested` (`--threads`), or the number from the first [`ThreadCountSource`] that has one.
/// Collective, because ranks of a node share its processors.
pub fn start_threads(world: &World, requested: Option<usize>) -> Result<Threads> {
    let processors = Processors::detect(Path::new("/"));
    let ranks: Vec<Processors> = world.broadcast_json(world.gather_json(&processors));
    let share = cpu_share(world.rank(), &ranks, &world.nodes());
    let variable = |name: &str| std::env::var(name).ok();
    let threads = world.agree(choose_threads(requested, variable, &processors, share))?;
    let started = rayon::ThreadPoolBuilder::new().num_threads(threads.count).build_global();
    world.agree(match started {
        // An error without a cause means that the pool exists already, as in tests.
        Err(error) if error.source().is_some() => usage(format!(
            "cannot start {} threads: {error}; ask for fewer with --threads, or raise `ulimit -u`",
            threads.count
        )),
        _ => Ok(()),
    })?;
    tracing::debug!(rank = world.rank(), threads = threads.count, reason = %threads.reason, "threads");
    Ok(threads)
}

/// Chooses the number of threads.
pub(super) fn choose_threads(
    requested: Option<usize>,
    variable: impl Fn(&str) -> Option<String>,
    processors: &Processors,
    share: CpuShare,
) -> Result<Threads> {
    match requested {
        Some(0) => return usage("--threads is 0, but must be at least 1"),
        Some(count) => return Ok(Threads { count, reason: ThreadCountSource::Option, warnings: Vec::new() }),
        None => (),
    }
    let mut warnings = Vec::new();
    let mut warn = |problem, remedy| warnings.push(ThreadWarning { problem, remedy });
    let allowed = processors.allowed.len();
    let mut chosen = None;
    for name in [SLURM, OPEN_MP] {
        let Some(value) = variable(name).filter(|value| !value.trim().is_empty()) else { continue };
        if name == SLURM && variable(SLURM_JOB_ID).is_none() {
            let problem = format!("{name} is set, but {SLURM_JOB_ID} is not; it is ignored outside a job");
            warn(problem, format!("unset {name}, or use --threads"));
            continue;
        }
        // OpenMP accepts a number for each level of nesting: 4,2.
        let first = value.split(',').next().unwrap_or_default().trim();
        let Some(count) = first.parse::<usize>().ok().filter(|&threads| threads > 0) else {
            let value = value.escape_debug();
            let problem = format!("{name} is '{value}', but must be a whole number above 0; it is ignored");
            warn(problem, format!("correct {name}, or unset it"));
            continue;
        };
        if count > allowed {
            let processors = count_noun(allowed, "processor");
            let problem =
                format!("{name} is {count}, but this rank may run on {processors} only; it uses all of them");
            // Since Slurm 22.05 srun does not inherit the number from sbatch.
            let remedy =
                if name == SLURM { "pass it to srun too" } else { "lower it, or bind the rank to more" };
            warn(problem, format!("{remedy}: srun --cpus-per-task={count}; mpirun --bind-to none"));
        }
        chosen = Some((count.min(allowed), ThreadCountSource::Variable(name.into())));
        break;
    }
    let (count, reason) = chosen.unwrap_or_else(|| {
        let bound = processors.is_bound();
        (share.threads, ThreadCountSource::Share { share, processors: allowed, bound })
    });
    Ok(Threads { count, reason, warnings })
}

/// Follows "2 threads a rank: ".
impl fmt::Display for ThreadCountSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThreadCountSource::Option => write!(f, "--threads"),
            ThreadCountSource::Variable(name) => write!(f, "{name}"),
            ThreadCountSource::Share { share: CpuShare { quota: Some(quota), .. }, .. } => write!(
                f,
                "the rank's share of the processor time that the job or container may use, that of {} \
                 processors",
                (quota * 100.0).round() / 100.0
            ),
            ThreadCountSource::Share { share: CpuShare { ranks: 1, .. }, processors, bound: true } => {
                write!(f, "the rank is bound to {}", count_noun(*processors, "processor"))
            }
            ThreadCountSource::Share { share: CpuShare { ranks, .. }, processors, bound } => write!(
                f,
                "the rank's share of {} {} {} {}",
                count_noun(*processors, "processor"),
                if *bound { "that" } else { "with" },
                count_noun(*ranks, "rank"),
                if *bound { "are bound to" } else { "here" }
            ),
        }
    }
}

impl fmt::Display for ThreadWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.problem, self.remedy)
    }
}
