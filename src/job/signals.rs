//! Signals that request the end of a run.
//!
//! A run that can resume stops in order at its next safe place after the first signal; the second ends it immediately. Any
//! other run ends at the first. No half-written file remains either way.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGABRT, SIGINT, SIGTERM, SIGUSR1, SIGXCPU};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::StopReason;
use crate::cleanup::remove_temp_files;
use crate::error::{ExitStatus, Result};
use crate::world::World;

/// The signals with which a scheduler, a user or the system ends a run.
const TERMINATING_SIGNALS: [i32; 4] = [SIGTERM, SIGINT, SIGUSR1, SIGXCPU];

/// Whether the run can stop in order.
static GRACEFUL: AtomicBool = AtomicBool::new(false);
/// Whether the run has stopped in order, and every rank knows.
static LEAVING: AtomicBool = AtomicBool::new(false);
/// The first signal; 0 before it.
static FIRST_SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Signals within this time count as one: a terminal and a launcher, or two parts of a scheduler, send the same request.
const MERGE_WINDOW: Duration = Duration::from_millis(200);

/// Gives a process that aborts, for lack of memory for instance, the exit status of any other failure. To be called before
/// MPI starts, because without a handler Open MPI prints a page of addresses.
pub fn exit_with_failure_on_abort() {
    let always = std::sync::Arc::new(AtomicBool::new(true));
    let _ = signal_hook::flag::register_conditional_shutdown(SIGABRT, ExitStatus::Failure.code(), always);
}

/// Starts a thread that handles signals. Without it, as in tests, they have their default effect.
pub fn handle_signals(world: &World) {
    let ignored = ignored_signals();
    let handled = TERMINATING_SIGNALS.into_iter().filter(|signal| ignored & 1 << (signal - 1) == 0);
    let Ok(mut signals) = Signals::new(handled) else {
        tracing::warn!("cannot handle signals; they end macrok immediately");
        return;
    };
    let reports = world.is_root();
    let work = move || {
        let mut first: Option<Instant> = None;
        for signal in signals.forever() {
            match first {
                _ if LEAVING.load(Ordering::SeqCst) => (),
                None if GRACEFUL.load(Ordering::SeqCst) => {
                    first = Some(Instant::now());
                    FIRST_SIGNAL.store(signal, Ordering::SeqCst);
                    if reports {
                        eprintln!(
                            "macrok: {}: stopping at the next safe place; a second signal ends the run immediately",
                            StopReason::Signal(signal)
                        );
                    }
                }
                Some(first) if first.elapsed() < MERGE_WINDOW => (),
                // The system repeats SIGXCPU every second.
                Some(_) if signal == SIGXCPU => (),
                _ => {
                    remove_temp_files();
                    // Returns only if the system refuses; the next signal tries again.
                    let _ = emulate_default_handler(signal);
                }
            }
        }
    };
    if std::thread::Builder::new().name("signals".into()).spawn(work).is_err() {
        tracing::warn!("cannot start the thread that handles signals; they are ignored");
    }
}

/// Makes a run that has stopped in order ignore signals: when the first rank leaves with a status other than 0, launchers
/// (`srun -K`, mpirun) end the others by a signal, and the job would seem to have failed instead of being resumable.
pub fn ignore_signals_once_stopped<T>(outcome: &Result<T>) {
    if outcome.as_ref().is_err_and(|error| error.status() == ExitStatus::Stopped) {
        LEAVING.store(true, Ordering::SeqCst);
    }
}

/// Makes the first signal a request to stop in order.
pub(super) fn enable_graceful_stop() {
    GRACEFUL.store(true, Ordering::SeqCst);
}

/// Returns the first signal, if any.
pub(super) fn pending_signal() -> Option<StopReason> {
    match FIRST_SIGNAL.load(Ordering::SeqCst) {
        0 => None,
        signal => Some(StopReason::Signal(signal)),
    }
}

/// Returns the signals that this process was started to ignore (by `nohup`, or `&` in a script), as a set of bits.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
