//! The largest marginals of rows.

use pulp::Arch;

use super::forward::{Forward, ROWS};
use super::network::Network;
use super::number::sigmoid;
use crate::estimate::{Ask, Kept, Rows};
use crate::simd::vectorised;

impl Network {
    /// The largest marginals of each row, by one thread. A row's depend on the row and the network only.
    pub fn largest(&self, rows: Rows<'_>, ask: Ask) -> Kept {
        let (mut kept, mut forward, arch) = (Kept::default(), Forward::new(), Arch::new());
        let mut scratch = Vec::new();
        for start in (0..rows.count()).step_by(ROWS) {
            let end = (start + ROWS).min(rows.count());
            let logits = forward.logits(self, (start..end).map(|row| rows.row(row)));
            vectorised(
                arch,
                #[inline(always)]
                || logits.iter_mut().for_each(|logit| *logit = sigmoid(*logit)),
            );
            for marginals in logits.chunks_exact(self.shape.labels) {
                kept.push_all(marginals, ask.keep, &mut scratch);
            }
        }
        kept
    }
}
