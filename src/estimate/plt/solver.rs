//! L2-regularised logistic regression of several nodes at once, by dual coordinate descent.
//!
//! The problem of a node is LIBLINEAR's: the least of |w|^2 / 2 + cost * (sum of log(1 + exp(-y w.x))), where x ends with
//! a 1 for the bias. In the dual (Yu, Huang and Lin 2011) every row has a coefficient, w is the sum of rows times
//! coefficients, and one coefficient after the other is moved to where it is best. At the solution the coefficient of a row
//! is `cost * (target - probability)`.
//!
//! Nodes that see the same rows are solved side by side, as the lanes of vectors: features are looked up once for all
//! of them. A lane can sit out rows that are not its own. Nothing is added across lanes, so a node's weights do not
//! depend on how wide the vectors of a processor are.

#![allow(clippy::needless_range_loop, reason = "lanes of several vectors side by side")]

use super::options::TreeOptions;
use super::sigmoid::sigmoid;
use crate::random::{Purpose, RandomSequence};

/// Rows of a problem. Columns are those of the weights to be found.
#[derive(Clone, Debug, Default)]
pub(super) struct LocalRows {
    pub starts: Vec<usize>,
    pub columns: Vec<u32>,
    pub values: Vec<f32>,
    /// Columns there are.
    pub width: usize,
}

/// The lanes of which a row is a positive instance, and those it is an instance of at all, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LaneTargets {
    pub positive: u32,
    pub included: u32,
}

/// Weights of all lanes: a vector of lanes for each column.
pub(super) struct Solution<const LANES: usize> {
    pub weights: Vec<[f32; LANES]>,
    pub biases: [f32; LANES],
}

/// Solves the problems of all lanes. `problem` tells problems apart that share a seed.
///
/// It is solved when no coefficient that a pass comes to is farther from where it should be than the tolerance, in units
/// of the cost: that is how far the probability of a row may be from what its coefficient stands for.
pub(super) fn solve<const LANES: usize>(
    rows: &LocalRows,
    targets: &[LaneTargets],
    options: &TreeOptions,
    problem: u64,
) -> Solution<LANES> {
    let mut state = SolverState::<LANES> {
        rows,
        targets,
        cost: options.cost as f32,
        squares: squared_norms(rows),
        coefficients: vec![[0.0; LANES]; targets.len()],
        weights: vec![[0.0; LANES]; rows.width],
        biases: [0.0; LANES],
        pauses: vec![RowPause::default(); targets.len()],
        limit: (options.tolerance * options.cost) as f32,
    };
    let mut order: Vec<u32> = (0..targets.len() as u32).collect();
    let mut random = RandomSequence::new(options.seed, Purpose::Solver, problem);
    for _ in 0..options.max_passes {
        shuffle(&mut order, &mut random);
        let farthest = pulp::Arch::new().dispatch(SolverPass { state: &mut state, order: &order });
        if farthest <= state.limit {
            break;
        }
    }
    Solution { weights: state.weights, biases: state.biases }
}

/// What solving one coefficient after the other reads and changes.
struct SolverState<'r, const LANES: usize> {
    rows: &'r LocalRows,
    targets: &'r [LaneTargets],
    cost: f32,
    /// |x|^2 of each row, the bias included.
    squares: Vec<f32>,
    coefficients: Vec<[f32; LANES]>,
    weights: Vec<[f32; LANES]>,
    biases: [f32; LANES],
    pauses: Vec<RowPause>,
    /// How far a coefficient may be from where it should be.
    limit: f32,
}

/// Rows whose coefficients hardly move are left alone for some passes: 1, then 3, then 7 at a time.
#[derive(Clone, Copy, Default)]
struct RowPause {
    left: u8,
    length: u8,
}

/// One pass over the rows; tells how far the farthest coefficient was from where it should be.
struct SolverPass<'w, 'r, const LANES: usize> {
    state: &'w mut SolverState<'r, LANES>,
    order: &'w [u32],
}

impl<const LANES: usize> pulp::WithSimd for SolverPass<'_, '_, LANES> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> f32 {
        let mut farthest = 0.0f32;
        for &row in self.order {
            let row = row as usize;
            let RowPause { left, length } = self.state.pauses[row];
            if left > 0 {
                self.state.pauses[row].left -= 1;
                continue;
            }
            let distance = self.state.step(row);
            let length = if distance < 0.1 * self.state.limit { (2 * length + 1).min(7) } else { 0 };
            self.state.pauses[row] = RowPause { left: length, length };
            farthest = farthest.max(distance);
        }
        farthest
    }
}

impl<const LANES: usize> SolverState<'_, LANES> {
    /// Moves the coefficients of one row; tells the largest distance from where they should have been.
    #[inline(always)]
    fn step(&mut self, row: usize) -> f32 {
        let entries = self.rows.starts[row]..self.rows.starts[row + 1];
        let (columns, values) = (&self.rows.columns[entries.clone()], &self.rows.values[entries]);
        let scores = self.scores(columns, values);
        let (cost, square) = (self.cost, self.squares[row]);
        let LaneTargets { positive, included } = self.targets[row];
        let coefficients = &mut self.coefficients[row];
        let mut moves = [0.0f32; LANES];
        let mut distances = [0.0f32; LANES];
        for lane in 0..LANES {
            let target = ((positive >> lane) & 1) as f32;
            let counts = ((included >> lane) & 1) as f32;
            let now = sigmoid(scores[lane]);
            let distance = (cost * (target - now) - coefficients[lane]) * counts;
            // Newton's step, and then the slope from here to where it leads.
            let first = distance / (1.0 + cost * square * now * (1.0 - now));
            let then = sigmoid(scores[lane] + first * square);
            let slope = first + cost * (then - now);
            let second = distance * first / slope;
            // Where the step is too small to tell, the first will do.
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

    /// In an order that depends on the row alone; two sums, so that one addition need not wait for the other.
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

fn squared_norms(rows: &LocalRows) -> Vec<f32> {
    let square = |entries: &[usize]| {
        let values = &rows.values[entries[0]..entries[1]];
        1.0 + values.iter().map(|value| value * value).sum::<f32>()
    };
    rows.starts.windows(2).map(square).collect()
}

/// Fisher and Yates.
fn shuffle(order: &mut [u32], random: &mut RandomSequence) {
    for last in (1..order.len()).rev() {
        let other = ((random.next_bits() >> 32) * (last as u64 + 1)) >> 32;
        order.swap(last, other as usize);
    }
}
