//! A time limit for leaving a job.

use std::io::Write;
use std::time::Duration;

/// Enough for busy machines too.
pub(super) const LIMIT: Duration = Duration::from_secs(20);

/// Ends this process with `code` if it still runs after `limit`. All ranks have finished by then, so nothing is lost.
///
/// `MPI_Finalize` waits for other ranks, sometimes forever: with MPICH 4.0 and UCX one rank waits until another closes a
/// connection, while that one serves no connections any more because it waits for all ranks at a PMI barrier. Without a
/// limit the job would use up its allocation after its results are written.
pub(super) fn exit_after(limit: Duration, code: i32) {
    let _ = std::io::stdout().flush();
    let watch = move || {
        std::thread::sleep(limit);
        tracing::warn!("MPI_Finalize timed out; exiting anyway");
        signal_hook::low_level::exit(code);
    };
    // If the thread cannot start, the process merely waits for MPI.
    let _ = std::thread::Builder::new().name("leave".into()).spawn(watch);
}
