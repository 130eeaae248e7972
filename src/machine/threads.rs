//! How many threads a rank computes with, and why.

use std::error::Error;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Place, Processors, Share, share};
use crate::error::{Result, usage};
use crate::world::World;

/// The threads of a rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threads {
    pub count: usize,
    pub reason: Reason,
    /// What was asked for otherwise and not done.
    pub remarks: Vec<Remark>,
}

/// Where the number comes from; a later one counts only when there is none before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reason {
    /// `--threads`.
    Option,
    /// A variable of the scheduler or the user.
    Variable(String),
    /// This rank's share of the processors it may run on.
    Share { share: Share, processors: usize, bound: bool },
}

/// Something about threads that the user should know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Remark {
    /// A variable that holds no number of threads.
    NotANumber { variable: String, value: String },
    /// Set, but by no job that this process is in.
    NoJob { variable: String },
    /// More threads than processors to run them on.
    TooMany { variable: String, asked: usize, processors: usize },
}

const SLURM: &str = "SLURM_CPUS_PER_TASK";
const OPEN_MP: &str = "OMP_NUM_THREADS";

/// Starts the threads of this rank: as many as `asked` for (`--threads`), or as [`Reason`] has it. Collective,
/// because ranks of a node share its processors.
pub fn start_threads(world: &World, asked: Option<usize>) -> Result<Threads> {
    let processors = Processors::find(Path::new("/"));
    let places = world.tell_root(&Place::from(&processors));
    let places: Vec<Place> = world.tell_all(places);
    let share = share(world.rank(), &places, &world.nodes());
    let variable = |name: &str| std::env::var(name).ok();
    let threads = world.agree(choose(asked, variable, &processors, share))?;
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
pub(super) fn choose(
    asked: Option<usize>,
    variable: impl Fn(&str) -> Option<String>,
    processors: &Processors,
    share: Share,
) -> Result<Threads> {
    match asked {
        Some(0) => return usage("--threads is 0, but at least one thread must work"),
        Some(count) => return Ok(Threads { count, reason: Reason::Option, remarks: Vec::new() }),
        None => (),
    }
    let mut remarks = Vec::new();
    let allowed = processors.allowed.len();
    for name in [SLURM, OPEN_MP] {
        let Some(value) = variable(name).filter(|value| !value.trim().is_empty()) else { continue };
        if name == SLURM && variable("SLURM_JOB_ID").is_none() {
            remarks.push(Remark::NoJob { variable: name.into() });
            continue;
        }
        // OpenMP takes a number for each level of nesting: 4,2.
        let first = value.split(',').next().unwrap_or_default().trim();
        let Some(asked) = first.parse::<usize>().ok().filter(|&threads| threads > 0) else {
            remarks.push(Remark::NotANumber { variable: name.into(), value });
            continue;
        };
        if asked > allowed {
            remarks.push(Remark::TooMany { variable: name.into(), asked, processors: allowed });
        }
        return Ok(Threads { count: asked.min(allowed), reason: Reason::Variable(name.into()), remarks });
    }
    let bound = processors.is_bound();
    Ok(Threads { count: share.threads, reason: Reason::Share { share, processors: allowed, bound }, remarks })
}

/// After "2 threads a rank: ".
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        match self {
            Reason::Option => write!(f, "--threads"),
            Reason::Variable(name) => write!(f, "{name}"),
            Reason::Share { share: Share { quota: Some(quota), .. }, .. } => write!(
                f,
                "the rank's share of the time that the limit of the job or container leaves, that of {} \
                 processors",
                (quota * 100.0).round() / 100.0
            ),
            Reason::Share { share: Share { ranks: 1, .. }, processors, bound: true } => {
                write!(f, "the rank is bound to {processors} processor{}", plural(*processors))
            }
            Reason::Share { share: Share { ranks, .. }, processors, bound } => write!(
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

impl Remark {
    /// What is wrong, and what becomes of it.
    pub fn found(&self) -> String {
        match self {
            Remark::NotANumber { variable, value } => {
                let value = value.escape_debug();
                format!("{variable} is '{value}', but must be a whole number above 0; it is ignored")
            }
            Remark::NoJob { variable } => {
                format!("{variable} is set, but SLURM_JOB_ID is not; it is ignored outside a job")
            }
            Remark::TooMany { variable, asked, processors } => format!(
                "{variable} asks for {asked} threads, but this rank may run on {processors} processor{} only; it \
                 works with as many threads",
                if *processors == 1 { "" } else { "s" }
            ),
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> String {
        match self {
            Remark::NotANumber { variable, .. } => format!("set {variable} right, or unset it"),
            Remark::NoJob { variable } => format!("unset {variable}, or use --threads"),
            // Since 22.05 srun does not take the number over from sbatch.
            Remark::TooMany { variable, asked, .. } if variable == SLURM => {
                format!("tell srun too: srun --cpus-per-task={asked}; mpirun: --bind-to none")
            }
            Remark::TooMany { asked, .. } => {
                format!(
                    "bind the rank to more (srun --cpus-per-task={asked}; mpirun --bind-to none), or ask for fewer"
                )
            }
        }
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.found(), self.remedy())
    }
}
