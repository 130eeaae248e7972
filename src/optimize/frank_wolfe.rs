//! Algorithm 1 of the paper on all ranks, one iteration at a time. Checkpoints and stopping are left to the caller.

use std::sync::Arc;
use std::time::Instant;

use super::checkpoint_codec::{restore, to_snapshot};
use super::column_space::ColumnSpace;
use super::iteration::{NEGATIVE_GAP, TABLE_HEADER, table_row};
use super::oracle::Oracle;
use super::phase_seconds::timed;
use super::problem::FitProblem;
use super::root_solver::{RootSolver, SMOOTHED_DIRECTIONS, direction_epsilons};
use super::state::{EndReason, FitEnd, FitResult, FitState, IterationCursor};
use crate::checkpoint::{SavedParts, Snapshot};
use crate::error::Result;
use crate::fault;
use crate::progress::Progress;
use crate::world::World;

/// The effect of one iteration.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) enum IterationOutcome {
    /// A step was taken, and another may be worth taking.
    Stepped,
    /// No further step is worth taking in this direction.
    Stalled,
    Stopped,
}

/// A running search.
pub(super) struct FrankWolfe<'a> {
    world: &'a World,
    column_space: ColumnSpace<'a>,
    oracle: Oracle<'a>,
    max_iterations: usize,
    /// True if states keep the counts that a checkpoint needs.
    keeps_counts: bool,
    pub cursor: IterationCursor,
    /// True if it continues a search of an earlier run.
    pub resumed: bool,
    stopped: bool,
    /// Rank 0's; the other ranks count their rows for it.
    pub solver: Option<RootSolver<'a>>,
}

impl<'a> FrankWolfe<'a> {
    /// Starts with the initial classifier, or where the search that rank 0 has `saved` was. Collective.
    pub fn start(
        world: &'a World,
        problem: &'a FitProblem<'a>,
        saved: Option<SavedParts>,
        keeps_counts: bool,
    ) -> Result<FrankWolfe<'a>> {
        let FitProblem { data, metric, k, ref initial, options } = *problem;
        let population = &data.population;
        let epsilons = direction_epsilons(options.epsilon, population.rows);
        let column_space = ColumnSpace::new(&data.shard.marginals, population, metric, k, &epsilons);
        let mixture = column_space.to_columns(initial.mixture(population, k, options.candidates));
        let population = Arc::new(column_space.restrict_population(population));
        let mut oracle = Oracle::new(world, data.shard, Arc::clone(&population), k, options.candidates);
        let new_solver = |state| RootSolver::new(problem, Arc::clone(&population), column_space, state);
        let mut restored = None;
        world.on_root(|| {
            let Some(saved) = saved else { return Ok(()) };
            let unusable = saved.unusable();
            restored = Some(restore(saved, mixture.clone(), &population, new_solver).ok_or(unusable)?);
            Ok(())
        })?;
        let (cursor, mut solver) = restored.unzip();
        let cursor: Option<IterationCursor> = world.broadcast_json(world.is_root().then_some(cursor));
        if cursor.is_none() {
            let mut packed_counts = Vec::new();
            let current = oracle.mixture_tensor(&mixture, |oracle| {
                packed_counts.extend(keeps_counts.then(|| oracle.pack_counts()));
            });
            if world.is_root() {
                let utility = column_space.bind(metric, k, epsilons[0]).value(&current);
                let state = FitState::new(mixture, current, utility);
                solver = Some(new_solver(FitState { seconds: oracle.seconds, packed_counts, ..state }));
            }
        }
        oracle.seconds = solver.as_ref().map_or(oracle.seconds, |solver| solver.state.seconds);
        Ok(FrankWolfe {
            world,
            column_space,
            oracle,
            max_iterations: options.max_iterations,
            keeps_counts,
            resumed: cursor.is_some(),
            cursor: cursor.unwrap_or_default(),
            stopped: false,
            solver,
        })
    }

    pub fn is_finished(&self) -> bool {
        self.stopped || self.cursor.iteration >= self.max_iterations
    }

    /// Counts one rule, and takes a step towards it if that is worth it (Algorithm 1, lines 7 to 15). Collective.
    pub fn iterate(&mut self, progress: &dyn Progress) -> Result<()> {
        let FrankWolfe { world, oracle, solver, cursor: IterationCursor { direction, .. }, .. } = self;
        let direction = *direction;
        let start = Instant::now();
        let rule = match solver {
            Some(solver) => timed(&mut oracle.seconds.gradient, || solver.next_rule(direction)).map(Some),
            None => Ok(None),
        };
        let rule = oracle.broadcast_rule(world.agree(rule)?);
        fault::inject(world.rank(), "pass")?;
        let next = oracle.rule_tensor(&rule);
        let mut outcome = None;
        if let Some(solver) = solver {
            if direction == 0 {
                solver.state.gap = timed(&mut oracle.seconds.gradient, || solver.gap(&next));
            }
            let steps = solver.state.trajectory.len();
            let utility = solver.state.utility;
            let (step, found) = timed(&mut oracle.seconds.search, || {
                let step = solver.choose_step(&next);
                (step, solver.try_step(rule, &next, step, direction, start))
            });
            outcome = Some(found);
            let state = &mut solver.state;
            state.passes += 1;
            state.seconds = oracle.seconds;
            let taken = state.trajectory.len() > steps;
            if taken {
                state.packed_counts.extend(self.keeps_counts.then(|| oracle.pack_counts()));
                let (number, utility, gap) = (steps + 1, state.utility, state.gap);
                progress.status(&format!("iteration {number}: {utility:.8}, gap {gap:.2e}"));
            }
            let gap = (direction == 0).then_some(state.gap);
            let seconds = start.elapsed().as_secs_f64();
            progress.row(&table_row(taken.then_some(steps + 1), step, step.value - utility, gap, seconds));
        }
        progress.advanced(1);
        oracle.reuse(next);
        self.cursor.iteration += 1;
        match oracle.broadcast_outcome(outcome) {
            IterationOutcome::Stepped => self.cursor.direction = 0,
            IterationOutcome::Stalled if direction < SMOOTHED_DIRECTIONS => self.cursor.direction += 1,
            IterationOutcome::Stalled | IterationOutcome::Stopped => self.stopped = true,
        }
        Ok(())
    }

    /// Returns the place of the search for messages; empty on all ranks but 0.
    pub fn place(&self) -> String {
        self.solver
            .as_ref()
            .map(|solver| format!("after iteration {}", solver.state.trajectory.len()))
            .unwrap_or_default()
    }

    /// Reports the start of the search, or of its continuation.
    pub fn announce(&self, progress: &dyn Progress) {
        progress.started("fitting", self.max_iterations as u64, self.cursor.iteration as u64);
        if let Some(RootSolver { state, .. }) = &self.solver {
            progress.row(TABLE_HEADER);
            progress.row(&format!("{:>9}  {:>12.8}", state.trajectory.len(), state.utility));
        }
    }

    /// Returns the state of rank 0; empty on other ranks.
    pub fn to_snapshot(&self, buffer: Vec<u8>) -> Snapshot {
        self.solver.as_ref().map(|solver| to_snapshot(self.cursor, &solver.state, buffer)).unwrap_or_default()
    }

    /// Returns the result, on rank 0. Collective.
    pub fn finish(self, progress: &dyn Progress) -> Option<FitResult> {
        let mut seconds = self.oracle.seconds;
        seconds.max_over_ranks(self.world);
        let FitState { mixture, initial_utility, utility, gap, stall, trajectory, passes, .. } =
            self.solver?.state;
        if trajectory.iter().any(|done| done.gap < 0.0) {
            progress.row(NEGATIVE_GAP);
        }
        let mixture = self.column_space.to_labels(mixture);
        let at_limit = FitEnd { reason: EndReason::Iterations, value: self.max_iterations as f64 };
        let end = if self.stopped { stall } else { at_limit };
        Some(FitResult { mixture, utility, initial_utility, trajectory, end, gap, passes, seconds })
    }
}
