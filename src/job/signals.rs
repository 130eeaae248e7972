//! Signals that ask a run to end.
//!
//! A run that can go on later takes the first one as a wish, and stops in order at its next safe place; the second ends
//! it at once. Any other run is ended by the first. Either way no half-written file is left.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGABRT, SIGINT, SIGTERM, SIGUSR1, SIGXCPU};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::StopReason;
use crate::cleanup::remove_temp_files;
use crate::error::{ExitStatus, Result};
use crate::world::World;

/// What a scheduler, a user or the system sends to have a run end.
const TERMINATING_SIGNALS: [i32; 4] = [SIGTERM, SIGINT, SIGUSR1, SIGXCPU];

/// Whether the run can stop in order.
static GRACEFUL: AtomicBool = AtomicBool::new(false);
/// Whether the run has stopped in order, and every rank knows.
static LEAVING: AtomicBool = AtomicBool::new(false);
/// The first signal; 0 while there was none.
static FIRST_SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Signals so close together are one: a terminal and a launcher, or two parts of a scheduler, send the same wish.
const MERGE_WINDOW: Duration = Duration::from_millis(200);

/// From now on a process that aborts, because no memory is left or something is badly broken, ends with the status of any
/// other failure: other ranks and scripts shall see no difference. Why has been said then. To be called before MPI
/// starts: where nobody listens, Open MPI adds a page of addresses.
pub fn exit_with_failure_on_abort() {
    let always = std::sync::Arc::new(AtomicBool::new(true));
    let _ = signal_hook::flag::register_conditional_shutdown(SIGABRT, ExitStatus::Failure.code(), always);
}

/// From now on signals are heard, by a thread of their own. Without it (in tests, say) they do what they always do.
pub fn handle_signals(world: &World) {
    let ignored = ignored_signals();
    let heard = TERMINATING_SIGNALS.into_iter().filter(|signal| ignored & 1 << (signal - 1) == 0);
    let Ok(mut signals) = Signals::new(heard) else {
        tracing::warn!("the system lets macrok handle no signals; they end it at once");
        return;
    };
    let speaks = world.is_root();
    let work = move || {
        let mut first: Option<Instant> = None;
        for signal in signals.forever() {
            match first {
                _ if LEAVING.load(Ordering::SeqCst) => (),
                None if GRACEFUL.load(Ordering::SeqCst) => {
                    first = Some(Instant::now());
                    FIRST_SIGNAL.store(signal, Ordering::SeqCst);
                    if speaks {
                        eprintln!(
                            "macrok: {}: stopping as soon as nothing is lost by it; a second signal ends it at once",
                            StopReason::Signal(signal)
                        );
                    }
                }
                Some(first) if first.elapsed() < MERGE_WINDOW => (),
                // The system repeats this one every second.
                Some(_) if signal == SIGXCPU => (),
                _ => {
                    remove_temp_files();
                    // Comes back only if the system refuses, and then the next signal tries again.
                    let _ = emulate_default_handler(signal);
                }
            }
        }
    };
    if std::thread::Builder::new().name("signals".into()).spawn(work).is_err() {
        tracing::warn!("no thread for signals: they are not heard");
    }
}

/// A run that has stopped in order hears no more signals: when one rank has left with a status that is not 0, launchers
/// (`srun -K`, mpirun) end the others by a signal, and the job would seem to have failed. They are leaving too, and with
/// the status that says that the run can go on.
pub fn ignore_signals_once_stopped<T>(outcome: &Result<T>) {
    if outcome.as_ref().is_err_and(|error| error.status() == ExitStatus::Stopped) {
        LEAVING.store(true, Ordering::SeqCst);
    }
}

/// From now on the first signal is a wish to stop in order.
pub(super) fn enable_graceful_stop() {
    GRACEFUL.store(true, Ordering::SeqCst);
}

/// The wish, once there was one.
pub(super) fn pending_signal() -> Option<StopReason> {
    match FIRST_SIGNAL.load(Ordering::SeqCst) {
        0 => None,
        signal => Some(StopReason::Signal(signal)),
    }
}

/// Signals that whoever started this process wants it not to hear (`nohup`, or `&` in a script), as a set of bits.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
