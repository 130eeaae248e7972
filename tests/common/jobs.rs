//! Jobs that a test watches, signals or kills while they run.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{LIMIT_SECONDS, Ran, limited, output, program, rank_command, start};

/// Time limit of everything that a test waits for.
const PATIENCE: Duration = Duration::from_secs(40);

/// A running job, of one process or of several ranks.
pub struct Job {
    child: Child,
    token: String,
    files: PathBuf,
    start: Instant,
    command: String,
}

impl Job {
    /// Starts `macrok` in `folder` as `count` ranks, without a launcher when `count` is 1; `None`, after a notice, if there
    /// is no launcher.
    pub fn start(count: usize, folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> Option<Job> {
        let mut command = match count {
            1 => {
                let mut command = limited(LIMIT_SECONDS);
                command.arg(program());
                command
            }
            _ => rank_command(count, LIMIT_SECONDS)?,
        };
        command.args(args).current_dir(folder).envs(variables.iter().copied());
        Some(Job::spawn(command))
    }

    /// Runs any command line that starts the program.
    pub fn spawn(mut command: Command) -> Job {
        static STARTED: AtomicUsize = AtomicUsize::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let token = format!("{}-{number}", std::process::id());
        let files = std::env::temp_dir().join(format!("macrok-test-job-{token}"));
        command.env("MACROK_TEST_JOB", &token);
        // Unlike pipes, files can be read while the job runs.
        command.stdout(File::create(files.with_extension("out")).unwrap());
        command.stderr(File::create(files.with_extension("err")).unwrap());
        let child = start(&mut command).unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
        Job { child, token, files, start: Instant::now(), command: format!("{command:?}") }
    }

    /// Waits until `happened`.
    #[track_caller]
    pub fn when(&mut self, what: &str, mut happened: impl FnMut() -> bool) {
        let start = Instant::now();
        while !happened() {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "the job ended ({ended:?}) before {what}:\n{}", self.output());
            assert!(start.elapsed() < PATIENCE, "timed out waiting for {what}:\n{}", self.output());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Repeats `act` until the job has ended.
    #[track_caller]
    pub fn until_ended(&mut self, mut act: impl FnMut(&Job)) {
        let start = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < PATIENCE, "the job did not end:\n{}", self.output());
            act(self);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the job has written `text` to its standard output or error.
    #[track_caller]
    pub fn when_said(&mut self, text: &str) {
        let files = self.files.clone();
        self.when(text, || read(&files, "out").contains(text) || read(&files, "err").contains(text));
    }

    /// Returns rank and process number of every running rank.
    pub fn processes(&self) -> Vec<(usize, u32)> {
        let mark = format!("MACROK_TEST_JOB={}", self.token);
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let is_ours = fs::read_link(entry.path().join("exe"))
                .is_ok_and(|exe| program().canonicalize().is_ok_and(|ours| exe == ours));
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            let variables: Vec<String> = environment
                .split(|&byte| byte == 0)
                .map(|text| String::from_utf8_lossy(text).into())
                .collect();
            if !is_ours || !variables.contains(&mark) {
                continue;
            }
            let rank = ["OMPI_COMM_WORLD_RANK=", "PMI_RANK="]
                .iter()
                .find_map(|name| variables.iter().find_map(|text| text.strip_prefix(name)?.parse().ok()));
            found.push((rank.unwrap_or(0), process));
        }
        found.sort_unstable();
        found
    }

    /// Sends a signal (`TERM`, `KILL`, ...) to one rank.
    #[track_caller]
    pub fn signal(&self, rank: usize, signal: &str) {
        let processes = self.processes();
        let (_, process) = processes
            .iter()
            .find(|found| found.0 == rank)
            .unwrap_or_else(|| panic!("no rank {rank} among {processes:?}:\n{}", self.output()));
        send(&process.to_string(), signal);
    }

    /// Sends a signal to every rank.
    pub fn signal_all(&self, signal: &str) {
        self.processes().iter().for_each(|(_, process)| send(&process.to_string(), signal));
    }

    fn output(&self) -> String {
        format!("{}\n{}{}", self.command, read(&self.files, "out"), read(&self.files, "err"))
    }

    /// Waits for the end of the job and checks that no process of it is left.
    pub fn end(mut self) -> Ran {
        let status = self.child.wait().unwrap();
        let ran = Ran {
            status: exit_status(status),
            stdout: read(&self.files, "out"),
            stderr: read(&self.files, "err"),
            took: self.start.elapsed(),
            command: self.command.clone(),
        };
        assert!(ran.took.as_secs() < LIMIT_SECONDS, "the job did not end in time:\n{ran}");
        let start = Instant::now();
        while !self.processes().is_empty() {
            assert!(start.elapsed() < PATIENCE, "processes {:?} are left:\n{ran}", self.processes());
            std::thread::sleep(Duration::from_millis(10));
        }
        ran
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            // `timeout` leads a process group, to which the launcher belongs.
            send(&format!("-{}", self.child.id()), "KILL");
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        self.signal_all("KILL");
        for end in ["out", "err"] {
            let _ = fs::remove_file(self.files.with_extension(end));
        }
    }
}

fn send(process: &str, signal: &str) {
    let _ = output(Command::new("kill").args(["-s", signal, "--", process]));
}

fn read(files: &Path, end: &str) -> String {
    fs::read_to_string(files.with_extension(end)).unwrap_or_default()
}

/// Returns the exit status as a shell reports it: 128 plus the signal for a process that was ended by one.
fn exit_status(status: std::process::ExitStatus) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt;
    status.code().or_else(|| status.signal().map(|signal| 128 + signal))
}
