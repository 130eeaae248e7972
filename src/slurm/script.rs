//! The text of a script.

use std::fmt::{self, Display};

use super::quote::shell_quoted;
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
        match self {
            ScriptKind::Train => "train",
            ScriptKind::Marginals => "marginals",
            ScriptKind::Fit => "fit",
            ScriptKind::Evaluate => "evaluate",
            ScriptKind::Predict => "predict",
            ScriptKind::Run => "run",
            ScriptKind::Sweep => "sweep",
        }
    }

    fn body(self) -> &'static str {
        match self {
            ScriptKind::Train | ScriptKind::Fit => FIT,
            ScriptKind::Marginals | ScriptKind::Evaluate | ScriptKind::Predict => SHORT,
            ScriptKind::Run => RUN,
            ScriptKind::Sweep => SWEEP,
        }
    }

    /// Whether the job can stop early and resume.
    fn resumes(self) -> bool {
        !matches!(self, ScriptKind::Marginals | ScriptKind::Evaluate | ScriptKind::Predict)
    }

    /// Whether the command has the option `--resume`; `run` resumes without it.
    pub fn takes_resume(self) -> bool {
        matches!(self, ScriptKind::Train | ScriptKind::Fit)
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
    /// Writes the lines that depend on the site or the job.
    fn write_editable_lines(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let JobRequest { nodes, tasks_per_node, cpus_per_task, time, job_name, .. } = &self.request;
        directive(f, format_args!("--job-name={job_name}"), "")?;
        directive(f, format_args!("--nodes={nodes}"), "")?;
        directive(
            f,
            format_args!("--ntasks-per-node={tasks_per_node}"),
            "ranks of a node; one a socket is usual",
        )?;
        directive(
            f,
            format_args!("--cpus-per-task={cpus_per_task}"),
            "threads of a rank: cores of a node / its ranks",
        )?;
        directive(f, format_args!("--time={time}"), "")?;
        optional(f, "--mem", self.request.memory.as_deref(), "64G", "memory of a node")?;
        optional(f, "--partition", self.request.partition.as_deref(), "NAME", "")?;
        optional(f, "--account", self.request.account.as_deref(), "NAME", "")?;
        self.request.sbatch_options.iter().try_for_each(|option| directive(f, format_args!("{option}"), ""))
    }

    fn write_fixed_lines(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind.resumes() {
            let before = warning_seconds(self.request.time);
            directive(
                f,
                format_args!("--signal=USR1@{before}"),
                "so many seconds before the end: a checkpoint",
            )?;
        }
        directive(f, format_args!("--requeue"), "")?;
        directive(f, format_args!("--open-mode=append"), "one log, also of a job that starts again")?;
        directive(
            f,
            format_args!("--output=%x-%j.out"),
            "a folder in this path must be there, or nothing runs",
        )
    }
}

/// Returns the seconds between the signal and the end: two minutes, or a quarter of a short job.
fn warning_seconds(TimeLimit(time): TimeLimit) -> u64 {
    (time.as_secs() / 4).min(120)
}

/// Writes a line for sbatch, with a note.
fn directive(f: &mut fmt::Formatter<'_>, option: impl Display, note: &str) -> fmt::Result {
    line_with_note(f, &format!("#SBATCH {option}"), note)
}

/// Writes a line for an option, or an example in a comment if it has no value.
fn optional(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    value: Option<&str>,
    example: &str,
    note: &str,
) -> fmt::Result {
    match value {
        Some(value) => directive(f, format_args!("{name}={value}"), note),
        None => line_with_note(f, &format!("##SBATCH {name}={example}"), note),
    }
}

fn line_with_note(f: &mut fmt::Formatter<'_>, line: &str, note: &str) -> fmt::Result {
    if note.is_empty() { writeln!(f, "{line}") } else { writeln!(f, "{line:<34}  # {note}") }
}

impl Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "#!/bin/bash")?;
        for line in self.header.lines() {
            writeln!(f, "{}", format!("# {line}").trim_end())?;
        }
        writeln!(f, "#\n# Lines to change, here or as options of sbatch:")?;
        self.write_editable_lines(f)?;
        writeln!(f, "# Lines to keep:")?;
        self.write_fixed_lines(f)?;
        match self.request.modules.as_slice() {
            [] => writeln!(
                f,
                "\n# module load openmpi hdf5   # what macrok was built with, where it is not found without"
            )?,
            modules => {
                let words: Vec<String> = modules.iter().map(|name| shell_quoted(name)).collect();
                writeln!(f, "\nmodule load {} || exit", words.join(" "))?;
            }
        }
        write!(
            f,
            "{}",
            LAUNCH.replace("@PROGRAM@", &shell_quoted(&self.program)).replace("@MPI@", &self.request.mpi)
        )?;
        if self.kind.resumes() {
            write!(f, "{}", FINISH.replace("@RESTARTS@", &self.request.restarts.to_string()))?;
        }
        if let Some(arguments) = &self.arguments {
            let words: Vec<String> = arguments.iter().map(|word| shell_quoted(word)).collect();
            writeln!(f, "\nset -- {}", words.join(" "))?;
        }
        write!(f, "{}", self.kind.body().replace("@COMMAND@", self.kind.name()))
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
