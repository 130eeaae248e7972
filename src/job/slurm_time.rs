//! The time left of a Slurm job.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::TimeLimit;
use crate::world::SLURM_JOB_ID;

/// The time that Slurm has to answer.
const QUERY_TIMEOUT: Duration = Duration::from_secs(20);

/// Returns the end of this job; `None` outside of Slurm and without a limit. May take a while.
pub(super) fn job_end() -> Option<Instant> {
    let job = std::env::var(SLURM_JOB_ID).ok()?;
    let end = std::env::var("SLURM_JOB_END_TIME").ok().and_then(|seconds| seconds.parse().ok());
    let left = match end {
        Some(seconds) => {
            let end = UNIX_EPOCH + Duration::from_secs(seconds);
            Some(end.duration_since(SystemTime::now()).unwrap_or_default())
        }
        None => query_time(Command::new("squeue").args(["-h", "-j", &job, "-o", "%L"])),
    };
    tracing::info!(job, ?left, "time left in Slurm");
    Instant::now().checked_add(left?)
}

/// Returns the time that a command prints; `None` when it prints none or does not end.
fn query_time(command: &mut Command) -> Option<Duration> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let start = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if start.elapsed() < QUERY_TIMEOUT => std::thread::sleep(Duration::from_millis(20)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    };
    let mut text = String::new();
    child.stdout.take()?.read_to_string(&mut text).ok()?;
    match text.trim() {
        _ if !status.success() => None,
        "0:00" => Some(Duration::ZERO),
        // UNLIMITED, NOT_SET and INVALID do not parse.
        text => text.parse().ok().map(|TimeLimit(left)| left),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(text: &str) -> Option<Duration> {
        query_time(Command::new("printf").arg(text))
    }

    #[test]
    fn parses_the_output_of_squeue() {
        assert_eq!(says("1-02:03:04\n"), Some(Duration::from_secs(93_784)));
        assert_eq!(says("9:59\n"), Some(Duration::from_secs(599)));
        assert_eq!(says("0:00\n"), Some(Duration::ZERO));
        assert_eq!(says("UNLIMITED\n"), None);
        assert_eq!(says("INVALID\n"), None);
        assert_eq!(says(""), None);
    }

    #[test]
    fn returns_none_without_squeue() {
        assert_eq!(query_time(&mut Command::new("no-such-program")), None);
        assert_eq!(query_time(&mut Command::new("false")), None);
    }
}
