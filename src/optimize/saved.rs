//! A search as a checkpoint holds it: each rule a lasting part, everything else in the fresh one. Numbers are kept bit
//! by bit.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::frank_wolfe::{Options, Stop};
use super::seconds::Seconds;
use super::state::{State, Turn};
use crate::checkpoint::{Part, Snapshot};
use crate::classifier::{Mixture, Rule};
use crate::measure::{Population, Tensor};
use crate::store::Iteration;

impl Part for Rule {
    fn pieces(&self) -> Vec<&[u8]> {
        vec![bytemuck::cast_slice(&self.slopes), bytemuck::cast_slice(&self.intercepts)]
    }
}

/// What there is beside rules and tensor.
#[derive(Serialize, Deserialize)]
struct Small {
    turn: Turn,
    weights: Vec<Bits>,
    initial_utility: Bits,
    utility: Bits,
    gap: Bits,
    stall: Stop,
    /// Utility, step, gap and seconds of every step.
    trajectory: Vec<[Bits; 4]>,
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

/// Where the search stands. The rules are shared, the tensor is copied into `space`.
pub(super) fn save(turn: Turn, state: &State, mut space: Vec<u8>) -> Snapshot {
    let row = |done: &Iteration| [done.utility, done.step, done.gap, done.seconds].map(Bits::from);
    let small = Small {
        turn,
        weights: state.mixture.weights.iter().copied().map(Bits::from).collect(),
        initial_utility: state.initial_utility.into(),
        utility: state.utility.into(),
        gap: state.gap.into(),
        stall: state.stall,
        trajectory: state.trajectory.iter().map(row).collect(),
        passes: state.passes,
        seconds: state.seconds.to_array().map(Bits::from),
    };
    let text = serde_json::to_vec(&small).expect("numbers can be written as JSON");
    space.extend((text.len() as u64).to_ne_bytes());
    space.extend(text);
    for half in [&state.current.true_positives, &state.current.false_positives] {
        space.extend_from_slice(bytemuck::cast_slice(half));
    }
    let lasting = state.mixture.rules.iter().map(|rule| Arc::clone(rule) as Arc<dyn Part>).collect();
    Snapshot { lasting, fresh: space }
}

/// What [`save`] was given, from the parts it made; `None` if they are of something else.
pub(super) fn restore(
    lasting: Vec<Vec<u8>>,
    fresh: &[u8],
    population: &Population,
    options: &Options,
) -> Option<(Turn, State)> {
    let labels = population.positives.len();
    let (length, rest) = fresh.split_at_checked(8)?;
    let length = u64::from_ne_bytes(length.try_into().ok()?);
    let (text, tensor) = rest.split_at_checked(length.try_into().ok()?)?;
    let small: Small = serde_json::from_slice(text).ok()?;
    let halves: Vec<f64> = numbers(tensor, 2 * labels)?;
    let rule = |part: Vec<u8>| {
        let mut slopes: Vec<f32> = numbers(&part, 2 * labels)?;
        let intercepts = slopes.split_off(labels);
        Some(Arc::new(Rule { slopes, intercepts }))
    };
    let rules: Vec<Arc<Rule>> = lasting.into_iter().map(rule).collect::<Option<_>>()?;
    let weights: Vec<f64> = small.weights.iter().map(|weight| weight.value()).collect();
    if rules.is_empty() || rules.len() != weights.len() {
        return None;
    }
    let (hits, alarms) = halves.split_at(labels);
    let iteration = |[utility, step, gap, seconds]: [f64; 4]| Iteration { utility, step, gap, seconds };
    let state = State {
        mixture: Mixture { k: options.k, candidates: options.candidates, rules, weights },
        current: Tensor::from_fractions(hits.to_vec(), alarms.to_vec(), population.fractions()),
        initial_utility: small.initial_utility.value(),
        utility: small.utility.value(),
        gap: small.gap.value(),
        stall: small.stall,
        trajectory: small.trajectory.iter().map(|row| iteration(row.map(Bits::value))).collect(),
        passes: small.passes,
        seconds: Seconds::from_array(small.seconds.map(Bits::value)),
    };
    Some((small.turn, state))
}

fn numbers<T: bytemuck::Pod>(bytes: &[u8], count: usize) -> Option<Vec<T>> {
    if bytes.len() != count * size_of::<T>() {
        return None;
    }
    let mut numbers = vec![T::zeroed(); count];
    bytemuck::cast_slice_mut(&mut numbers).copy_from_slice(bytes);
    Some(numbers)
}
