//! Ends a job whose ranks all wait for each other, because one of them hangs or the network between them is gone.
//!
//! Only the main thread may call MPI, and while it waits it cannot. So every rank has a watchdog thread. That of a rank that
//! makes progress touches a small file in the shared working folder now and then. That of a rank that has waited too long
//! checks whether any other did.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::World;
use crate::error::ExitStatus;
#[cfg(feature = "mpi")]
use crate::heartbeat::beat;
use crate::heartbeat::beats;
use crate::host::host_name;

/// The time at which the main thread began to wait for other ranks, in milliseconds since [`start`]; 0 when it works.
static WAITING_SINCE: AtomicU64 = AtomicU64::new(0);

fn start() -> Instant {
    static START: OnceLock<Instant> = OnceLock::new();
    *START.get_or_init(Instant::now)
}

/// Marks this rank as waiting for others until it is dropped.
#[cfg(feature = "mpi")]
pub(super) struct WaitingGuard(());

#[cfg(feature = "mpi")]
impl WaitingGuard {
    pub fn begin() -> WaitingGuard {
        WAITING_SINCE.store(1 + start().elapsed().as_millis() as u64, Ordering::Relaxed);
        WaitingGuard(())
    }
}

#[cfg(feature = "mpi")]
impl Drop for WaitingGuard {
    fn drop(&mut self) {
        WAITING_SINCE.store(0, Ordering::Relaxed);
        beat();
    }
}

/// The file that ranks touch. It exists in long jobs only; rank 0 removes it at the end.
static ALIVE_FILE: OnceLock<PathBuf> = OnceLock::new();

pub(super) fn remove_alive_file() {
    if let Some(file) = ALIVE_FILE.get() {
        let _ = fs::remove_file(file);
    }
}

impl World {
    /// Makes the job end with an error when a rank waits for the others longer than `timeout` and no rank makes progress
    /// meanwhile. Collective.
    pub fn end_job_on_stall(&self, timeout: Duration) {
        if self.size() == 1 || timeout.is_zero() {
            return;
        }
        start();
        let host = host_name("/".as_ref());
        let mut name = format!(".macrok-alive-{host}-{}", std::process::id()).into_bytes();
        self.broadcast(&mut name);
        let file = ALIVE_FILE.get_or_init(|| String::from_utf8_lossy(&name).into_owned().into());
        let rank = self.rank();
        std::thread::spawn(move || run_watchdog(rank, &host, timeout, file));
    }
}

/// The metadata of a file; any change shows that a rank works. Clocks of nodes and servers may differ, so the time itself
/// means nothing.
type FileStamp = Option<(i64, i64, u64)>;

fn file_stamp(file: &PathBuf) -> FileStamp {
    fs::metadata(file).ok().map(|there| (there.mtime(), there.mtime_nsec(), there.ino()))
}

fn run_watchdog(rank: usize, host: &str, timeout: Duration, file: &PathBuf) {
    // Rank 0 is to report first, on behalf of all.
    let patience = timeout + Duration::from_secs(1) * rank.min(10) as u32;
    let mut liveness = Liveness::new(patience, Instant::now());
    loop {
        std::thread::sleep(timeout / 16);
        let waiting = WAITING_SINCE.load(Ordering::Relaxed);
        let since = start() + Duration::from_millis(waiting.saturating_sub(1));
        let waiting = (waiting > 0).then_some(since);
        match liveness.read(Instant::now(), file_stamp(file), beats(), waiting) {
            WatchdogAction::Nothing => (),
            WatchdogAction::Touch => {
                // Nothing can be done about a failure here.
                let _ = fs::write(file, format!("rank {rank} on {host} works\n"));
            }
            WatchdogAction::End(waited) => {
                eprintln!(
                    "macrok: error: rank {rank} on {host} has waited {:.0} s for the other ranks, and none of them has \
                     made progress: one hangs, or the network between them is gone; the job ends (--stall-timeout {})",
                    waited.as_secs_f64(),
                    timeout.as_secs_f64(),
                );
                remove_alive_file();
                end_job();
            }
        }
    }
}

/// The progress of the job, as one rank sees it.
struct Liveness {
    patience: Duration,
    stamp: FileStamp,
    progress: u64,
    /// The last time that the file or the progress of this rank changed.
    alive: Instant,
    touched: Instant,
}

#[derive(Debug, PartialEq)]
enum WatchdogAction {
    Nothing,
    /// Show the others that this rank works.
    Touch,
    /// End the job, with the time that this rank has waited.
    End(Duration),
}

impl Liveness {
    fn new(patience: Duration, now: Instant) -> Liveness {
        Liveness { patience, stamp: None, progress: 0, alive: now, touched: now }
    }

    fn read(
        &mut self,
        now: Instant,
        stamp: FileStamp,
        progress: u64,
        waiting: Option<Instant>,
    ) -> WatchdogAction {
        let works = progress != std::mem::replace(&mut self.progress, progress);
        if works || stamp != self.stamp {
            (self.stamp, self.alive) = (stamp, now);
        }
        if works && now - self.touched > self.patience / 4 {
            self.touched = now;
            return WatchdogAction::Touch;
        }
        let waited = waiting.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        if waited > self.patience && now - self.alive > self.patience {
            return WatchdogAction::End(waited);
        }
        WatchdogAction::Nothing
    }
}

/// Aborts all ranks that can be reached, and this one in any case.
fn end_job() -> ! {
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_secs(5));
        // The abort may hang too.
        let _ = signal_hook::low_level::raise(signal_hook::consts::SIGKILL);
    });
    #[cfg(feature = "mpi")]
    super::ranks::abort(ExitStatus::Failure.code());
    #[cfg(not(feature = "mpi"))]
    std::process::exit(ExitStatus::Failure.code());
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// The advice after some seconds, for a rank that has waited since `begin`.
    fn advice(
        liveness: &mut Liveness,
        begin: Instant,
        seconds: u64,
        stamp: FileStamp,
        progress: u64,
    ) -> WatchdogAction {
        liveness.read(begin + Duration::from_secs(seconds), stamp, progress, Some(begin))
    }

    #[test]
    fn ends_the_job_when_all_ranks_wait() {
        let begin = Instant::now();
        let mut liveness = Liveness::new(PATIENCE, begin);
        assert_eq!(advice(&mut liveness, begin, 59, None, 0), WatchdogAction::Nothing);
        assert_eq!(advice(&mut liveness, begin, 61, None, 0), WatchdogAction::End(Duration::from_secs(61)));
    }

    #[test]
    fn waits_while_another_rank_works() {
        let begin = Instant::now();
        let mut liveness = Liveness::new(PATIENCE, begin);
        for minute in 1..100 {
            let touched = Some((minute as i64, 0, 1));
            assert_eq!(advice(&mut liveness, begin, 55 * minute, touched, 0), WatchdogAction::Nothing);
        }
        let last = Some((99, 0, 1));
        assert!(matches!(advice(&mut liveness, begin, 55 * 99 + 61, last, 0), WatchdogAction::End(_)));
    }

    #[test]
    fn a_working_rank_touches_the_file_now_and_then() {
        let begin = Instant::now();
        let mut liveness = Liveness::new(PATIENCE, begin);
        let mut read =
            |seconds, progress| liveness.read(begin + Duration::from_secs(seconds), None, progress, None);
        assert_eq!(read(5, 1), WatchdogAction::Nothing);
        assert_eq!(read(16, 2), WatchdogAction::Touch);
        assert_eq!(read(20, 3), WatchdogAction::Nothing);
        // No progress to show, and no waiting to end.
        assert_eq!(read(200, 3), WatchdogAction::Nothing);
        assert_eq!(read(201, 4), WatchdogAction::Touch);
    }
}
