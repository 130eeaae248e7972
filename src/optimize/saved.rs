//! A search as a checkpoint holds it: what the rows answered to each rule is a lasting part, and how far it went towards
//! that rule is in the fresh one. Going the same way again leads to the same rules and the same tensor, bit by bit, without
//! a look at the rows.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::frank_wolfe::{Options, Search, Stop, epsilons};
use super::initial::Initial;
use super::iteration::Iteration;
use super::oracle::mixture_of;
use super::scope::Scope;
use super::seconds::Seconds;
use super::state::{State, Turn};
use super::step::Step;
use crate::checkpoint::{Part, Snapshot};
use crate::measure::{Metric, Population, Tensor};
use crate::shard::Marginals;

/// What there is beside the answers.
#[derive(Serialize, Deserialize)]
struct Small {
    turn: Turn,
    initial_utility: Bits,
    utility: Bits,
    gap: Bits,
    stall: Stop,
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
pub(super) fn save(turn: Turn, state: &State) -> Snapshot {
    let row = |done: &Iteration| [done.utility, done.step, done.gap, done.seconds].map(Bits::from);
    let small = Small {
        turn,
        initial_utility: state.initial_utility.into(),
        utility: state.utility.into(),
        gap: state.gap.into(),
        stall: state.stall,
        trajectory: state.trajectory.iter().map(row).collect(),
        directions: state.directions.clone(),
        passes: state.passes,
        seconds: state.seconds.to_array().map(Bits::from),
    };
    let fresh = serde_json::to_vec(&small).expect("numbers can be written as JSON");
    let lasting = state.answers.iter().map(|answer| Arc::clone(answer) as Arc<dyn Part>).collect();
    Snapshot { lasting, fresh }
}

/// The search that was saved.
pub(super) struct Asked<'a> {
    pub marginals: &'a Marginals,
    pub metric: &'a Metric,
    pub initial: &'a Initial,
    pub population: &'a Population,
    pub options: &'a Options,
}

impl Asked<'_> {
    /// What [`save`] was given, from the parts it made; `None` if they are of something else.
    pub fn restore(&self, lasting: Vec<Vec<u8>>, fresh: &[u8]) -> Option<(Turn, State)> {
        let Asked { marginals, metric, initial, population: by_label, options } = *self;
        let epsilons = epsilons(options, by_label);
        let scope = Scope::new(marginals, by_label, metric, options.k, &epsilons);
        let population: &Population = &scope.population(by_label);
        let small: Small = serde_json::from_slice(fresh).ok()?;
        let positives = population.fractions();
        let tensor = |answer: &Vec<u8>| {
            let counts = Answer::unpack(answer, scope.columns())?;
            Some(Tensor::with_positives(&counts, population, Arc::clone(&positives)))
        };
        let mixture = scope.arrange(initial.clone().mixture(by_label, options.k, options.candidates));
        let (first, steps) = lasting.split_at_checked(mixture.rules.len())?;
        let parts: Vec<Tensor> = first.iter().map(tensor).collect::<Option<_>>()?;
        let current = mixture_of(&mixture.weights, parts);
        let state = State::new(mixture, current, small.initial_utility.value());
        let mut search = Search::new(metric, population, options, &scope, state);
        let [taken, directions] = [small.trajectory.len(), small.directions.len()];
        if taken != steps.len() || directions != steps.len() {
            return None;
        }
        for ((answer, &direction), &[value, size, ..]) in
            steps.iter().zip(&small.directions).zip(&small.trajectory)
        {
            let step = Step { size: size.value(), value: value.value() };
            let gradient = search.gradient(direction).ok()?;
            let rule = search.rule(&gradient);
            search.go(rule, &tensor(answer)?, step);
            search.spare = Some(gradient);
        }
        // The same way must lead to the same place.
        let utility = small.utility.value();
        if search.objective.value(&search.state.current).to_bits() != utility.to_bits() {
            return None;
        }
        let iteration = |[utility, step, gap, seconds]: [f64; 4]| Iteration { utility, step, gap, seconds };
        let state = State {
            utility,
            gap: small.gap.value(),
            stall: small.stall,
            trajectory: small.trajectory.iter().map(|row| iteration(row.map(Bits::value))).collect(),
            directions: small.directions,
            answers: lasting.into_iter().map(|bytes| Arc::new(Answer::from_bytes(bytes))).collect(),
            passes: small.passes,
            seconds: Seconds::from_array(small.seconds.map(Bits::value)),
            ..search.state
        };
        Some((small.turn, state))
    }
}
