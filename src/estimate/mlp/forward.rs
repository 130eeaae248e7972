//! The logits of some rows, by one thread. A row's depend on the row and the network only.

use pulp::Arch;

use super::matmul::{matrix, matrix_mut, multiply};
use super::network::Network;
use super::sparse_layer::add_scaled_rows;

/// Rows that go through the network together.
pub(super) const ROWS_PER_BLOCK: usize = 64;

/// Space for the units of one block of rows.
pub(super) struct Forward {
    units: Vec<f32>,
    next: Vec<f32>,
    arch: Arch,
}

impl Forward {
    pub fn new() -> Forward {
        Forward { units: Vec::new(), next: Vec::new(), arch: Arch::new() }
    }

    /// The logits of at most [`ROWS_PER_BLOCK`] rows, each given by its features and values; one row of labels behind the other.
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
            let place = &network.layer_layouts[layer];
            self.units.iter_mut().for_each(|unit| *unit = unit.max(0.0));
            self.next.resize(count * place.outputs, 0.0);
            let inputs = matrix(count, place.inputs, &self.units);
            let weights = matrix(place.outputs, place.inputs, network.weights(layer));
            let mut outputs = matrix_mut(count, place.outputs, &mut self.next);
            multiply(&inputs, &weights.t(), &mut outputs);
            for outputs in self.next.chunks_exact_mut(place.outputs) {
                outputs.iter_mut().zip(network.biases(layer)).for_each(|(output, bias)| *output += bias);
            }
            std::mem::swap(&mut self.units, &mut self.next);
        }
        &mut self.units
    }
}
