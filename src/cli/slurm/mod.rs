//! `macrok slurm`: a batch script for a command.

mod batch_command;
mod node_memory;

use std::path::PathBuf;

use serde_json::json;

use super::common::Context;
use crate::error::{Result, usage};
use crate::job::TimeLimit;
use crate::slurm::{JobRequest, Script, bundled_script, shell_quoted};
use crate::store::StoreError;
use crate::store::write_text;
use crate::world::mpi_library;

use batch_command::BatchCommand;
use node_memory::NodeMemory;

/// Write a batch script for Slurm that runs a command on several nodes
///
/// The script asks for the memory that the data need, starts the ranks and binds them, and when train,
/// fit or run had to stop early, it puts itself back into the queue and goes on. The command is checked
/// now, not hours later when the job starts. With nothing behind its name (`-- fit`) the script
/// takes its arguments from sbatch.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  macrok synth data.h5
  macrok slurm --nodes 4 --time 2:00:00 --out fit.sbatch -- \\
    fit --marginals data.h5 --labels data.h5 -k 3 --out clf.h5
Then, on the cluster: sbatch fit.sbatch")]
pub(super) struct SlurmArgs {
    /// Nodes
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    nodes: u32,
    /// Ranks of each node
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    tasks_per_node: u32,
    /// Threads of each rank
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    cpus_per_task: u32,
    /// How long the job may run before it waits in the queue again
    #[arg(long, default_value = "2:00:00", value_name = "[D-]HH:MM:SS")]
    time: TimeLimit,
    /// Memory of each node, as 64G or 500M [default: what the data need and a quarter on top; for train
    /// and marginals left to the site]
    #[arg(long, value_name = "SIZE")]
    mem: Option<NodeMemory>,
    /// Partition of the cluster
    #[arg(long, value_name = "NAME")]
    partition: Option<String>,
    /// Account to charge
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Name of the job, and of its log [default: macrok-COMMAND]
    #[arg(long, value_name = "NAME")]
    job_name: Option<String>,
    /// Plugin of srun that starts the ranks [default: pmi2 for MPICH and Intel MPI, otherwise pmix]
    #[arg(long, value_name = "pmix|pmi2|...")]
    mpi: Option<String>,
    /// How often the job may put itself back into the queue
    #[arg(long, default_value_t = 20, value_name = "N")]
    restarts: u32,
    /// A module to load first; may be given several times
    #[arg(long, value_name = "NAME")]
    module: Vec<String>,
    /// A further option of sbatch, as --sbatch=--qos=long; may be given several times
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    sbatch: Vec<String>,
    /// The script to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The command to run: train, marginals, fit, evaluate, predict or run, and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(super) fn run(context: &Context<'_>, args: &SlurmArgs) -> Result<()> {
    let Context { world, console, overwrite, .. } = context;
    let (mut memory, mut needed, mut text) = (None, None, String::new());
    world.on_root(|| {
        let batch = BatchCommand::parse(&args.command)?;
        let needs = args.memory_per_rank(&batch)?;
        needed = needs.as_ref().map(|needs| needs.iter().fold(0, |sum: u64, need| sum.saturating_add(*need)));
        let script = args.script(batch, needs.as_deref())?;
        text = script.to_string();
        memory = script.request.memory;
        match &args.out {
            Some(path) => Ok(write_text(path, *overwrite, &text)?),
            None => Ok(()),
        }
    })?;
    match &args.out {
        Some(path) => {
            match &memory {
                Some(memory) => console.line(format_args!("memory of a node: {memory}")),
                None => console.line("memory of a node: not known, so left to the site; say it with --mem"),
            }
            console.wrote(path);
            console.line(format_args!("submit it: sbatch {}", shell_quoted(&path.display().to_string())));
        }
        None => console.line(text.trim_end()),
    }
    console.json(world, || {
        json!({
            "nodes": args.nodes,
            "tasks_per_node": args.tasks_per_node,
            "cpus_per_task": args.cpus_per_task,
            "time": args.time.to_string(),
            "memory": memory,
            "memory_needed_bytes": needed,
            "command": args.command,
            "script": text,
        })
    })
}

impl SlurmArgs {
    /// The script, for ranks that need so many bytes each.
    fn script(&self, batch: BatchCommand, needs: Option<&[u64]>) -> Result<Script> {
        let data = needs.map(|needs| NodeMemory::for_node(needs, self.tasks_per_node as usize));
        let kind = batch.kind();
        let request = JobRequest {
            nodes: self.nodes,
            tasks_per_node: self.tasks_per_node,
            cpus_per_task: self.cpus_per_task,
            time: self.time,
            memory: self.mem.or(data).map(|size| size.to_string()),
            partition: check_slurm_name("--partition", self.partition.as_ref())?,
            account: check_slurm_name("--account", self.account.as_ref())?,
            job_name: check_slurm_name("--job-name", self.job_name.as_ref())?
                .unwrap_or(format!("macrok-{}", kind.name())),
            sbatch_options: self
                .sbatch
                .iter()
                .map(|option| check_sbatch_option(option))
                .collect::<Result<_>>()?,
            modules: self.module.clone(),
            mpi: check_slurm_name("--mpi", self.mpi.as_ref())?
                .unwrap_or_else(|| default_mpi_plugin(&mpi_library()).into()),
            restarts: self.restarts,
        };
        Ok(match batch {
            BatchCommand::NameOnly(kind) => Script { request, ..bundled_script(kind) },
            BatchCommand::WithArguments { arguments, .. } => Script {
                header: self.header_comment(),
                kind,
                request,
                program: program_path(),
                arguments: Some(arguments),
            },
        })
    }

    /// Bytes that each rank is going to need; not asked of data when it was said how much there is to be.
    fn memory_per_rank(&self, batch: &BatchCommand) -> Result<Option<Vec<u64>>> {
        if self.mem.is_some() {
            return Ok(None);
        }
        let ranks = self.nodes as usize * self.tasks_per_node as usize;
        batch.memory_per_rank(ranks, self.cpus_per_task as usize).or_else(|error| match error.downcast_ref::<StoreError>() {
            Some(error) => usage(format!(
                "{error}; to have a script before its files are there, say how much memory a node needs: --mem 64G"
            )),
            None => Err(error),
        })
    }

    fn header_comment(&self) -> String {
        let words: Vec<String> = self.command.iter().map(|word| shell_quoted(word)).collect();
        // A line break in a word would end the comment.
        let command = words.join(" ").replace(['\n', '\r'], " ");
        format!(
            "Written by `macrok slurm` {} for\n\n  macrok {command}\n\n\
             Submit it, by sbatch, from the folder in which that line works: the job runs there, and its log is there.",
            env!("CARGO_PKG_VERSION")
        )
    }
}

/// The plugin of srun that fits the MPI macrok is built with.
fn default_mpi_plugin(library: &str) -> &'static str {
    if ["MPICH", "Intel", "MVAPICH"].iter().any(|name| library.contains(name)) { "pmi2" } else { "pmix" }
}

/// Where this program is: compute nodes see the same files, but need not have the same PATH.
fn program_path() -> String {
    let path = std::env::current_exe().ok();
    path.and_then(|path| path.to_str().map(str::to_owned)).unwrap_or_else(|| "macrok".into())
}

/// A value that stands in a line for sbatch as it is.
fn check_slurm_name(name: &str, value: Option<&String>) -> Result<Option<String>> {
    let fits = |c: char| c.is_alphanumeric() || "_-+=.,/:@%[]".contains(c);
    match value {
        Some(value) if value.is_empty() || !value.chars().all(fits) => usage(format!(
            "{name} is `{}`, but a name for Slurm has letters, digits and _-+=.,/:@%[] only",
            value.escape_debug()
        )),
        _ => Ok(value.cloned()),
    }
}

fn check_sbatch_option(option: &str) -> Result<String> {
    if !option.starts_with('-') || option.contains(['\n', '\r']) {
        return usage(format!(
            "--sbatch is `{}`, but must be an option as sbatch takes it, such as --qos=long",
            option.escape_debug()
        ));
    }
    Ok(option.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plugin_is_that_of_the_mpi_library() {
        assert_eq!(default_mpi_plugin("Open MPI v4.1.4, package: Debian OpenMPI"), "pmix");
        assert_eq!(default_mpi_plugin("MPICH Version:\t4.0.2"), "pmi2");
        assert_eq!(default_mpi_plugin("Intel(R) MPI Library 2021.9 for Linux* OS"), "pmi2");
    }

    #[test]
    fn a_name_cannot_smuggle_in_a_line() {
        for bad in ["a b", "", "x\n#SBATCH --nodes=9", "$(id)", "it's"] {
            let error = check_slurm_name("--partition", Some(&bad.to_owned())).unwrap_err().to_string();
            assert!(error.starts_with("--partition is `"), "{error}");
        }
        assert!(
            check_sbatch_option("qos=long").is_err()
                && check_sbatch_option("--qos=a\nrm").is_err()
                && check_sbatch_option("-C a&b").is_ok()
        );
    }
}
