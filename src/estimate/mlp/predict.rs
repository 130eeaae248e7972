//! Logits and marginals of rows, which depend only on the row and the network.

use pulp::Arch;

use super::matmul::{add_scaled_rows, matrix, matrix_mut, multiply};
use super::network::Network;
use crate::estimate::vector_math::sigmoid;
use crate::estimate::{PredictOptions, TopMarginals};
use crate::simd::with_simd;
use crate::sparse::RowsView;

/// Rows that go through the network together.
pub(super) const ROWS_PER_BLOCK: usize = 64;

/// Buffers for the units of a block of rows.
pub(super) struct Forward {
    units: Vec<f32>,
    next: Vec<f32>,
    arch: Arch,
}

impl Forward {
    pub fn new() -> Forward {
        Forward { units: Vec::new(), next: Vec::new(), arch: Arch::new() }
    }

    /// Computes the logits of at most [`ROWS_PER_BLOCK`] rows of features and values, in this thread. Returns the rows
    /// of logits, concatenated.
    pub fn logits<'r>(
        &mut self,
        network: &Network,
        rows: impl ExactSizeIterator<Item = (&'r [u32], &'r [f32])>,
    ) -> &mut [f32] {
        let (count, width) = (rows.len(), network.shape.hidden[0]);
        self.units.resize(count * width, 0.0);
        for (units, entries) in self.units.chunks_exact_mut(width).zip(rows) {
            units.copy_from_slice(network.biases(0));
            add_scaled_rows(self.arch, units, network.weights(0), entries);
        }
        for layer in 1..network.layers() {
            let layout = &network.layouts[layer];
            self.units.iter_mut().for_each(|unit| *unit = unit.max(0.0));
            self.next.resize(count * layout.outputs, 0.0);
            let inputs = matrix(count, layout.inputs, &self.units);
            let weights = matrix(layout.outputs, layout.inputs, network.weights(layer));
            let mut outputs = matrix_mut(count, layout.outputs, &mut self.next);
            multiply(&inputs, &weights.t(), &mut outputs);
            for outputs in self.next.chunks_exact_mut(layout.outputs) {
                outputs.iter_mut().zip(network.biases(layer)).for_each(|(output, bias)| *output += bias);
            }
            std::mem::swap(&mut self.units, &mut self.next);
        }
        &mut self.units
    }
}

impl Network {
    /// Returns the largest marginals of each row, computed in this thread.
    pub fn top_marginals(&self, rows: RowsView<'_>, options: PredictOptions) -> TopMarginals {
        let (mut kept, mut forward, arch) = (TopMarginals::default(), Forward::new(), Arch::new());
        let mut scratch = Vec::new();
        for start in (0..rows.count()).step_by(ROWS_PER_BLOCK) {
            let end = (start + ROWS_PER_BLOCK).min(rows.count());
            let logits = forward.logits(self, (start..end).map(|row| rows.row(row)));
            with_simd(
                arch,
                #[inline(always)]
                || logits.iter_mut().for_each(|logit| *logit = sigmoid(*logit)),
            );
            for marginals in logits.chunks_exact(self.shape.labels) {
                kept.push_dense(marginals, options.keep, &mut scratch);
            }
        }
        kept
    }
}
