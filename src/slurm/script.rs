//! The text of a script.

use std::fmt::{self, Display};

use super::quote::{shell_line, shell_quoted};
use crate::job::TimeLimit;

const LAUNCH: &str = include_str!("parts/launch.sh");
const FINISH: &str = include_str!("parts/finish.sh");
const FIT: &str = include_str!("parts/fit.sh");
const SHORT: &str = include_str!("parts/short.sh");
const RUN: &str = include_str!("parts/run.sh");
const SWEEP: &str = include_str!("parts/sweep.sh");

/// The resources to request from Slurm.
#[derive(Clone, Debug)]
pub struct JobRequest {
    pub nodes: u32,
    pub tasks_per_node: u32,
    pub cpus_per_task: u32,
    pub time: TimeLimit,
    /// Memory of a node, as for `sbatch --mem`; `None` for the default of the site.
    pub memory: Option<String>,
    pub partition: Option<String>,
    pub account: Option<String>,
    pub job_name: String,
    /// Further options of `sbatch`, one a line.
    pub sbatch_options: Vec<String>,
    /// Modules to load before macrok starts.
    pub modules: Vec<String>,
    /// The plugin that starts the ranks: `srun --mpi`.
    pub mpi: String,
    pub restarts: u32,
}

/// The work of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptKind {
    Train,
    Marginals,
    Fit,
    Evaluate,
    Predict,
    Run,
    /// Fits of several metrics and k as a job array, and a table of them.
    Sweep,
}

impl ScriptKind {
    /// Scripts that run one command of macrok.
    pub const COMMANDS: [ScriptKind; 6] = [
        ScriptKind::Train,
        ScriptKind::Marginals,
        ScriptKind::Fit,
        ScriptKind::Evaluate,
        ScriptKind::Predict,
        ScriptKind::Run,
    ];

    pub fn name(self) -> &'static str {
        self.name_and_body().0
    }

    fn name_and_body(self) -> (&'static str, &'static str) {
        match self {
            ScriptKind::Train => ("train", FIT),
            ScriptKind::Marginals => ("marginals", SHORT),
            ScriptKind::Fit => ("fit", FIT),
            ScriptKind::Evaluate => ("evaluate", SHORT),
            ScriptKind::Predict => ("predict", SHORT),
            ScriptKind::Run => ("run", RUN),
            ScriptKind::Sweep => ("sweep", SWEEP),
        }
    }

    /// Whether the job can stop early and resume.
    fn resumes(self) -> bool {
        self.name_and_body().1 != SHORT
    }

    /// Whether the command has the option `--resume`; `run` resumes without it.
    pub fn takes_resume(self) -> bool {
        self.name_and_body().1 == FIT
    }
}

/// A batch script; its `Display` is the text.
#[derive(Clone, Debug)]
pub struct Script {
    /// The comment at the top.
    pub header: String,
    pub kind: ScriptKind,
    pub request: JobRequest,
    /// The program's path on the nodes.
    pub program: String,
    /// Arguments of the command; `None` for those of the script.
    pub arguments: Option<Vec<String>>,
}

impl Script {
    /// Returns the lines that depend on the site or the job, each with a note.
    fn editable_lines(&self) -> Vec<(String, &'static str)> {
        let JobRequest { nodes, tasks_per_node, cpus_per_task, time, job_name, .. } = &self.request;
        let JobRequest { memory, partition, account, sbatch_options, .. } = &self.request;
        // An option without a value becomes an example in a comment.
        let optional = |name: &str, value: &Option<String>, example: &str| match value {
            Some(value) => directive(format_args!("{name}={value}")),
            None => format!("##SBATCH {name}={example}"),
        };
        let mut lines = vec![
            (directive(format_args!("--job-name={job_name}")), ""),
            (directive(format_args!("--nodes={nodes}")), ""),
            (
                directive(format_args!("--ntasks-per-node={tasks_per_node}")),
                "ranks per node; usually one per socket",
            ),
            (
                directive(format_args!("--cpus-per-task={cpus_per_task}")),
                "threads per rank: cores of a node / its ranks",
            ),
            (directive(format_args!("--time={time}")), ""),
            (optional("--mem", memory, "64G"), "memory of a node"),
            (optional("--partition", partition, "NAME"), ""),
            (optional("--account", account, "NAME"), ""),
        ];
        lines.extend(sbatch_options.iter().map(|option| (directive(option), "")));
        lines
    }

    /// Returns the lines that macrok relies on, each with a note.
    fn fixed_lines(&self) -> Vec<(String, &'static str)> {
        let signal = format!("--signal=USR1@{}", warning_seconds(self.request.time));
        let signal = (directive(signal), "seconds before the end at which a checkpoint is written");
        let others = [
            ("--requeue", ""),
            ("--open-mode=append", "one log, also after a restart"),
            ("--output=%x-%j.out", "a folder in this path must exist, or nothing runs"),
        ];
        let others = others.map(|(option, note)| (directive(option), note));
        self.kind.resumes().then_some(signal).into_iter().chain(others).collect()
    }
}

/// Returns the seconds between the signal and the end: two minutes, or a quarter of a short job.
fn warning_seconds(TimeLimit(time): TimeLimit) -> u64 {
    (time.as_secs() / 4).min(120)
}

fn directive(option: impl Display) -> String {
    format!("#SBATCH {option}")
}

fn write_lines(f: &mut fmt::Formatter<'_>, lines: &[(String, &str)]) -> fmt::Result {
    lines.iter().try_for_each(|(line, note)| match *note {
        "" => writeln!(f, "{line}"),
        note => writeln!(f, "{line:<34}  # {note}"),
    })
}

impl Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "#!/bin/bash")?;
        for line in self.header.lines() {
            writeln!(f, "{}", format!("# {line}").trim_end())?;
        }
        writeln!(f, "#\n# Lines to change, here or as options of sbatch:")?;
        write_lines(f, &self.editable_lines())?;
        writeln!(f, "# Lines to keep:")?;
        write_lines(f, &self.fixed_lines())?;
        match self.request.modules.as_slice() {
            [] => writeln!(
                f,
                "\n# module load openmpi hdf5   # the modules that macrok was built with, if needed"
            )?,
            modules => writeln!(f, "\nmodule load {} || exit", shell_line(modules))?,
        }
        let program = shell_quoted(&self.program);
        write!(f, "{}", LAUNCH.replace("@PROGRAM@", &program).replace("@MPI@", &self.request.mpi))?;
        if self.kind.resumes() {
            write!(f, "{}", FINISH.replace("@RESTARTS@", &self.request.restarts.to_string()))?;
        }
        if let Some(arguments) = &self.arguments {
            writeln!(f, "\nset -- {}", shell_line(arguments))?;
        }
        let (name, body) = self.kind.name_and_body();
        write!(f, "{}", body.replace("@COMMAND@", name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_job_gets_its_signal_after_most_of_its_time() {
        for (text, seconds) in [("2:00:00", 120), ("4", 60), ("1", 15)] {
            assert_eq!(text.parse().map(warning_seconds), Ok(seconds));
        }
    }
}
