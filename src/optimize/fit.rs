//! A fit that loses nothing when it is stopped.

use super::checkpoint_codec::RestoreInputs;
use super::checkpoint_hooks::{CheckpointHooks, IterationTimer};
use super::checkpoint_policy::{CheckpointPolicy, OpenedCheckpoint};
use super::frank_wolfe::{FitResult, Start, frank_wolfe};
use super::observer::Observer;
use super::problem::FitProblem;
use super::state::{FitState, IterationCursor};
use crate::checkpoint::{CheckpointWriter, WriterReport};
use crate::error::Result;
use crate::job::StopControl;
use crate::world::World;

/// A fit that is done. Its checkpoint is still there, for as long as the result is nowhere else.
pub struct FinishedFit {
    /// Rank 0's.
    pub fit: Option<FitResult>,
    /// Iterations that an earlier run had done.
    pub resumed: Option<usize>,
    /// What was written beside the work; rank 0's.
    pub report: WriterReport,
    writer: Option<CheckpointWriter>,
}

impl FinishedFit {
    /// The result is safe: the checkpoint goes. That it could not be removed is worth a warning, not more.
    pub fn remove_checkpoint(&mut self, observer: &mut dyn Observer) {
        if let Some(Err(error)) = self.writer.take().map(CheckpointWriter::remove) {
            observer.warn(&format!("the checkpoint is needed no more, but cannot be removed: {error}"));
        }
    }
}

/// Runs one fit to its end, from the beginning or from where `policy` says an earlier run came to. When `control` is asked to
/// stop, the fit is saved and the error has the status [`Stopped`](crate::error::ExitStatus::Stopped). The bits of the result
/// depend on `problem` alone. Collective.
pub fn fit(
    world: &World,
    problem: FitProblem<'_>,
    policy: Option<&CheckpointPolicy>,
    control: &StopControl,
    observer: &mut dyn Observer,
) -> Result<FinishedFit> {
    let fingerprint = problem.fingerprint();
    let FitProblem { data, metric, initial, options } = problem;
    let mut opened = None;
    let mut writer = None;
    world.on_root(|| {
        let Some(policy) = policy else { return Ok(()) };
        let (marginals, population) = (&data.shard.marginals, &data.population);
        let inputs = RestoreInputs { marginals, metric, initial: &initial, population, options: &options };
        let OpenedCheckpoint { checkpoint, resumed, note } = policy.open(fingerprint, &inputs)?;
        note.iter().for_each(|note| observer.warn(note));
        opened = resumed;
        match CheckpointWriter::new(checkpoint) {
            Ok(started) => writer = Some(started),
            Err(error) => observer.warn(&format!("no checkpoints: {error}")),
        }
        Ok(())
    })?;
    let (cursor, state) = broadcast_cursor(world, opened);
    let start = match cursor {
        Some(cursor) => Start::Resumed(cursor, state.map(Box::new)),
        None => Start::New(initial),
    };
    let mut hooks = CheckpointHooks {
        world,
        control,
        observer,
        writer,
        name: policy.map_or("no checkpoint".into(), |policy| policy.file.display().to_string()),
        interval: policy.map_or(usize::MAX, |policy| policy.interval),
        resumed: cursor,
        seconds: 0.0,
        timer: IterationTimer::default(),
        warned: false,
    };
    let shard = data.shard;
    let mut fit = frank_wolfe(world, shard, &data.population, metric, start, &options, &mut hooks)?;
    if let Some(fit) = &mut fit {
        fit.seconds.checkpoint += hooks.seconds;
    }
    let writer = hooks.writer;
    let report = writer.as_ref().map(CheckpointWriter::report).unwrap_or_default();
    Ok(FinishedFit { fit, resumed: cursor.map(|cursor| cursor.iteration), report, writer })
}

/// Where an earlier run came to, on every rank; its state stays on rank 0. Collective.
fn broadcast_cursor(
    world: &World,
    opened: Option<(IterationCursor, FitState)>,
) -> (Option<IterationCursor>, Option<FitState>) {
    let (cursor, state) = opened.unzip();
    let mut numbers =
        cursor.map_or(Vec::new(), |cursor| vec![cursor.iteration as u64, cursor.direction as u64]);
    world.broadcast(&mut numbers);
    let cursor = match numbers.as_slice() {
        &[iteration, direction] => {
            Some(IterationCursor { iteration: iteration as usize, direction: direction as usize })
        }
        _ => None,
    };
    (cursor, state)
}
