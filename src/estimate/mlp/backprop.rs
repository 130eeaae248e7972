//! One step forwards and backwards: the loss of a batch, and its slope at every number of the network.

use ndarray::s;
use pulp::Arch;
use rayon::prelude::*;

use super::batch::{Batch, InputLayout};
use super::dropout::Dropout;
use super::loss::Loss;
use super::matmul::{COLUMNS_PER_BLOCK, for_each_column_block, matrix, matrix_mut, multiply};
use super::network::Network;
use super::sparse_layer::add_scaled_rows;
use crate::simd::with_simd;
use crate::sparse::RowsView;

/// Rows of a batch that a thread reads entry by entry at a time.
const ROWS_PER_TASK: usize = 8;

/// What a batch is computed from, beside the network.
#[derive(Clone, Copy)]
pub(super) struct TrainingData<'d> {
    pub features: RowsView<'d>,
    pub labels: RowsView<'d>,
    /// The global number of the first row.
    pub first_row: u64,
    pub input: InputLayout,
    pub loss: Loss,
}

/// Space for a step, used again and again.
pub(super) struct Backprop {
    /// Hidden units of each layer, and the gradients at them: a row for each of the batch.
    units: Vec<Vec<f32>>,
    unit_gradients: Vec<Vec<f32>>,
    /// Logits, then the gradients at them.
    logits: Vec<f32>,
    /// Slopes at the numbers of the network: all but the first matrix, then the rows of that which the batch reads
    /// ([`Batch::features`]), or the whole of it.
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

    /// Puts the gradients of the mean loss into `gradient`, where `scale` is one over the rows of all ranks' batches, and
    /// returns the sum of the loss over this rank's.
    pub fn run(
        &mut self,
        network: &Network,
        data: TrainingData<'_>,
        batch: &Batch,
        dropout: Dropout,
        scale: f32,
    ) -> f64 {
        let rows_read = match data.input {
            InputLayout::Sparse => batch.features.len(),
            InputLayout::Dense => network.shape.features,
        };
        let first = &network.layer_layouts[0];
        self.parameter_gradients.resize(first.weights.start + rows_read * first.outputs, 0.0);
        if batch.rows.is_empty() {
            self.parameter_gradients.fill(0.0);
            return 0.0;
        }
        self.forward_first_layer(network, data, batch, dropout);
        for layer in 1..network.layers() - 1 {
            self.forward_hidden_layer(network, data, batch, dropout, layer);
        }
        let loss = self.forward_and_back_last_layer(network, data, batch, scale);
        for layer in (1..network.layers()).rev() {
            self.backpropagate_layer(network, batch, dropout.scale, layer);
            if layer > 1 {
                self.hidden_gradient(network, batch, layer - 1);
            }
        }
        self.first_gradient(network, data, batch);
        loss
    }

    fn forward_first_layer(
        &mut self,
        network: &Network,
        data: TrainingData<'_>,
        batch: &Batch,
        dropout: Dropout,
    ) {
        let (width, arch) = (network.shape.hidden[0], self.arch);
        let (weights, biases) = (network.weights(0), network.biases(0));
        let units = &mut self.units[0];
        units.resize(batch.rows.len() * width, 0.0);
        let row_of = |at: usize| data.first_row + batch.rows[at] as u64;
        match data.input {
            InputLayout::Sparse => {
                units.par_chunks_mut(ROWS_PER_TASK * width).enumerate().for_each(|(group, units)| {
                    for (at, units) in (group * ROWS_PER_TASK..).zip(units.chunks_exact_mut(width)) {
                        units.copy_from_slice(biases);
                        add_scaled_rows(arch, units, weights, data.features.row(batch.rows[at]));
                        dropout.rectify(units, 0, row_of(at), 0);
                    }
                })
            }
            InputLayout::Dense => {
                let cells = matrix(batch.rows.len(), network.shape.features, &batch.cells);
                let weights = matrix(network.shape.features, width, weights);
                for_each_column_block(matrix_mut(batch.rows.len(), width, units), |from, mut units| {
                    let columns = from..from + units.ncols();
                    multiply(&cells, &weights.slice(s![.., columns.clone()]), &mut units);
                    activate(units, &biases[columns], dropout, 0, from, row_of);
                });
            }
        }
    }

    fn forward_hidden_layer(
        &mut self,
        network: &Network,
        data: TrainingData<'_>,
        batch: &Batch,
        dropout: Dropout,
        layer: usize,
    ) {
        let place = &network.layer_layouts[layer];
        let (before, after) = self.units.split_at_mut(layer);
        let units = &mut after[0];
        units.resize(batch.rows.len() * place.outputs, 0.0);
        let inputs = matrix(batch.rows.len(), place.inputs, &before[layer - 1]);
        let weights = matrix(place.outputs, place.inputs, network.weights(layer));
        let row_of = |at: usize| data.first_row + batch.rows[at] as u64;
        for_each_column_block(matrix_mut(batch.rows.len(), place.outputs, units), |from, mut units| {
            let outputs = from..from + units.ncols();
            multiply(&inputs, &weights.slice(s![outputs.clone(), ..]).t(), &mut units);
            activate(units, &network.biases(layer)[outputs], dropout, layer, from, row_of);
        });
    }

    /// Logits, loss, the gradients at the logits, and the gradients at the last layer's numbers: block by block, while a block is in
    /// the cache of a processor.
    fn forward_and_back_last_layer(
        &mut self,
        network: &Network,
        data: TrainingData<'_>,
        batch: &Batch,
        scale: f32,
    ) -> f64 {
        let (layer, count, arch) = (network.layers() - 1, batch.rows.len(), self.arch);
        let place = &network.layer_layouts[layer];
        self.logits.resize(count * place.outputs, 0.0);
        let inputs = matrix(count, place.inputs, &self.units[layer - 1]);
        let weights = matrix(place.outputs, place.inputs, network.weights(layer));
        let (of_weights, of_biases) = weights_and_biases(&mut self.parameter_gradients, place);
        let blocks: Vec<_> = of_weights
            .chunks_mut(COLUMNS_PER_BLOCK * place.inputs)
            .zip(of_biases.chunks_mut(COLUMNS_PER_BLOCK))
            .collect();
        let blocks: Vec<std::sync::Mutex<_>> = blocks.into_iter().map(std::sync::Mutex::new).collect();
        let losses =
            for_each_column_block(matrix_mut(count, place.outputs, &mut self.logits), |from, mut logits| {
                let labels = from..from + logits.ncols();
                multiply(&inputs, &weights.slice(s![labels.clone(), ..]).t(), &mut logits);
                let mut mine = blocks[from / COLUMNS_PER_BLOCK].lock().expect("each block is taken once");
                let (of_weights, of_biases) = &mut *mine;
                of_biases.fill(0.0);
                let biases = &network.biases(layer)[labels.clone()];
                let mut loss = 0.0;
                for (mut logits, &row) in logits.rows_mut().into_iter().zip(&batch.rows) {
                    let logits = logits.as_slice_mut().expect("the cells of a row are side by side");
                    let positives = labels_in_range(data.labels.row(row).0, labels.clone());
                    loss += row_gradients(arch, data.loss, logits, biases, positives, from, scale, of_biases);
                }
                let mut of_weights = matrix_mut(labels.len(), place.inputs, of_weights);
                multiply(&logits.view().reversed_axes(), &inputs, &mut of_weights);
                loss
            });
        losses.into_iter().sum()
    }

    /// From the gradients at a layer's outputs to those at the hidden units below it.
    fn backpropagate_layer(&mut self, network: &Network, batch: &Batch, scale: f32, layer: usize) {
        let (place, count) = (&network.layer_layouts[layer], batch.rows.len());
        let (below, above) = self.unit_gradients.split_at_mut(layer);
        let outputs = above.first().unwrap_or(&self.logits);
        let outputs = matrix(count, place.outputs, outputs);
        let weights = matrix(place.outputs, place.inputs, network.weights(layer));
        let units = matrix(count, place.inputs, &self.units[layer - 1]);
        let gradients = &mut below[layer - 1];
        gradients.resize(count * place.inputs, 0.0);
        for_each_column_block(matrix_mut(count, place.inputs, gradients), |from, mut gradients| {
            let inputs = from..from + gradients.ncols();
            multiply(&outputs, &weights.slice(s![.., inputs.clone()]), &mut gradients);
            let units = units.slice(s![.., inputs]);
            // A unit that is zero was rectified or left out: nothing flows through it.
            ndarray::Zip::from(&mut gradients)
                .and(&units)
                .for_each(|slope, &unit| *slope = if unit > 0.0 { *slope * scale } else { 0.0 });
        });
    }

    /// The gradients at the numbers of a hidden layer but the first.
    fn hidden_gradient(&mut self, network: &Network, batch: &Batch, layer: usize) {
        let (place, count) = (&network.layer_layouts[layer], batch.rows.len());
        let gradients = matrix(count, place.outputs, &self.unit_gradients[layer]);
        let inputs = matrix(count, place.inputs, &self.units[layer - 1]);
        let (of_weights, of_biases) = weights_and_biases(&mut self.parameter_gradients, place);
        let blocks = of_weights
            .par_chunks_mut(COLUMNS_PER_BLOCK * place.inputs)
            .zip(of_biases.par_chunks_mut(COLUMNS_PER_BLOCK))
            .enumerate();
        blocks.for_each(|(block, (of_weights, of_biases))| {
            let outputs = block * COLUMNS_PER_BLOCK..block * COLUMNS_PER_BLOCK + of_biases.len();
            let gradients = gradients.slice(s![.., outputs]);
            multiply(&gradients.t(), &inputs, &mut matrix_mut(of_biases.len(), place.inputs, of_weights));
            sum_rows(gradients.rows().into_iter(), of_biases);
        });
    }

    fn first_gradient(&mut self, network: &Network, data: TrainingData<'_>, batch: &Batch) {
        let (width, count, arch) = (network.shape.hidden[0], batch.rows.len(), self.arch);
        let place = &network.layer_layouts[0];
        let gradients = matrix(count, width, &self.unit_gradients[0]);
        let (of_others, of_weights) = self.parameter_gradients.split_at_mut(place.weights.start);
        sum_rows(gradients.rows().into_iter(), &mut of_others[place.biases.clone()]);
        match data.input {
            InputLayout::Sparse => {
                let all = &self.unit_gradients[0];
                of_weights.par_chunks_exact_mut(width).with_min_len(4).enumerate().for_each(|(slot, row)| {
                    row.fill(0.0);
                    add_scaled_rows(arch, row, all, batch.entries_of(slot));
                });
            }
            InputLayout::Dense => {
                let cells = matrix(count, network.shape.features, &batch.cells);
                for_each_column_block(
                    matrix_mut(network.shape.features, width, of_weights),
                    |from, mut block| {
                        let columns = from..from + block.ncols();
                        multiply(&cells.t(), &gradients.slice(s![.., columns]), &mut block);
                    },
                );
            }
        }
    }
}

/// The gradients at a layer's weights and at its biases, which are behind them.
fn weights_and_biases<'g>(
    gradient: &'g mut [f32],
    place: &super::shape::LayerLayout,
) -> (&'g mut [f32], &'g mut [f32]) {
    gradient[place.weights.start..place.biases.end].split_at_mut(place.weights.len())
}

/// The part of some labels that lies in a range, counted from its beginning.
fn labels_in_range(labels: &[u32], range: std::ops::Range<usize>) -> &[u32] {
    let start = labels.partition_point(|&label| (label as usize) < range.start);
    let end = labels.partition_point(|&label| (label as usize) < range.end);
    &labels[start..end]
}

/// Adds biases, rectifies, leaves units out.
fn activate(
    mut units: ndarray::ArrayViewMut2<'_, f32>,
    biases: &[f32],
    dropout: Dropout,
    layer: usize,
    from: usize,
    row_of: impl Fn(usize) -> u64,
) {
    for (at, mut units) in units.rows_mut().into_iter().enumerate() {
        let units = units.as_slice_mut().expect("the cells of a row are side by side");
        units.iter_mut().zip(biases).for_each(|(unit, bias)| *unit += bias);
        dropout.rectify(units, layer, row_of(at), from);
    }
}

/// The loss of a piece of a row; its logits become gradients, which are added to those at the biases.
#[allow(clippy::too_many_arguments)]
fn row_gradients(
    arch: Arch,
    loss: Loss,
    logits: &mut [f32],
    biases: &[f32],
    positives: &[u32],
    from: usize,
    scale: f32,
    of_biases: &mut [f32],
) -> f64 {
    with_simd(
        arch,
        #[inline(always)]
        || {
            logits.iter_mut().zip(biases).for_each(|(logit, bias)| *logit += bias);
            let sum = loss.gradients(logits, positives.iter().map(|&label| label as usize - from), scale);
            of_biases.iter_mut().zip(&*logits).for_each(|(of_bias, slope)| *of_bias += slope);
            sum
        },
    )
}

fn sum_rows<'r>(rows: impl Iterator<Item = ndarray::ArrayView1<'r, f32>>, sums: &mut [f32]) {
    sums.fill(0.0);
    for row in rows {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
}
