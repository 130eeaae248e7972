//! Forward and backward pass of a step: the loss of a batch, and its gradient with respect to all parameters.

use std::sync::Mutex;

use ndarray::{ArrayView2, s};
use pulp::Arch;
use rayon::prelude::*;

use super::batch::{Batch, InputLayout};
use super::dropout::Dropout;
use super::loss::Loss;
use super::matmul::{
    COLUMNS_PER_BLOCK, add_scaled_rows, for_each_column_block, matrix, matrix_mut, multiply,
};
use super::network::{LayerLayout, Network};
use crate::simd::with_simd;
use crate::sparse::RowsView;

/// Sparse rows of a batch that one task of a thread reads.
const ROWS_PER_TASK: usize = 8;

/// This rank's rows, and what is computed from them.
#[derive(Clone, Copy)]
pub(super) struct TrainingData<'d> {
    pub features: RowsView<'d>,
    pub labels: RowsView<'d>,
    /// Global number of the first row.
    pub first_row: u64,
    pub input: InputLayout,
    pub loss: Loss,
}

/// Inputs of a step.
#[derive(Clone, Copy)]
pub(super) struct Step<'s> {
    pub network: &'s Network,
    pub data: TrainingData<'s>,
    pub batch: &'s Batch,
    pub dropout: Dropout,
    /// One over the number of rows in the batches of all ranks.
    pub scale: f32,
}

impl Step<'_> {
    fn rows(&self) -> usize {
        self.batch.rows.len()
    }

    /// Returns the global number of a row of the batch.
    fn global_row(&self, at: usize) -> u64 {
        self.data.first_row + self.batch.rows[at] as u64
    }

    fn cells(&self) -> ArrayView2<'_, f32> {
        matrix(self.rows(), self.network.shape.features, &self.batch.cells)
    }

    /// Returns the weights of a layer other than the first, as outputs x inputs.
    fn weights(&self, layer: usize) -> ArrayView2<'_, f32> {
        let layout = &self.network.layouts[layer];
        matrix(layout.outputs, layout.inputs, self.network.weights(layer))
    }
}

/// Buffers of a step, reused from step to step.
pub(super) struct Backprop {
    /// Hidden units of each layer and the gradients at them, with a row for each row of the batch.
    units: Vec<Vec<f32>>,
    unit_gradients: Vec<Vec<f32>>,
    /// Logits, later the gradients at them.
    logits: Vec<f32>,
    /// Gradient with respect to the parameters: all but the first layer's weights, then the rows of those that the
    /// batch reads ([`Batch::features`]) or, for dense input, all of them.
    pub parameter_gradients: Vec<f32>,
    arch: Arch,
}

impl Backprop {
    pub fn new(network: &Network) -> Backprop {
        let layers = network.shape.hidden.len();
        Backprop {
            units: vec![Vec::new(); layers],
            unit_gradients: vec![Vec::new(); layers],
            logits: Vec::new(),
            parameter_gradients: Vec::new(),
            arch: Arch::new(),
        }
    }

    /// Computes `parameter_gradients`, this rank's part of the gradient of the mean loss, and returns the sum of the
    /// loss over this rank's batch.
    pub fn run(&mut self, step: Step<'_>) -> f64 {
        let Step { network, data, batch, .. } = step;
        let rows_read = match data.input {
            InputLayout::Sparse => batch.features.len(),
            InputLayout::Dense => network.shape.features,
        };
        let first = &network.layouts[0];
        self.parameter_gradients.resize(first.weights.start + rows_read * first.outputs, 0.0);
        if batch.rows.is_empty() {
            self.parameter_gradients.fill(0.0);
            return 0.0;
        }
        let last = network.layers() - 1;
        self.forward_first_layer(step);
        (1..last).for_each(|layer| self.forward_hidden_layer(step, layer));
        let loss = self.forward_and_back_last_layer(step);
        for layer in (1..=last).rev() {
            self.unit_gradient(step, layer);
            if layer > 1 {
                self.hidden_gradient(step, layer - 1);
            }
        }
        self.first_gradient(step);
        loss
    }

    fn forward_first_layer(&mut self, step: Step<'_>) {
        let Step { network, data, batch, dropout, .. } = step;
        let (width, arch, units) = (network.shape.hidden[0], self.arch, &mut self.units[0]);
        let (weights, biases) = (network.weights(0), network.biases(0));
        match data.input {
            InputLayout::Sparse => {
                units.resize(step.rows() * width, 0.0);
                units.par_chunks_mut(ROWS_PER_TASK * width).enumerate().for_each(|(group, units)| {
                    for (at, units) in (group * ROWS_PER_TASK..).zip(units.chunks_exact_mut(width)) {
                        units.copy_from_slice(biases);
                        add_scaled_rows(arch, units, weights, data.features.row(batch.rows[at]));
                        dropout.rectify(units, 0, step.global_row(at), 0);
                    }
                })
            }
            InputLayout::Dense => {
                forward_dense(step, 0, step.cells(), matrix(network.shape.features, width, weights), units);
            }
        }
    }

    fn forward_hidden_layer(&mut self, step: Step<'_>, layer: usize) {
        let (before, after) = self.units.split_at_mut(layer);
        let inputs = matrix(step.rows(), step.network.layouts[layer].inputs, &before[layer - 1]);
        forward_dense(step, layer, inputs, step.weights(layer).reversed_axes(), &mut after[0]);
    }

    /// Computes the logits, the loss, the gradients at the logits and those at the last layer's parameters: block by
    /// block, while a block is in the cache.
    fn forward_and_back_last_layer(&mut self, step: Step<'_>) -> f64 {
        let Step { network, data, batch, scale, .. } = step;
        let (layer, count, arch) = (network.layers() - 1, step.rows(), self.arch);
        let layout = &network.layouts[layer];
        self.logits.resize(count * layout.outputs, 0.0);
        let inputs = matrix(count, layout.inputs, &self.units[layer - 1]);
        let weights = step.weights(layer);
        let (of_weights, of_biases) = weights_and_biases(&mut self.parameter_gradients, layout);
        let blocks: Vec<Mutex<_>> = of_weights
            .chunks_mut(COLUMNS_PER_BLOCK * layout.inputs)
            .zip(of_biases.chunks_mut(COLUMNS_PER_BLOCK))
            .map(Mutex::new)
            .collect();
        let logits = matrix_mut(count, layout.outputs, &mut self.logits);
        let losses = for_each_column_block(logits, |from, mut logits| {
            let labels = from..from + logits.ncols();
            multiply(&inputs, &weights.slice(s![labels.clone(), ..]).t(), &mut logits);
            let mut block = blocks[from / COLUMNS_PER_BLOCK].lock().expect("each block is locked once");
            let (of_weights, of_biases) = &mut *block;
            of_biases.fill(0.0);
            let biases = &network.biases(layer)[labels.clone()];
            let mut loss = 0.0;
            for (mut logits, &row) in logits.rows_mut().into_iter().zip(&batch.rows) {
                let logits = logits.as_slice_mut().expect("the cells of a row are contiguous");
                let positives = labels_in_range(data.labels.row(row).0, &labels);
                loss += with_simd(
                    arch,
                    #[inline(always)]
                    || {
                        logits.iter_mut().zip(biases).for_each(|(logit, bias)| *logit += bias);
                        let positives = positives.iter().map(|&label| label as usize - from);
                        let loss = data.loss.gradients(logits, positives, scale);
                        of_biases.iter_mut().zip(&*logits).for_each(|(sum, gradient)| *sum += gradient);
                        loss
                    },
                );
            }
            let mut of_weights = matrix_mut(labels.len(), layout.inputs, of_weights);
            multiply(&logits.view().reversed_axes(), &inputs, &mut of_weights);
            loss
        });
        losses.into_iter().sum()
    }

    /// Computes the gradients at the hidden units below a layer from those at its outputs.
    fn unit_gradient(&mut self, step: Step<'_>, layer: usize) {
        let (layout, count) = (&step.network.layouts[layer], step.rows());
        let (below, above) = self.unit_gradients.split_at_mut(layer);
        let outputs = matrix(count, layout.outputs, above.first().unwrap_or(&self.logits));
        let weights = step.weights(layer);
        let units = matrix(count, layout.inputs, &self.units[layer - 1]);
        let gradients = &mut below[layer - 1];
        gradients.resize(count * layout.inputs, 0.0);
        for_each_column_block(matrix_mut(count, layout.inputs, gradients), |from, mut gradients| {
            let inputs = from..from + gradients.ncols();
            multiply(&outputs, &weights.slice(s![.., inputs.clone()]), &mut gradients);
            // A unit that is 0 was rectified or left out, and has no influence.
            ndarray::Zip::from(&mut gradients).and(&units.slice(s![.., inputs])).for_each(
                |gradient, &unit| *gradient = if unit > 0.0 { *gradient * step.dropout.scale } else { 0.0 },
            );
        });
    }

    /// Computes the gradients at the parameters of a hidden layer other than the first.
    fn hidden_gradient(&mut self, step: Step<'_>, layer: usize) {
        let (layout, count) = (&step.network.layouts[layer], step.rows());
        let gradients = matrix(count, layout.outputs, &self.unit_gradients[layer]);
        let inputs = matrix(count, layout.inputs, &self.units[layer - 1]);
        let (of_weights, of_biases) = weights_and_biases(&mut self.parameter_gradients, layout);
        let blocks = of_weights
            .par_chunks_mut(COLUMNS_PER_BLOCK * layout.inputs)
            .zip(of_biases.par_chunks_mut(COLUMNS_PER_BLOCK))
            .enumerate();
        blocks.for_each(|(block, (of_weights, of_biases))| {
            let outputs = block * COLUMNS_PER_BLOCK..block * COLUMNS_PER_BLOCK + of_biases.len();
            let gradients = gradients.slice(s![.., outputs]);
            multiply(&gradients.t(), &inputs, &mut matrix_mut(of_biases.len(), layout.inputs, of_weights));
            sum_rows(gradients, of_biases);
        });
    }

    fn first_gradient(&mut self, step: Step<'_>) {
        let (width, arch, layout) = (step.network.shape.hidden[0], self.arch, &step.network.layouts[0]);
        let gradients = matrix(step.rows(), width, &self.unit_gradients[0]);
        let (others, of_weights) = self.parameter_gradients.split_at_mut(layout.weights.start);
        sum_rows(gradients, &mut others[layout.biases.clone()]);
        match step.data.input {
            InputLayout::Sparse => {
                let gradients = &self.unit_gradients[0];
                of_weights.par_chunks_exact_mut(width).with_min_len(4).enumerate().for_each(|(slot, row)| {
                    row.fill(0.0);
                    add_scaled_rows(arch, row, gradients, step.batch.entries_of(slot));
                });
            }
            InputLayout::Dense => {
                let of_weights = matrix_mut(step.network.shape.features, width, of_weights);
                for_each_column_block(of_weights, |from, mut block| {
                    let columns = from..from + block.ncols();
                    multiply(&step.cells().t(), &gradients.slice(s![.., columns]), &mut block);
                });
            }
        }
    }
}

/// Computes the hidden units of a layer from its `inputs` and its `weights`, a matrix of inputs x outputs.
fn forward_dense(
    step: Step<'_>,
    layer: usize,
    inputs: ArrayView2<'_, f32>,
    weights: ArrayView2<'_, f32>,
    units: &mut Vec<f32>,
) {
    let biases = step.network.biases(layer);
    units.resize(step.rows() * biases.len(), 0.0);
    for_each_column_block(matrix_mut(step.rows(), biases.len(), units), |from, mut units| {
        let outputs = from..from + units.ncols();
        multiply(&inputs, &weights.slice(s![.., outputs.clone()]), &mut units);
        for (at, mut units) in units.rows_mut().into_iter().enumerate() {
            let units = units.as_slice_mut().expect("the cells of a row are contiguous");
            units.iter_mut().zip(&biases[outputs.clone()]).for_each(|(unit, bias)| *unit += bias);
            step.dropout.rectify(units, layer, step.global_row(at), from);
        }
    });
}

/// Returns the gradients at a layer's weights and at its biases, which follow them.
fn weights_and_biases<'g>(gradient: &'g mut [f32], layout: &LayerLayout) -> (&'g mut [f32], &'g mut [f32]) {
    gradient[layout.weights.start..layout.biases.end].split_at_mut(layout.weights.len())
}

/// Returns the labels within a range, of ascending `labels`.
fn labels_in_range<'l>(labels: &'l [u32], range: &std::ops::Range<usize>) -> &'l [u32] {
    let start = labels.partition_point(|&label| (label as usize) < range.start);
    let end = labels.partition_point(|&label| (label as usize) < range.end);
    &labels[start..end]
}

fn sum_rows(rows: ArrayView2<'_, f32>, sums: &mut [f32]) {
    sums.fill(0.0);
    for row in rows.rows() {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
}
