//! L2-regularised logistic regression of several nodes together, by dual coordinate descent.
//!
//! The problem of a node is that of LIBLINEAR (Fan et al. 2008): minimise |w|^2 / 2 + cost * (sum of log(1 + exp(-y
//! w.x))), where x ends with a 1 for the bias. In the dual (Yu, Huang and Lin 2011) every row has a coefficient, w is
//! the sum of rows times coefficients, and one coefficient after the other is optimised. At the solution the
//! coefficient of a row is `cost * (target - probability)`.
//!
//! Nodes that see the same rows are solved together, as the lanes of vectors, so that features are looked up once. A
//! lane can exclude rows. Nothing is summed across lanes, so the weights of a node do not depend on the vector width of
//! the processor.

#![allow(clippy::needless_range_loop, reason = "several vectors are indexed by lane")]

use pulp::Arch;

use super::options::TreeOptions;
use crate::estimate::vector_math::tree_sigmoid;
use crate::random::{Purpose, RandomSequence};
use crate::simd::with_simd;
use crate::sparse::RowsView;

/// Lanes for which a row is positive, and lanes that include the row at all, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LaneTargets {
    pub positive: u32,
    pub included: u32,
}

/// Weights of all lanes.
pub(super) struct Solution<const LANES: usize> {
    /// By column.
    pub weights: Vec<[f32; LANES]>,
    pub biases: [f32; LANES],
}

/// Solves the problems of all lanes, on rows of `width` columns. `problem` selects the random draws under a common
/// seed.
///
/// Stops when no coefficient visited by a pass is farther from its optimum than the tolerance times the cost: the
/// tolerance bounds the difference between the probability of a row and the one that its coefficient stands for.
pub(super) fn solve<const LANES: usize>(
    rows: RowsView<'_>,
    width: usize,
    targets: &[LaneTargets],
    options: &TreeOptions,
    problem: u64,
) -> Solution<LANES> {
    let mut state = SolverState::<LANES> {
        rows,
        targets,
        cost: options.cost as f32,
        squares: (0..rows.count())
            .map(|row| 1.0 + rows.row(row).1.iter().map(|x| x * x).sum::<f32>())
            .collect(),
        coefficients: vec![[0.0; LANES]; targets.len()],
        weights: vec![[0.0; LANES]; width],
        biases: [0.0; LANES],
        pauses: vec![RowPause::default(); targets.len()],
        limit: (options.tolerance * options.cost) as f32,
    };
    let mut order: Vec<u32> = (0..targets.len() as u32).collect();
    let mut random = RandomSequence::new(options.seed, Purpose::Solver, problem);
    for _ in 0..options.max_passes {
        shuffle(&mut order, &mut random);
        let farthest = with_simd(
            Arch::new(),
            #[inline(always)]
            || state.pass(&order),
        );
        if farthest <= state.limit {
            break;
        }
    }
    Solution { weights: state.weights, biases: state.biases }
}

/// Data and variables of the descent.
struct SolverState<'r, const LANES: usize> {
    rows: RowsView<'r>,
    targets: &'r [LaneTargets],
    cost: f32,
    /// |x|^2 of each row, including the bias.
    squares: Vec<f32>,
    coefficients: Vec<[f32; LANES]>,
    weights: Vec<[f32; LANES]>,
    biases: [f32; LANES],
    pauses: Vec<RowPause>,
    /// Tolerated distance of a coefficient from its optimum.
    limit: f32,
}

/// Passes that skip a row because its coefficients hardly move: 1, then 3, then 7 at a time.
#[derive(Clone, Copy, Default)]
struct RowPause {
    left: u8,
    length: u8,
}

impl<const LANES: usize> SolverState<'_, LANES> {
    /// Passes over the rows; returns the largest distance of a coefficient from its optimum.
    #[inline(always)]
    fn pass(&mut self, order: &[u32]) -> f32 {
        let mut farthest = 0.0f32;
        for &row in order {
            let row = row as usize;
            let RowPause { left, length } = self.pauses[row];
            if left > 0 {
                self.pauses[row].left -= 1;
                continue;
            }
            let distance = self.step(row);
            let length = if distance < 0.1 * self.limit { (2 * length + 1).min(7) } else { 0 };
            self.pauses[row] = RowPause { left: length, length };
            farthest = farthest.max(distance);
        }
        farthest
    }

    /// Updates the coefficients of one row; returns their largest distance from the optimum.
    #[inline(always)]
    fn step(&mut self, row: usize) -> f32 {
        let (columns, values) = self.rows.row(row);
        let scores = self.scores(columns, values);
        let (cost, square) = (self.cost, self.squares[row]);
        let LaneTargets { positive, included } = self.targets[row];
        let coefficients = &mut self.coefficients[row];
        let mut moves = [0.0f32; LANES];
        let mut distances = [0.0f32; LANES];
        for lane in 0..LANES {
            let target = ((positive >> lane) & 1) as f32;
            let counts = ((included >> lane) & 1) as f32;
            let now = tree_sigmoid(scores[lane]);
            let distance = (cost * (target - now) - coefficients[lane]) * counts;
            // A Newton step, then a secant step through its end.
            let first = distance / (1.0 + cost * square * now * (1.0 - now));
            let then = tree_sigmoid(scores[lane] + first * square);
            let slope = first + cost * (then - now);
            let second = distance * first / slope;
            // The secant is meaningless for a tiny slope.
            let step = if slope.abs() > 1e-6 { second } else { first };
            moves[lane] = step;
            distances[lane] = distance.abs();
            coefficients[lane] += step;
        }
        let largest = distances.iter().fold(0.0f32, |largest, &it| if it > largest { it } else { largest });
        for (&column, &value) in columns.iter().zip(values) {
            let weights = &mut self.weights[column as usize];
            for lane in 0..LANES {
                weights[lane] += value * moves[lane];
            }
        }
        for lane in 0..LANES {
            self.biases[lane] += moves[lane];
        }
        largest
    }

    /// Sums up in an order that depends only on the row, in two sums that do not wait for each other.
    #[inline(always)]
    fn scores(&self, columns: &[u32], values: &[f32]) -> [f32; LANES] {
        let (mut even, mut odd) = (self.biases, [0.0f32; LANES]);
        let (column_pairs, value_pairs) = (columns.chunks_exact(2), values.chunks_exact(2));
        if let (&[column], &[value]) = (column_pairs.remainder(), value_pairs.remainder()) {
            let weights = &self.weights[column as usize];
            for lane in 0..LANES {
                even[lane] += value * weights[lane];
            }
        }
        for (columns, values) in column_pairs.zip(value_pairs) {
            let (first, second) = (&self.weights[columns[0] as usize], &self.weights[columns[1] as usize]);
            for lane in 0..LANES {
                even[lane] += values[0] * first[lane];
                odd[lane] += values[1] * second[lane];
            }
        }
        for lane in 0..LANES {
            even[lane] += odd[lane];
        }
        even
    }
}

/// Fisher-Yates shuffle.
fn shuffle(order: &mut [u32], random: &mut RandomSequence) {
    for last in (1..order.len()).rev() {
        let other = ((random.next_bits() >> 32) * (last as u64 + 1)) >> 32;
        order.swap(last, other as usize);
    }
}
