//! The encoding of a search in a checkpoint. The counts of each rule are lasting parts; the steps towards the rules are in the
//! fresh part. Taking the same steps again leads to the same rules and the same tensor, bit by bit, without a pass over the
//! rows.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::iteration::Iteration;
use super::oracle::weighted_tensor;
use super::packed_counts::PackedCounts;
use super::phase_seconds::PhaseSeconds;
use super::root_solver::RootSolver;
use super::state::{EndReason, FitEnd, FitState, IterationCursor};
use super::step_search::Step;
use crate::checkpoint::{SavedParts, Snapshot, SnapshotPart};
use crate::classifier::Mixture;
use crate::measure::{ConfusionTensor, Population};

/// The fresh part.
#[derive(Serialize, Deserialize)]
struct StateHeader {
    #[serde(rename = "turn")]
    cursor: IterationCursor,
    initial_utility: Bits,
    utility: Bits,
    gap: Bits,
    stall: EndReason,
    #[serde(default)]
    stall_value: Bits,
    /// Utility, step, gap and seconds of every step.
    trajectory: Vec<[Bits; 4]>,
    /// The direction of each step.
    directions: Vec<usize>,
    passes: usize,
    seconds: [Bits; 5],
}

/// A number with every bit preserved, infinity included.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
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

/// Encodes a search, with the fresh part in `buffer`. Counts are shared, not copied.
pub(super) fn to_snapshot(cursor: IterationCursor, state: &FitState, mut buffer: Vec<u8>) -> Snapshot {
    let row = |done: &Iteration| [done.utility, done.step, done.gap, done.seconds].map(Bits::from);
    let header = StateHeader {
        cursor,
        initial_utility: state.initial_utility.into(),
        utility: state.utility.into(),
        gap: state.gap.into(),
        stall: state.stall.reason,
        stall_value: state.stall.value.into(),
        trajectory: state.trajectory.iter().map(row).collect(),
        directions: state.directions.clone(),
        passes: state.passes,
        seconds: state.seconds.to_array().map(Bits::from),
    };
    serde_json::to_writer(&mut buffer, &header).expect("numbers can be written as JSON");
    let lasting = state.packed_counts.iter().map(|packed| Arc::clone(packed) as Arc<dyn SnapshotPart>);
    Snapshot { lasting: lasting.collect(), fresh: buffer }
}

/// Restores the search that [`to_snapshot`] encoded, from its initial classifier and a solver for the state after that;
/// `None` if the parts are of something else.
pub(super) fn restore<'a>(
    SavedParts { lasting, fresh, .. }: SavedParts,
    initial: Mixture,
    population: &Population,
    new_solver: impl FnOnce(FitState) -> RootSolver<'a>,
) -> Option<(IterationCursor, RootSolver<'a>)> {
    let header: StateHeader = serde_json::from_slice(&fresh).ok()?;
    let positives = population.fractions();
    let tensor = |packed: &Vec<u8>| {
        let counts = PackedCounts::unpack(packed, positives.len())?;
        Some(ConfusionTensor::with_positives(&counts, population, Arc::clone(&positives)))
    };
    let (first, steps) = lasting.split_at_checked(initial.rules.len())?;
    if [header.trajectory.len(), header.directions.len()] != [steps.len(); 2] {
        return None;
    }
    let parts: Vec<ConfusionTensor> = first.iter().map(tensor).collect::<Option<_>>()?;
    let current = weighted_tensor(&initial.weights, parts);
    let mut solver = new_solver(FitState::new(initial, current, header.initial_utility.value()));
    for ((packed, &direction), row) in steps.iter().zip(&header.directions).zip(&header.trajectory) {
        let [utility, step, gap, seconds] = row.map(Bits::value);
        let rule = solver.next_rule(direction).ok()?;
        solver.apply_step(rule, &tensor(packed)?, Step { size: step, value: utility });
        solver.state.trajectory.push(Iteration { utility, step, gap, seconds });
    }
    let utility = header.utility.value();
    if solver.objective.value(&solver.state.current).to_bits() != utility.to_bits() {
        return None;
    }
    let packed_counts = lasting.into_iter().map(|bytes| Arc::new(PackedCounts::from_bytes(bytes)));
    solver.state = FitState {
        utility,
        gap: header.gap.value(),
        stall: FitEnd { reason: header.stall, value: header.stall_value.value() },
        directions: header.directions,
        packed_counts: packed_counts.collect(),
        passes: header.passes,
        seconds: PhaseSeconds::from_array(header.seconds.map(Bits::value)),
        ..solver.state
    };
    Some((header.cursor, solver))
}
