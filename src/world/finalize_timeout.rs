//! Leaving a job whose MPI does not let go.

use std::io::Write;
use std::time::Duration;

/// How long leaving may take, on machines that are busy too.
pub(super) const LIMIT: Duration = Duration::from_secs(20);

/// Ends this process with `code` when it is still there after so long. All ranks are done by then, so nothing is lost.
///
/// `MPI_Finalize` waits for others, and may do so for ever: with MPICH 4.0 and UCX one rank then waits for a connection
/// to be closed by another that looks after its connections no more, because it waits for all at a barrier of PMI. Jobs that
/// have written their results would burn what is left of their time.
pub(super) fn exit_after(limit: Duration, code: i32) {
    let _ = std::io::stdout().flush();
    let watch = move || {
        std::thread::sleep(limit);
        tracing::warn!("MPI does not let this rank go; leaving without");
        signal_hook::low_level::exit(code);
    };
    // Without it, there is nobody to lose patience.
    let _ = std::thread::Builder::new().name("leave".into()).spawn(watch);
}
