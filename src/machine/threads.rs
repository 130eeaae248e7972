//! The number of threads of a rank, and its reason.

use std::error::Error;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{CpuShare, Processors, RankCpus, cpu_share};
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

/// A setting that was ignored or reduced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ThreadWarning {
    /// A variable that is not a number of threads.
    NotANumber { variable: String, value: String },
    /// A variable of Slurm outside a job.
    NoJob { variable: String },
    /// More threads than processors.
    TooMany { variable: String, requested: usize, processors: usize },
}

const SLURM: &str = "SLURM_CPUS_PER_TASK";
const OPEN_MP: &str = "OMP_NUM_THREADS";

/// Starts the threads of this rank: `requested` (`--threads`), or the number from the first [`ThreadCountSource`] that has one.
/// Collective, because ranks of a node share its processors.
pub fn start_threads(world: &World, requested: Option<usize>) -> Result<Threads> {
    let processors = Processors::detect(Path::new("/"));
    let places = world.gather_json(&RankCpus::from(&processors));
    let places: Vec<RankCpus> = world.broadcast_json(places);
    let share = cpu_share(world.rank(), &places, &world.nodes());
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
    let allowed = processors.allowed.len();
    for name in [SLURM, OPEN_MP] {
        let Some(value) = variable(name).filter(|value| !value.trim().is_empty()) else { continue };
        if name == SLURM && variable(SLURM_JOB_ID).is_none() {
            warnings.push(ThreadWarning::NoJob { variable: name.into() });
            continue;
        }
        // OpenMP accepts a number for each level of nesting: 4,2.
        let first = value.split(',').next().unwrap_or_default().trim();
        let Some(requested) = first.parse::<usize>().ok().filter(|&threads| threads > 0) else {
            warnings.push(ThreadWarning::NotANumber { variable: name.into(), value });
            continue;
        };
        if requested > allowed {
            warnings.push(ThreadWarning::TooMany { variable: name.into(), requested, processors: allowed });
        }
        return Ok(Threads {
            count: requested.min(allowed),
            reason: ThreadCountSource::Variable(name.into()),
            warnings,
        });
    }
    let bound = processors.is_bound();
    Ok(Threads {
        count: share.threads,
        reason: ThreadCountSource::Share { share, processors: allowed, bound },
        warnings,
    })
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

impl ThreadWarning {
    /// Returns what is wrong, and its consequence.
    pub fn problem(&self) -> String {
        match self {
            ThreadWarning::NotANumber { variable, value } => {
                let value = value.escape_debug();
                format!("{variable} is '{value}', but must be a whole number above 0; it is ignored")
            }
            ThreadWarning::NoJob { variable } => {
                format!("{variable} is set, but SLURM_JOB_ID is not; it is ignored outside a job")
            }
            ThreadWarning::TooMany { variable, requested, processors } => format!(
                "{variable} requests {requested} threads, but this rank may run on {} only; it uses as many threads",
                count_noun(*processors, "processor")
            ),
        }
    }

    /// Returns what to do.
    pub fn remedy(&self) -> String {
        match self {
            ThreadWarning::NotANumber { variable, .. } => format!("correct {variable}, or unset it"),
            ThreadWarning::NoJob { variable } => format!("unset {variable}, or use --threads"),
            // Since Slurm 22.05 srun does not inherit the number from sbatch.
            ThreadWarning::TooMany { variable, requested, .. } if variable == SLURM => {
                format!("pass it to srun too: srun --cpus-per-task={requested}; mpirun: --bind-to none")
            }
            ThreadWarning::TooMany { requested, .. } => {
                format!(
                    "bind the rank to more (srun --cpus-per-task={requested}; mpirun --bind-to none), or ask for fewer"
                )
            }
        }
    }
}

impl fmt::Display for ThreadWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.problem(), self.remedy())
    }
}
