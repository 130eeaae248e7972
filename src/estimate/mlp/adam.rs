//! Adam (Kingma and Ba 2015), with its usual constants and bias correction.
//!
//! Rows of the first matrix that no row of the batch reads have a gradient of zero, but they move on by what is left of their
//! momentum. Going over a matrix of which a step reads a small part would take most of the time. So such rows are left
//! behind, and do their idle steps, one by one and to the same bits, when they are next read (or when an epoch ends). After
//! [`MAX_IDLE_STEPS`] of them the momentum is a millionth of what it was and no step would move a weight any more: it is then taken to
//! be zero.

use pulp::Arch;
use rayon::prelude::*;

use crate::simd::with_simd;

const BETA_1: f32 = 0.9;
const BETA_2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// Idle steps that are done one by one.
const MAX_IDLE_STEPS: u32 = 160;

/// Numbers that a thread updates at a time.
const NUMBERS_PER_TASK: usize = 1 << 14;

/// The moments of every number, and how far each row of the first matrix has come.
#[derive(Clone, Debug)]
pub(super) struct Adam {
    pub first: Vec<f32>,
    pub second: Vec<f32>,
    /// Steps done.
    pub steps: u32,
    rate: f64,
    /// Where the rows begin that may be left behind, and how long they are.
    rows_from: usize,
    width: usize,
    /// Steps that each of them has done.
    done: Vec<u32>,
    /// What depends on the number of a step, from step 1 on.
    scales: Vec<StepScale>,
    arch: Arch,
}

/// The corrections of one step.
#[derive(Clone, Copy, Debug)]
struct StepScale {
    /// The learning rate, over the correction of the first moment.
    rate: f32,
    /// The correction of the root of the second moment.
    root: f32,
}

impl StepScale {
    fn of(step: u32, rate: f64) -> StepScale {
        let left = |beta: f32| 1.0 - f64::from(beta).powi(step as i32);
        StepScale { rate: (rate / left(BETA_1)) as f32, root: (1.0 / left(BETA_2).sqrt()) as f32 }
    }

    #[inline(always)]
    fn step(self, weight: &mut f32, first: &mut f32, second: &mut f32, slope: f32) {
        *first = BETA_1 * *first + (1.0 - BETA_1) * slope;
        *second = BETA_2 * *second + (1.0 - BETA_2) * (slope * slope);
        *weight -= self.rate * *first / (second.sqrt() * self.root + EPSILON);
    }

    /// The same with a slope of zero.
    #[inline(always)]
    fn idle_step(self, weight: &mut f32, first: &mut f32, second: &mut f32) {
        *first *= BETA_1;
        *second *= BETA_2;
        *weight -= self.rate * *first / (second.sqrt() * self.root + EPSILON);
    }
}

/// Weights, their moments and how far they are, of all rows, and the scales of the steps.
type AllRows<'a> = (&'a mut [f32], &'a mut [f32], &'a mut [f32], &'a mut [u32], &'a [StepScale]);

/// Weights, their moments and how far they are, of one row.
type Row<'a> = ((&'a mut [f32], &'a mut [f32]), (&'a mut [f32], &'a mut u32));

impl Adam {
    /// For `numbers`, of which those from `rows_from` on are rows of `width`.
    pub fn new(numbers: usize, rows_from: usize, width: usize, rate: f64) -> Adam {
        Adam {
            first: vec![0.0; numbers],
            second: vec![0.0; numbers],
            steps: 0,
            rate,
            rows_from,
            width,
            done: vec![0; (numbers - rows_from) / width],
            scales: Vec::new(),
            arch: Arch::new(),
        }
    }

    /// Goes on where another left off, at the end of an epoch.
    pub fn resume(&mut self, steps: u32, first: Vec<f32>, second: Vec<f32>) {
        assert_eq!((first.len(), second.len()), (self.first.len(), self.second.len()));
        (self.first, self.second, self.steps) = (first, second, steps);
        self.done.fill(steps);
    }

    /// The next step begins: these rows are brought to where all others are, so that they can be read.
    pub fn catch_up(&mut self, numbers: &mut [f32], rows: &[u32]) {
        let (steps, arch) = (self.steps, self.arch);
        self.extend_scales(steps);
        let (weights, first, second, done, scales) = self.sparse_rows(numbers);
        let width = weights.len() / done.len().max(1);
        select_rows(rows, weights, first, second, done, width)
            .into_par_iter()
            .for_each(|row| apply_idle_steps(arch, row, scales, steps));
    }

    /// Brings all rows to where the others are.
    pub fn catch_up_all(&mut self, numbers: &mut [f32]) {
        let (steps, arch, width) = (self.steps, self.arch, self.width);
        self.extend_scales(steps);
        let (weights, first, second, done, scales) = self.sparse_rows(numbers);
        weights
            .par_chunks_exact_mut(width)
            .zip(first.par_chunks_exact_mut(width))
            .zip(second.par_chunks_exact_mut(width).zip(done))
            .with_min_len(16)
            .for_each(|row| apply_idle_steps(arch, row, scales, steps));
    }

    /// One step: of everything before the rows with the slopes that `gradient` begins with, then of these rows, which have
    /// caught up, with those behind.
    pub fn step(&mut self, numbers: &mut [f32], gradient: &[f32], rows: &[u32]) {
        self.steps += 1;
        let (step, arch) = (self.steps, self.arch);
        self.extend_scales(step);
        let (slopes, of_rows) = gradient.split_at(self.rows_from);
        let scale = self.scales[step as usize - 1];
        let from = self.rows_from;
        numbers[..from]
            .par_chunks_mut(NUMBERS_PER_TASK)
            .zip(self.first[..from].par_chunks_mut(NUMBERS_PER_TASK))
            .zip(
                self.second[..from].par_chunks_mut(NUMBERS_PER_TASK).zip(slopes.par_chunks(NUMBERS_PER_TASK)),
            )
            .for_each(|((weights, first), (second, slopes))| {
                update(arch, scale, weights, first, second, slopes)
            });
        let width = self.width;
        let (weights, first, second, done, _) = self.sparse_rows(numbers);
        select_rows(rows, weights, first, second, done, width)
            .into_par_iter()
            .zip(of_rows.par_chunks_exact(width))
            .with_min_len(16)
            .for_each(|(((weights, first), (second, done)), slopes)| {
                update(arch, scale, weights, first, second, slopes);
                *done = step;
            });
    }

    /// Makes sure that the scales up to a step are known.
    fn extend_scales(&mut self, step: u32) {
        for next in self.scales.len() as u32 + 1..=step {
            self.scales.push(StepScale::of(next, self.rate));
        }
    }

    fn sparse_rows<'a>(&'a mut self, numbers: &'a mut [f32]) -> AllRows<'a> {
        let from = self.rows_from;
        (
            &mut numbers[from..],
            &mut self.first[from..],
            &mut self.second[from..],
            &mut self.done,
            &self.scales,
        )
    }
}

/// The rows with these numbers, which ascend.
fn select_rows<'a>(
    rows: &[u32],
    mut weights: &'a mut [f32],
    mut first: &'a mut [f32],
    mut second: &'a mut [f32],
    mut done: &'a mut [u32],
    width: usize,
) -> Vec<Row<'a>> {
    let mut at = 0;
    rows.iter()
        .map(|&row| {
            let skip = row as usize - at;
            at = row as usize + 1;
            let row = |rest: &mut &'a mut [f32]| {
                let (_, left) = std::mem::take(rest).split_at_mut(skip * width);
                let (mine, left) = left.split_at_mut(width);
                *rest = left;
                mine
            };
            let (weights, first, second) = (row(&mut weights), row(&mut first), row(&mut second));
            let (_, left) = std::mem::take(&mut done).split_at_mut(skip);
            let (mine, left) = left.split_at_mut(1);
            done = left;
            ((weights, first), (second, &mut mine[0]))
        })
        .collect()
}

fn update(
    arch: Arch,
    scale: StepScale,
    weights: &mut [f32],
    first: &mut [f32],
    second: &mut [f32],
    slopes: &[f32],
) {
    with_simd(
        arch,
        #[inline(always)]
        || {
            let moments = first.iter_mut().zip(second.iter_mut());
            for ((weight, (first, second)), &slope) in weights.iter_mut().zip(moments).zip(slopes) {
                scale.step(weight, first, second, slope);
            }
        },
    );
}

/// Numbers of a row that go through all idle steps together, within the registers of a processor.
const REGISTER_NUMBERS: usize = 16;

fn apply_idle_steps(
    arch: Arch,
    ((weights, first), (second, done)): Row<'_>,
    scales: &[StepScale],
    steps: u32,
) {
    let idle = (*done as usize)..(steps.min(*done + MAX_IDLE_STEPS) as usize);
    let rest = steps - idle.end as u32;
    *done = steps;
    if idle.is_empty() {
        return;
    }
    let scales = &scales[idle];
    with_simd(
        arch,
        #[inline(always)]
        || {
            let groups = weights
                .chunks_mut(REGISTER_NUMBERS)
                .zip(first.chunks_mut(REGISTER_NUMBERS))
                .zip(second.chunks_mut(REGISTER_NUMBERS));
            for ((weights, first), second) in groups {
                let (mut w, mut m, mut v) =
                    ([0.0f32; REGISTER_NUMBERS], [0.0f32; REGISTER_NUMBERS], [0.0f32; REGISTER_NUMBERS]);
                let count = weights.len();
                w[..count].copy_from_slice(weights);
                m[..count].copy_from_slice(first);
                v[..count].copy_from_slice(second);
                for scale in scales {
                    for at in 0..REGISTER_NUMBERS {
                        scale.idle_step(&mut w[at], &mut m[at], &mut v[at]);
                    }
                }
                weights.copy_from_slice(&w[..count]);
                first.copy_from_slice(&m[..count]);
                second.copy_from_slice(&v[..count]);
            }
            if rest > 0 {
                let left = BETA_2.powi(rest as i32);
                first.fill(0.0);
                second.iter_mut().for_each(|second| *second *= left);
            }
        },
    );
}
