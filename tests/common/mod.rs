//! Helpers of the integration tests: running the program, alone or as ranks, and making files for it.
#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod experiments;
pub mod files;
pub mod jobs;
pub mod many_labels;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Time limit of a run, so that a rank that waits for ever fails its test.
const LIMIT_SECONDS: u64 = 60;

/// Held while a program is started, and while a file is open for writing.
static STARTING: Mutex<()> = Mutex::new(());

/// Keeps other tests from starting programs, which would inherit files that are open.
fn alone() -> MutexGuard<'static, ()> {
    STARTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a program. Tests start all programs this way, so that none inherits a file that another test writes, and with it
/// HDF5's lock on the file.
pub fn start(command: &mut Command) -> io::Result<Child> {
    let _alone = alone();
    command.spawn()
}

/// Runs a program to its end.
pub fn output(command: &mut Command) -> io::Result<Output> {
    start(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()))?.wait_with_output()
}

/// A finished run of the program.
pub struct Ran {
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
    pub command: String,
}

impl Ran {
    /// Returns the run after checking that it succeeded.
    #[track_caller]
    pub fn ok(self) -> Ran {
        assert_eq!(self.status, Some(0), "{self}");
        self
    }

    /// Returns the lines of standard error that hold an error message of the program.
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

/// Returns the program under test: `MACROK_BIN` if set, so that programs built with another MPI, or with none, need no test
/// binary of their own.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        std::env::var_os("MACROK_BIN").map_or_else(|| env!("CARGO_BIN_EXE_macrok").into(), PathBuf::from)
    })
}

/// Runs `macrok` alone, in `folder`.
pub fn macrok(folder: &Path, args: &[&str]) -> Ran {
    macrok_with(folder, args, &[])
}

/// Runs `macrok` alone, in `folder`, with further environment variables.
pub fn macrok_with(folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = limited(LIMIT_SECONDS);
    command.arg(program()).args(args).current_dir(folder).envs(variables.iter().copied());
    run(command)
}

/// Runs `macrok` as `count` ranks, in `folder`; `None`, after a notice, without a [`launcher`].
pub fn ranks(count: usize, folder: &Path, args: &[&str]) -> Option<Ran> {
    ranks_with(count, folder, args, &[], LIMIT_SECONDS)
}

/// Runs `macrok` as `count` ranks with further environment variables, under a time limit in seconds.
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

/// Returns the start of a command line for `count` ranks, to be completed by arguments of the program.
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

/// Runs `macrok` as `count` ranks, without a launcher when `count` is 1.
pub fn on(count: usize, folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> Option<Ran> {
    match count {
        1 => Some(macrok_with(folder, args, variables)),
        _ => ranks_with(count, folder, args, variables, LIMIT_SECONDS),
    }
}

/// Returns the sorted names of the files in a folder.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Returns settings of Open MPI that let any user start many ranks on a small machine without a network.
pub fn open_mpi_variables() -> [(&'static str, &'static str); 6] {
    [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_pml", "ob1"),
        ("OMPI_MCA_btl", "self,vader,tcp"),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ("OMPI_MCA_mpi_yield_when_idle", "1"),
    ]
}

/// Returns a command that ends after `seconds` and inherits no variables of the job that runs the tests.
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
    let began = Instant::now();
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = start(&mut command).and_then(Child::wait_with_output);
    let output = output.unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let ran = Ran {
        status: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        took: began.elapsed(),
        command: format!("{command:?}"),
    };
    assert!(!matches!(ran.status, Some(124 | 137)), "it did not end in time:\n{ran}");
    ran
}

pub struct Launcher {
    pub path: String,
    pub is_open_mpi: bool,
}

/// Returns `mpirun`, or the launcher that MACROK_TEST_MPIRUN names. It is `None` for a program built without MPI (the value
/// `none`), and, after a notice, if there is no such launcher.
pub fn launcher() -> Option<&'static Launcher> {
    static FOUND: OnceLock<Option<Launcher>> = OnceLock::new();
    if !has_mpi() {
        return None;
    }
    let found = FOUND.get_or_init(|| {
        let path = launcher_name().unwrap_or_else(|| "mpirun".into());
        let output = output(Command::new(&path).arg("--version")).ok()?;
        let text = String::from_utf8_lossy(&output.stdout).to_lowercase();
        let is_open_mpi = ["open mpi", "open-mpi", "openrte"].iter().any(|name| text.contains(name));
        Some(Launcher { path, is_open_mpi })
    });
    if found.is_none() {
        missing("mpirun; name a launcher in MACROK_TEST_MPIRUN");
    }
    found.as_ref()
}

/// Whether the program under test is built with MPI.
pub fn has_mpi() -> bool {
    cfg!(feature = "mpi") && launcher_name().is_none_or(|name| name != "none")
}

fn launcher_name() -> Option<String> {
    std::env::var("MACROK_TEST_MPIRUN").ok()
}

/// Reports that something is not tested because `what` is not on this machine. A machine that sets `CI` must have everything,
/// so the test fails there.
pub fn missing(what: &str) {
    let in_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    assert!(!in_ci, "missing: {what} (CI is set, so no test may be skipped for that)");
    skipped(&format!("missing: {what}"));
}

/// Reports that something is not tested, even if the test passes: `eprintln!` would be captured.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: {why}");
}

/// Returns a file of the data sets next to the project; `None`, after a notice, if it is missing.
pub fn real_data(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(name);
    if !path.exists() {
        missing(&path.display().to_string());
        return None;
    }
    Some(path)
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("a path that is UTF-8")
}
