//! How many threads a rank computes with, and why.

use std::error::Error;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{CpuShare, Processors, RankCpus, cpu_share};
use crate::error::{Result, usage};
use crate::world::World;

/// The threads of a rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threads {
    pub count: usize,
    pub reason: ThreadCountSource,
    /// What was asked for otherwise and not done.
    pub warnings: Vec<ThreadWarning>,
}

/// Where the number comes from; a later one counts only when there is none before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ThreadCountSource {
    /// `--threads`.
    Option,
    /// A variable of the scheduler or the user.
    Variable(String),
    /// This rank's share of the processors it may run on.
    Share { share: CpuShare, processors: usize, bound: bool },
}

/// Something about threads that the user should know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ThreadWarning {
    /// A variable that holds no number of threads.
    NotANumber { variable: String, value: String },
    /// Set, but by no job that this process is in.
    NoJob { variable: String },
    /// More threads than processors to run them on.
    TooMany { variable: String, asked: usize, processors: usize },
}

const SLURM: &str = "SLURM_CPUS_PER_TASK";
const OPEN_MP: &str = "OMP_NUM_THREADS";

/// Starts the threads of this rank: as many as `asked` for (`--threads`), or as [`ThreadCountSource`] has it. Collective,
/// because ranks of a node share its processors.
pub fn start_threads(world: &World, asked: Option<usize>) -> Result<Threads> {
    let processors = Processors::detect(Path::new("/"));
    let places = world.gather_json(&RankCpus::from(&processors));
    let places: Vec<RankCpus> = world.broadcast_json(places);
    let share = cpu_share(world.rank(), &places, &world.nodes());
    let variable = |name: &str| std::env::var(name).ok();
    let threads = world.agree(choose_threads(asked, variable, &processors, share))?;
    let started = rayon::ThreadPoolBuilder::new().num_threads(threads.count).build_global();
    world.agree(match started {
        // Without a cause the pool is already there, which in tests is fine.
        Err(error) if error.source().is_some() => usage(format!(
            "cannot start {} threads: {error}; ask for fewer with --threads, or raise `ulimit -u`",
            threads.count
        )),
        _ => Ok(()),
    })?;
    tracing::debug!(rank = world.rank(), threads = threads.count, reason = %threads.reason, "threads");
    Ok(threads)
}

/// The decision, from what is known.
pub(super) fn choose_threads(
    asked: Option<usize>,
    variable: impl Fn(&str) -> Option<String>,
    processors: &Processors,
    share: CpuShare,
) -> Result<Threads> {
    match asked {
        Some(0) => return usage("--threads is 0, but at least one thread must work"),
        Some(count) => return Ok(Threads { count, reason: ThreadCountSource::Option, warnings: Vec::new() }),
        None => (),
    }
    let mut warnings = Vec::new();
    let allowed = processors.allowed.len();
    for name in [SLURM, OPEN_MP] {
        let Some(value) = variable(name).filter(|value| !value.trim().is_empty()) else { continue };
        if name == SLURM && variable("SLURM_JOB_ID").is_none() {
            warnings.push(ThreadWarning::NoJob { variable: name.into() });
            continue;
        }
        // OpenMP takes a number for each level of nesting: 4,2.
        let first = value.split(',').next().unwrap_or_default().trim();
        let Some(asked) = first.parse::<usize>().ok().filter(|&threads| threads > 0) else {
            warnings.push(ThreadWarning::NotANumber { variable: name.into(), value });
            continue;
        };
        if asked > allowed {
            warnings.push(ThreadWarning::TooMany { variable: name.into(), asked, processors: allowed });
        }
        return Ok(Threads {
            count: asked.min(allowed),
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

/// After "2 threads a rank: ".
impl fmt::Display for ThreadCountSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        match self {
            ThreadCountSource::Option => write!(f, "--threads"),
            ThreadCountSource::Variable(name) => write!(f, "{name}"),
            ThreadCountSource::Share { share: CpuShare { quota: Some(quota), .. }, .. } => write!(
                f,
                "the rank's share of the time that the limit of the job or container leaves, that of {} \
                 processors",
                (quota * 100.0).round() / 100.0
            ),
            ThreadCountSource::Share { share: CpuShare { ranks: 1, .. }, processors, bound: true } => {
                write!(f, "the rank is bound to {processors} processor{}", plural(*processors))
            }
            ThreadCountSource::Share { share: CpuShare { ranks, .. }, processors, bound } => write!(
                f,
                "the rank's share of {processors} processor{} {} {ranks} rank{} {}",
                plural(*processors),
                if *bound { "that" } else { "with" },
                plural(*ranks),
                if *bound { "are bound to" } else { "here" }
            ),
        }
    }
}

impl ThreadWarning {
    /// What is wrong, and what becomes of it.
    pub fn problem(&self) -> String {
        match self {
            ThreadWarning::NotANumber { variable, value } => {
                let value = value.escape_debug();
                format!("{variable} is '{value}', but must be a whole number above 0; it is ignored")
            }
            ThreadWarning::NoJob { variable } => {
                format!("{variable} is set, but SLURM_JOB_ID is not; it is ignored outside a job")
            }
            ThreadWarning::TooMany { variable, asked, processors } => format!(
                "{variable} asks for {asked} threads, but this rank may run on {processors} processor{} only; it \
                 works with as many threads",
                if *processors == 1 { "" } else { "s" }
            ),
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> String {
        match self {
            ThreadWarning::NotANumber { variable, .. } => format!("set {variable} right, or unset it"),
            ThreadWarning::NoJob { variable } => format!("unset {variable}, or use --threads"),
            // Since 22.05 srun does not take the number over from sbatch.
            ThreadWarning::TooMany { variable, asked, .. } if variable == SLURM => {
                format!("tell srun too: srun --cpus-per-task={asked}; mpirun: --bind-to none")
            }
            ThreadWarning::TooMany { asked, .. } => {
                format!(
                    "bind the rank to more (srun --cpus-per-task={asked}; mpirun --bind-to none), or ask for fewer"
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
