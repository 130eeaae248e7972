//! A search with checkpoints, stopping and progress.

use super::frank_wolfe::FrankWolfe;
use super::problem::FitProblem;
use super::state::FitResult;
use crate::checkpoint::{CheckpointPolicy, CheckpointSession};
use crate::error::Result;
use crate::fault;
use crate::job::StopControl;
use crate::progress::Progress;
use crate::world::World;

pub struct FinishedFit<'a> {
    /// Rank 0's.
    pub fit: Option<FitResult>,
    /// Keeps the checkpoint until the result is stored.
    pub session: CheckpointSession<'a>,
}

/// Runs one fit to its end, from the beginning or, as `policy` says, from the checkpoint of an earlier run. If `control`
/// requests a stop, the fit is saved and returns an error. The bits of the result depend on `problem` alone. Collective.
pub fn fit<'a>(
    world: &'a World,
    problem: FitProblem<'_>,
    policy: Option<&CheckpointPolicy>,
    control: &'a StopControl,
    progress: &dyn Progress,
) -> Result<FinishedFit<'a>> {
    let (mut session, saved) =
        CheckpointSession::open(world, control, policy, problem.fingerprint(), progress)?;
    let mut search = FrankWolfe::start(world, &problem, saved, session.saves())?;
    if search.resumed {
        session.resumed_at(search.cursor.iteration as u64, &search.place(), progress);
    }
    search.announce(progress);
    while !search.is_finished() {
        let number = search.cursor.iteration as u64;
        session.save_or_stop(number, &search.place(), |buffer| search.to_snapshot(buffer), progress)?;
        fault::inject(world.rank(), "iteration")?;
        search.iterate(progress)?;
    }
    let mut fit = search.finish(progress);
    progress.finished();
    if let Some(fit) = &mut fit {
        fit.seconds.checkpoint += session.seconds();
    }
    Ok(FinishedFit { fit, session })
}
