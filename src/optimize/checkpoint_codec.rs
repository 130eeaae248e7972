//! A search as a checkpoint holds it: what the rows answered to each rule is a lasting part, and how far it went towards
//! that rule is in the fresh one. Going the same way again leads to the same rules and the same tensor, bit by bit, without
//! a look at the rows.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::column_space::ColumnSpace;
use super::frank_wolfe::{EndReason, FrankWolfeOptions, RootSolver, epsilons};
use super::initial::InitialClassifier;
use super::iteration::Iteration;
use super::oracle::weighted_tensor;
use super::packed_counts::PackedCounts;
use super::phase_seconds::PhaseSeconds;
use super::state::{FitState, IterationCursor};
use super::step_search::Step;
use crate::checkpoint::{Snapshot, SnapshotPart};
use crate::measure::{ConfusionTensor, Metric, Population};
use crate::shard::Marginals;

/// What there is beside the answers.
#[derive(Serialize, Deserialize)]
struct StateHeader {
    #[serde(rename = "turn")]
    cursor: IterationCursor,
    initial_utility: Bits,
    utility: Bits,
    gap: Bits,
    stall: EndReason,
    /// Utility, step, gap and seconds of every step.
    trajectory: Vec<[Bits; 4]>,
    /// The direction of each.
    directions: Vec<usize>,
    passes: usize,
    seconds: [Bits; 5],
}

/// A number whose every bit counts, infinity included; decimal digits might lose one.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(transparent)]
struct Bits(u64);

impl From<f64> for Bits {
    fn from(value: f64) -> Bits {
        Bits(value.to_bits())
    }
}

impl Bits {
    fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// Where the search stands. Answers are shared, not copied.
pub(super) fn to_snapshot(cursor: IterationCursor, state: &FitState) -> Snapshot {
    let row = |done: &Iteration| [done.utility, done.step, done.gap, done.seconds].map(Bits::from);
    let header = StateHeader {
        cursor,
        initial_utility: state.initial_utility.into(),
        utility: state.utility.into(),
        gap: state.gap.into(),
        stall: state.stall,
        trajectory: state.trajectory.iter().map(row).collect(),
        directions: state.directions.clone(),
        passes: state.passes,
        seconds: state.seconds.to_array().map(Bits::from),
    };
    let fresh = serde_json::to_vec(&header).expect("numbers can be written as JSON");
    let lasting =
        state.packed_counts.iter().map(|packed| Arc::clone(packed) as Arc<dyn SnapshotPart>).collect();
    Snapshot { lasting, fresh }
}

/// The search that was saved.
pub(super) struct RestoreInputs<'a> {
    pub marginals: &'a Marginals,
    pub metric: &'a Metric,
    pub initial: &'a InitialClassifier,
    pub population: &'a Population,
    pub options: &'a FrankWolfeOptions,
}

impl RestoreInputs<'_> {
    /// What [`to_snapshot`] was given, from the parts it made; `None` if they are of something else.
    pub fn restore(&self, lasting: Vec<Vec<u8>>, fresh: &[u8]) -> Option<(IterationCursor, FitState)> {
        let RestoreInputs { marginals, metric, initial, population: by_label, options } = *self;
        let epsilons = epsilons(options, by_label);
        let column_space = ColumnSpace::new(marginals, by_label, metric, options.k, &epsilons);
        let population: &Population = &column_space.restrict_population(by_label);
        let header: StateHeader = serde_json::from_slice(fresh).ok()?;
        let positives = population.fractions();
        let tensor = |packed: &Vec<u8>| {
            let counts = PackedCounts::unpack(packed, column_space.column_count())?;
            Some(ConfusionTensor::with_positives(&counts, population, Arc::clone(&positives)))
        };
        let mixture =
            column_space.to_columns(initial.clone().mixture(by_label, options.k, options.candidates));
        let (first, steps) = lasting.split_at_checked(mixture.rules.len())?;
        let parts: Vec<ConfusionTensor> = first.iter().map(tensor).collect::<Option<_>>()?;
        let current = weighted_tensor(&mixture.weights, parts);
        let state = FitState::new(mixture, current, header.initial_utility.value());
        let mut solver = RootSolver::new(metric, population, options, &column_space, state);
        let [taken, directions] = [header.trajectory.len(), header.directions.len()];
        if taken != steps.len() || directions != steps.len() {
            return None;
        }
        for ((packed, &direction), &[value, size, ..]) in
            steps.iter().zip(&header.directions).zip(&header.trajectory)
        {
            let step = Step { size: size.value(), value: value.value() };
            let gradient = solver.gradient(direction).ok()?;
            let rule = solver.rule(&gradient);
            solver.apply_step(rule, &tensor(packed)?, step);
            solver.spare = Some(gradient);
        }
        // The same way must lead to the same place.
        let utility = header.utility.value();
        if solver.objective.value(&solver.state.current).to_bits() != utility.to_bits() {
            return None;
        }
        let iteration = |[utility, step, gap, seconds]: [f64; 4]| Iteration { utility, step, gap, seconds };
        let state = FitState {
            utility,
            gap: header.gap.value(),
            stall: header.stall,
            trajectory: header.trajectory.iter().map(|row| iteration(row.map(Bits::value))).collect(),
            directions: header.directions,
            packed_counts: lasting
                .into_iter()
                .map(|bytes| Arc::new(PackedCounts::from_bytes(bytes)))
                .collect(),
            passes: header.passes,
            seconds: PhaseSeconds::from_array(header.seconds.map(Bits::value)),
            ..solver.state
        };
        Some((header.cursor, state))
    }
}
