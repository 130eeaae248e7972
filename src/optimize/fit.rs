//! A fit that loses nothing when it is stopped.

use super::frank_wolfe::{Fit, Start, frank_wolfe};
use super::keep::{Keep, Opened};
use super::keeper::{Keeper, Pace};
use super::observer::Observer;
use super::saved::Asked;
use super::state::{State, Turn};
use super::task::Task;
use crate::checkpoint::{Report, Writer};
use crate::error::Result;
use crate::job::Control;
use crate::world::World;

/// A fit that is done. Its checkpoint is still there, for as long as the result is nowhere else.
pub struct Finished {
    /// Rank 0's.
    pub fit: Option<Fit>,
    /// Iterations that an earlier run had done.
    pub resumed: Option<usize>,
    /// What was written beside the work; rank 0's.
    pub report: Report,
    writer: Option<Writer>,
}

impl Finished {
    /// The result is safe: the checkpoint goes. That it could not be removed is worth a warning, not more.
    pub fn remove_checkpoint(&mut self, observer: &mut dyn Observer) {
        if let Some(Err(error)) = self.writer.take().map(Writer::remove) {
            observer.warn(&format!("the checkpoint is needed no more, but cannot be removed: {error}"));
        }
    }
}

/// Runs one fit to its end, from the beginning or from where `keep` says an earlier run came to. When `control` is asked to
/// stop, the fit is saved and the error has the status [`Stopped`](crate::error::Status::Stopped). The bits of the result
/// depend on `task` alone. Collective.
pub fn fit(
    world: &World,
    task: Task<'_>,
    keep: Option<&Keep>,
    control: &Control,
    observer: &mut dyn Observer,
) -> Result<Finished> {
    let facts = task.facts();
    let Task { data, metric, initial, options } = task;
    let mut opened = None;
    let mut writer = None;
    world.on_root(|| {
        let Some(keep) = keep else { return Ok(()) };
        let (marginals, population) = (&data.shard.marginals, &data.population);
        let asked = Asked { marginals, metric, initial: &initial, population, options: &options };
        let Opened { checkpoint, resumed, note } = keep.open(facts, &asked)?;
        note.iter().for_each(|note| observer.warn(note));
        opened = resumed;
        match Writer::new(checkpoint) {
            Ok(started) => writer = Some(started),
            Err(error) => observer.warn(&format!("no checkpoints: {error}")),
        }
        Ok(())
    })?;
    let (turn, state) = share(world, opened);
    let start = match turn {
        Some(turn) => Start::At(turn, state.map(Box::new)),
        None => Start::New(initial),
    };
    let mut keeper = Keeper {
        world,
        control,
        observer,
        writer,
        name: keep.map_or("no checkpoint".into(), |keep| keep.file.display().to_string()),
        every: keep.map_or(usize::MAX, |keep| keep.every),
        resumed: turn,
        seconds: 0.0,
        pace: Pace::default(),
        warned: false,
    };
    let shard = data.shard;
    let mut fit = frank_wolfe(world, shard, &data.population, metric, start, &options, &mut keeper)?;
    if let Some(fit) = &mut fit {
        fit.seconds.checkpoint += keeper.seconds;
    }
    let writer = keeper.writer;
    let report = writer.as_ref().map(Writer::report).unwrap_or_default();
    Ok(Finished { fit, resumed: turn.map(|turn| turn.iteration), report, writer })
}

/// Where an earlier run came to, on every rank; its state stays on rank 0. Collective.
fn share(world: &World, opened: Option<(Turn, State)>) -> (Option<Turn>, Option<State>) {
    let (turn, state) = opened.unzip();
    let mut numbers = turn.map_or(Vec::new(), |turn| vec![turn.iteration as u64, turn.direction as u64]);
    world.broadcast(&mut numbers);
    let turn = match numbers.as_slice() {
        &[iteration, direction] => {
            Some(Turn { iteration: iteration as usize, direction: direction as usize })
        }
        _ => None,
    };
    (turn, state)
}
