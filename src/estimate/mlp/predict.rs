//! The largest marginals of rows.

use pulp::Arch;

use super::forward::{Forward, ROWS_PER_BLOCK};
use super::network::Network;
use super::vector_math::sigmoid;
use crate::estimate::{PredictOptions, TopMarginals};
use crate::simd::with_simd;
use crate::sparse::RowsView;

impl Network {
    /// The largest marginals of each row, by one thread. A row's depend on the row and the network only.
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
