//! What the integration tests share: running the program, alone or under ranks, and files for it.
#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod experiments;
pub mod files;
pub mod jobs;
pub mod many_labels;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// No run of a test may take longer: a rank that waits for ever is a failure, not a long test.
const LIMIT_SECONDS: u64 = 60;

/// Held while a program is started, and while a file is open for writing.
pub static STARTING: Mutex<()> = Mutex::new(());

/// What a run of the program left.
pub struct Ran {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
    pub command: String,
}

impl Ran {
    /// The run, which must have succeeded.
    #[track_caller]
    pub fn ok(self) -> Ran {
        assert_eq!(self.status, Some(0), "{self}");
        self
    }

    /// Lines of standard error with the program's own error message.
    pub fn errors(&self) -> Vec<&str> {
        self.stderr.lines().filter(|line| line.contains("macrok: error:")).collect()
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Ran { status, stdout, stderr, took, command } = self;
        writeln!(f, "{command}\nexit status {status:?} after {took:?}")?;
        write!(f, "--- standard output\n{stdout}--- standard error\n{stderr}")
    }
}

pub fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_macrok"))
}

/// Runs `macrok` alone, in `folder`.
pub fn macrok(folder: &Path, args: &[&str]) -> Ran {
    macrok_with(folder, args, &[])
}

/// The same with further environment variables.
pub fn macrok_with(folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = limited(LIMIT_SECONDS);
    command.arg(program()).args(args).current_dir(folder).envs(variables.iter().copied());
    run(command)
}

/// Runs `macrok` as `count` ranks, in `folder`; `None`, said aloud, where there is no launcher.
pub fn ranks(count: usize, folder: &Path, args: &[&str]) -> Option<Ran> {
    ranks_with(count, folder, args, &[], LIMIT_SECONDS)
}

/// The same with further environment variables, under a time limit in seconds.
pub fn ranks_with(
    count: usize,
    folder: &Path,
    args: &[&str],
    variables: &[(&str, &str)],
    limit: u64,
) -> Option<Ran> {
    let mut command = rank_command(count, limit)?;
    command.args(args).current_dir(folder).envs(variables.iter().copied());
    Some(run(command))
}

/// The beginning of a command line that starts `count` ranks; arguments of the program follow.
pub fn rank_command(count: usize, limit: u64) -> Option<Command> {
    let launcher = launcher()?;
    let mut command = limited(limit);
    command.arg(&launcher.path);
    if launcher.is_open_mpi {
        command.arg("--oversubscribe");
    }
    command.args(["-n", &count.to_string()]).arg(program()).envs(open_mpi_variables());
    Some(command)
}

/// Runs `macrok` alone for 1, otherwise as that many ranks.
pub fn on(count: usize, folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> Option<Ran> {
    match count {
        1 => Some(macrok_with(folder, args, variables)),
        _ => ranks_with(count, folder, args, variables, LIMIT_SECONDS),
    }
}

/// The files of a folder.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Settings of Open MPI that let many ranks start as any user on a small machine without a network.
pub fn open_mpi_variables() -> [(&'static str, &'static str); 5] {
    [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_pml", "ob1"),
        ("OMPI_MCA_btl", "self,vader,tcp"),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ]
}

/// A command that ends after `seconds`, and whose environment is that of no other job.
pub fn limited(seconds: u64) -> Command {
    let mut command = Command::new("timeout");
    command.args(["-k", "5", &seconds.to_string()]);
    let outer = ["OMPI_", "PMIX_", "PMI_", "SLURM_", "HYDRA_", "MPI_", "MV2_", "PALS_", "MPIRUN_", "I_MPI_"];
    for (name, _) in std::env::vars_os() {
        if outer.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command.env_remove("OMP_NUM_THREADS").env_remove("RUST_BACKTRACE").stdin(Stdio::null());
    command
}

pub fn run(mut command: Command) -> Ran {
    let start = Instant::now();
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let alone = STARTING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let child = command.spawn();
    drop(alone);
    let output = child.and_then(|child| child.wait_with_output());
    let output = output.unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let ran = Ran {
        status: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        took: start.elapsed(),
        command: format!("{command:?}"),
    };
    assert!(!matches!(ran.status, Some(124 | 137)), "it did not end in time:\n{ran}");
    ran
}

pub struct Launcher {
    pub path: String,
    pub is_open_mpi: bool,
}

/// `mpirun`, or what MACROK_TEST_MPIRUN names. Where there is none, that is said.
pub fn launcher() -> Option<&'static Launcher> {
    static FOUND: OnceLock<Option<Launcher>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let path = std::env::var("MACROK_TEST_MPIRUN").unwrap_or_else(|_| "mpirun".into());
        let _alone = STARTING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let output = Command::new(&path).arg("--version").stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).to_lowercase();
        let is_open_mpi = ["open mpi", "open-mpi", "openrte"].iter().any(|name| text.contains(name));
        Some(Launcher { path, is_open_mpi })
    });
    if found.is_none() {
        skipped("no mpirun here; name a launcher in MACROK_TEST_MPIRUN");
    }
    found.as_ref()
}

/// Says that something was not tested. Not by `eprintln!`, which a passing test keeps to itself.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: {why}");
}

/// A file of the data sets beside the project; `None`, said aloud, where they are not.
pub fn real_data(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(name);
    if !path.exists() {
        skipped(&format!("{} is not there", path.display()));
        return None;
    }
    Some(path)
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("a path that is UTF-8")
}
