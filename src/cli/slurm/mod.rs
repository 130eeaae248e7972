//! `macrok slurm`: writes a batch script for a command.

mod batch_command;
mod node_memory;

use std::path::PathBuf;

use serde_json::json;

use super::common::Context;
use super::values::{MustBe, within};
use crate::error::{Result, usage};
use crate::job::TimeLimit;
use crate::slurm::{JobRequest, Script, bundled_script, shell_line, shell_quoted};
use crate::store::StoreError;
use crate::store::write_text;
use crate::world::mpi_library;

use batch_command::BatchCommand;
use node_memory::NodeMemory;

/// Write a batch script for Slurm that runs a command on several nodes
///
/// The script requests the memory that the data need, starts and binds the ranks, and, if train, fit or run stops
/// early, requeues itself to resume. The command is checked now, not hours later when the job starts. For a command
/// without arguments (`-- fit`) the script takes them from sbatch.
#[derive(clap::Args)]
#[command(after_long_help = "\
Example:
  macrok synth big.h5
  macrok slurm --nodes 4 --time 2:00:00 --out fit.sbatch -- \\
    fit --marginals big.h5 --labels big.h5 -k 3 --out big-clf.h5
Then, on the cluster: sbatch fit.sbatch")]
pub(super) struct SlurmArgs {
    /// Number of nodes
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = within(1..=100_000u32))]
    nodes: u32,
    /// Ranks per node
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = within(1..=10_000u32))]
    tasks_per_node: u32,
    /// Threads per rank
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = within(1..=10_000u32))]
    cpus_per_task: u32,
    /// Time limit of the job, after which it is queued again
    #[arg(long, default_value = "2:00:00", value_name = "[D-]HH:MM:SS")]
    time: TimeLimit,
    /// Memory per node, such as 64G or 500M [default: what the data need plus a quarter; for train and marginals, the
    /// default of the site]
    #[arg(long, value_name = "SIZE")]
    mem: Option<NodeMemory>,
    /// Partition of the cluster
    #[arg(long, value_name = "NAME", value_parser = slurm_name)]
    partition: Option<String>,
    /// Account to charge
    #[arg(long, value_name = "NAME", value_parser = slurm_name)]
    account: Option<String>,
    /// Name of the job and its log [default: macrok-COMMAND]
    #[arg(long, value_name = "NAME", value_parser = slurm_name)]
    job_name: Option<String>,
    /// MPI plugin of srun [default: pmi2 for MPICH and Intel MPI, otherwise pmix]
    #[arg(long, value_name = "pmix|pmi2|...", value_parser = slurm_name)]
    mpi: Option<String>,
    /// Maximum number of times the job requeues itself
    #[arg(long, default_value_t = 20, value_name = "N")]
    restarts: u32,
    /// Module to load first; can be repeated
    #[arg(long, value_name = "NAME")]
    module: Vec<String>,
    /// Further option of sbatch, such as --sbatch=--qos=long; can be repeated
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true, value_parser = sbatch_option)]
    sbatch: Vec<String>,
    /// Script to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Command to run (train, marginals, fit, evaluate, predict or run) and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

pub(super) fn run(context: &Context<'_>, args: &SlurmArgs) -> Result<()> {
    let Context { world, console, overwrite, .. } = context;
    let out = args.out.as_ref().filter(|path| path.as_os_str() != "-");
    let (mut memory, mut needed, mut text) = (None, None, String::new());
    world.on_root(|| {
        let batch = BatchCommand::parse(&args.command)?;
        let needs = args.memory_per_rank(&batch)?;
        needed = needs.as_ref().map(|needs| needs.iter().fold(0, |sum: u64, need| sum.saturating_add(*need)));
        let script = args.script(batch, needs.as_deref());
        text = script.to_string();
        memory = script.request.memory;
        match out {
            Some(path) => Ok(write_text(path, *overwrite, &text)?),
            None => Ok(()),
        }
    })?;
    match out {
        Some(path) => {
            match &memory {
                Some(memory) => console.line(format_args!("memory per node: {memory}")),
                None => console.line("memory per node: unknown, so left to the site; set it with --mem"),
            }
            console.wrote(path);
            console
                .line(format_args!("submit it with: sbatch {}", shell_quoted(&path.display().to_string())));
        }
        None => console.result(text.trim_end()),
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
    /// The script, for ranks that need `needs` bytes each.
    fn script(&self, batch: BatchCommand, needs: Option<&[u64]>) -> Script {
        let data = needs.map(|needs| NodeMemory::for_node(needs, self.tasks_per_node as usize));
        let kind = batch.kind();
        let request = JobRequest {
            nodes: self.nodes,
            tasks_per_node: self.tasks_per_node,
            cpus_per_task: self.cpus_per_task,
            time: self.time,
            memory: self.mem.or(data).map(|size| size.to_string()),
            partition: self.partition.clone(),
            account: self.account.clone(),
            job_name: self.job_name.clone().unwrap_or(format!("macrok-{}", kind.name())),
            sbatch_options: self.sbatch.clone(),
            modules: self.module.clone(),
            mpi: self.mpi.clone().unwrap_or_else(|| default_mpi_plugin(&mpi_library()).into()),
            restarts: self.restarts,
        };
        match batch {
            BatchCommand::NameOnly(kind) => Script { request, ..bundled_script(kind) },
            BatchCommand::WithArguments { arguments, .. } => Script {
                header: self.header_comment(),
                kind,
                request,
                program: program_path(),
                arguments: Some(arguments),
            },
        }
    }

    /// Bytes that each rank needs; `None` with --mem, which makes looking at the data unnecessary.
    fn memory_per_rank(&self, batch: &BatchCommand) -> Result<Option<Vec<u64>>> {
        if self.mem.is_some() {
            return Ok(None);
        }
        let ranks = self.nodes as usize * self.tasks_per_node as usize;
        batch.memory_per_rank(ranks, self.cpus_per_task as usize).or_else(|error| {
            match error.downcast_ref::<StoreError>() {
                Some(error) => usage(format!(
                    "{error}; to write a script before its files exist, set the memory per node: --mem 64G"
                )),
                None => Err(error),
            }
        })
    }

    fn header_comment(&self) -> String {
        // A line break in a word would end the comment.
        let command = shell_line(&self.command).replace(['\n', '\r'], " ");
        format!(
            "Written by `macrok slurm` {} for\n\n  macrok {command}\n\n\
             Submit it with sbatch from the folder in which that line works: the job runs there and writes its log there.",
            env!("CARGO_PKG_VERSION")
        )
    }
}

/// The plugin of srun for the MPI library that macrok is built with.
fn default_mpi_plugin(library: &str) -> &'static str {
    if ["MPICH", "Intel", "MVAPICH"].iter().any(|name| library.contains(name)) { "pmi2" } else { "pmix" }
}

/// The path of this program: compute nodes see the same files, but their PATH may differ.
fn program_path() -> String {
    let path = std::env::current_exe().ok();
    path.and_then(|path| path.to_str().map(str::to_owned)).unwrap_or_else(|| "macrok".into())
}

/// Parses a value that is copied into a line for sbatch.
fn slurm_name(text: &str) -> std::result::Result<String, MustBe> {
    let fits = |c: char| c.is_alphanumeric() || "_-+=.,/:@%[]".contains(c);
    match !text.is_empty() && text.chars().all(fits) {
        true => Ok(text.to_owned()),
        false => Err(MustBe("a name of letters, digits and _-+=.,/:@%[]".into())),
    }
}

fn sbatch_option(text: &str) -> std::result::Result<String, MustBe> {
    match text.starts_with('-') && !text.contains(['\n', '\r']) {
        true => Ok(text.to_owned()),
        false => Err(MustBe("an option of sbatch, such as --qos=long".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugin_fits_the_mpi_library() {
        assert_eq!(default_mpi_plugin("Open MPI v4.1.4, package: Debian OpenMPI"), "pmix");
        assert_eq!(default_mpi_plugin("MPICH Version:\t4.0.2"), "pmi2");
        assert_eq!(default_mpi_plugin("Intel(R) MPI Library 2021.9 for Linux* OS"), "pmi2");
    }

    #[test]
    fn names_cannot_contain_lines() {
        for bad in ["a b", "", "x\n#SBATCH --nodes=9", "$(id)", "it's"] {
            assert!(slurm_name(bad).is_err(), "{bad}");
        }
        assert!(slurm_name("gpu:a[1-3]").is_ok());
        assert!(sbatch_option("qos=long").is_err() && sbatch_option("--qos=a\nrm").is_err());
        assert!(sbatch_option("-C a&b").is_ok());
    }
}
