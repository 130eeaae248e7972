//! Adam (Kingma and Ba 2015), with its usual constants and bias correction.
//!
//! Rows of the first weight matrix that no instance of a batch reads have a gradient of zero, but still move by their
//! momentum. Updating a matrix of which a step reads a small part would take most of the time. Such rows therefore fall
//! behind, and catch up, with the bits of step-by-step updates, when they are next read or when an epoch ends. After
//! [`MAX_IDLE_STEPS`] the momentum is 5e-8 of what it was and moves no weight any more: it is set to zero.

use pulp::Arch;
use rayon::prelude::*;

use crate::simd::with_simd;

const BETA_1: f32 = 0.9;
const BETA_2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// Idle steps that are done one by one.
const MAX_IDLE_STEPS: u32 = 160;

/// Parameters that one task of a thread updates.
const NUMBERS_PER_TASK: usize = 1 << 14;

/// Moments of all parameters, and the progress of the rows that may fall behind.
#[derive(Clone, Debug)]
pub(super) struct Adam {
    pub first: Vec<f32>,
    pub second: Vec<f32>,
    /// Steps done.
    pub steps: u32,
    rate: f64,
    /// Start of the rows that may fall behind, and their length.
    rows_from: usize,
    width: usize,
    /// Steps done by each of these rows.
    done: Vec<u32>,
    /// Scales of each step, from step 1 on.
    scales: Vec<StepScale>,
    arch: Arch,
}

/// Factors that depend on the number of the step.
#[derive(Clone, Copy, Debug)]
struct StepScale {
    /// The learning rate over the correction of the first moment.
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
    fn step(self, weight: &mut f32, first: &mut f32, second: &mut f32, gradient: f32) {
        *first = BETA_1 * *first + (1.0 - BETA_1) * gradient;
        *second = BETA_2 * *second + (1.0 - BETA_2) * (gradient * gradient);
        *weight -= self.rate * *first / (second.sqrt() * self.root + EPSILON);
    }

    /// Equivalent of [`StepScale::step`] with a gradient of zero.
    #[inline(always)]
    fn idle_step(self, weight: &mut f32, first: &mut f32, second: &mut f32) {
        *first *= BETA_1;
        *second *= BETA_2;
        *weight -= self.rate * *first / (second.sqrt() * self.root + EPSILON);
    }

    fn update(
        self,
        arch: Arch,
        weights: &mut [f32],
        first: &mut [f32],
        second: &mut [f32],
        gradient: &[f32],
    ) {
        with_simd(
            arch,
            #[inline(always)]
            || {
                let moments = first.iter_mut().zip(second.iter_mut());
                for ((weight, (first, second)), &gradient) in weights.iter_mut().zip(moments).zip(gradient) {
                    self.step(weight, first, second, gradient);
                }
            },
        );
    }
}

/// A row that may fall behind: its weights, their moments and the steps done.
struct Row<'a> {
    weights: &'a mut [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
    done: &'a mut u32,
}

impl Adam {
    /// For `count` parameters, of which those from `rows_from` on are rows of `width` that may fall behind.
    pub fn new(count: usize, rows_from: usize, width: usize, rate: f64) -> Adam {
        Adam {
            first: vec![0.0; count],
            second: vec![0.0; count],
            steps: 0,
            rate,
            rows_from,
            width,
            done: vec![0; (count - rows_from) / width],
            scales: Vec::new(),
            arch: Arch::new(),
        }
    }

    /// Restores the state after `steps` steps, at the end of an epoch.
    pub fn resume(&mut self, steps: u32, first: Vec<f32>, second: Vec<f32>) {
        assert_eq!((first.len(), second.len()), (self.first.len(), self.second.len()));
        (self.first, self.second, self.steps) = (first, second, steps);
        self.done.fill(steps);
    }

    /// Brings rows, given in ascending order, up to date, so that the next step can read them.
    pub fn catch_up(&mut self, parameters: &mut [f32], rows: &[u32]) {
        let (steps, arch) = (self.steps, self.arch);
        let (rows, scales) = self.rows(parameters, rows);
        rows.into_par_iter().with_min_len(16).for_each(|row| row.catch_up(arch, scales, steps));
    }

    /// Brings all rows up to date.
    pub fn catch_up_all(&mut self, parameters: &mut [f32]) {
        let rows: Vec<u32> = (0..self.done.len() as u32).collect();
        self.catch_up(parameters, &rows);
    }

    /// Makes a step with the parameters before all rows, and with `rows`, which must be up to date. `gradient` has
    /// those parameters, then those rows.
    pub fn step(&mut self, parameters: &mut [f32], gradient: &[f32], rows: &[u32]) {
        self.steps += 1;
        let (step, arch, from, width) = (self.steps, self.arch, self.rows_from, self.width);
        self.extend_scales();
        let scale = self.scales[step as usize - 1];
        let (gradient, of_rows) = gradient.split_at(from);
        let moments = self.first[..from]
            .par_chunks_mut(NUMBERS_PER_TASK)
            .zip(self.second[..from].par_chunks_mut(NUMBERS_PER_TASK));
        parameters[..from]
            .par_chunks_mut(NUMBERS_PER_TASK)
            .zip(moments)
            .zip(gradient.par_chunks(NUMBERS_PER_TASK))
            .for_each(|((weights, (first, second)), gradient)| {
                scale.update(arch, weights, first, second, gradient);
            });
        let (rows, _) = self.rows(parameters, rows);
        rows.into_par_iter().zip(of_rows.par_chunks_exact(width)).with_min_len(16).for_each(
            |(row, gradient)| {
                scale.update(arch, row.weights, row.first, row.second, gradient);
                *row.done = step;
            },
        );
    }

    fn extend_scales(&mut self) {
        let known = self.scales.len() as u32;
        self.scales.extend((known + 1..=self.steps).map(|step| StepScale::of(step, self.rate)));
    }

    /// Returns some rows, given in ascending order, and the scales of all steps.
    fn rows<'a>(&'a mut self, parameters: &'a mut [f32], rows: &[u32]) -> (Vec<Row<'a>>, &'a [StepScale]) {
        fn take<'a, T>(rest: &mut &'a mut [T], skip: usize, width: usize) -> &'a mut [T] {
            let row = rest.split_off_mut(..skip * width).and_then(|_| rest.split_off_mut(..width));
            row.expect("rows ascend and exist")
        }
        self.extend_scales();
        let (from, width) = (self.rows_from, self.width);
        let mut weights = &mut parameters[from..];
        let (mut first, mut second) = (&mut self.first[from..], &mut self.second[from..]);
        let mut done = self.done.as_mut_slice();
        let mut next = 0;
        let row = |&row: &u32| {
            let skip = row as usize - next;
            next = row as usize + 1;
            Row {
                weights: take(&mut weights, skip, width),
                first: take(&mut first, skip, width),
                second: take(&mut second, skip, width),
                done: &mut take(&mut done, skip, 1)[0],
            }
        };
        (rows.iter().map(row).collect(), &self.scales)
    }
}

/// Weights that go through all idle steps together, within registers.
const REGISTER_NUMBERS: usize = 16;

impl Row<'_> {
    fn catch_up(self, arch: Arch, scales: &[StepScale], steps: u32) {
        let Row { weights, first, second, done } = self;
        let idle = *done as usize..steps.min(*done + MAX_IDLE_STEPS) as usize;
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
                    let [mut w, mut m, mut v] = [[0.0f32; REGISTER_NUMBERS]; 3];
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
}
