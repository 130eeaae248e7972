//! Isotonic regression, by pooling adjacent violators (Ayer et al. 1955).

use super::histogram::HistogramPoint;

/// Adjacent points that share one rate.
#[derive(Clone, Copy)]
struct Block {
    /// Sum of the marginals.
    sum: f64,
    entries: u64,
    positives: u64,
}

impl Block {
    fn rate(self) -> f64 {
        self.positives as f64 / self.entries as f64
    }

    /// Whether the rate is not below that of the next block, in exact integers.
    fn violates(self, next: Block) -> bool {
        u128::from(self.positives) * u128::from(next.entries)
            >= u128::from(next.positives) * u128::from(self.entries)
    }
}

/// Returns the knots of the map: (0, 0), the mean marginal and the observed rate of each pooled block, and an end. The
/// lines between them increase strictly, unlike steps, and create no ties. A first block without positives and a last
/// block of positives are moved half an observation off 0 and 1.
pub(super) fn knots(points: &[HistogramPoint]) -> Vec<(f64, f64)> {
    let blocks = pool(points);
    let mut knots = vec![(0.0, 0.0)];
    for (at, block) in blocks.iter().enumerate() {
        let half = 0.5 / block.entries as f64;
        let after = blocks.get(at + 1).map_or(1.0, |next| next.rate());
        let before = knots[knots.len() - 1].1;
        let rate = match block.rate() {
            0.0 => half.min(0.5 * after),
            1.0 => (1.0 - half).max(0.5 * (1.0 + before)),
            rate => rate,
        };
        let mean = block.sum / block.entries as f64;
        // Marginals of 0 stay 0.
        if mean > 0.0 && rate > before {
            knots.push((mean, rate));
        }
    }
    let (mean, rate) = knots[knots.len() - 1];
    if mean < 1.0 {
        // Proportional beyond the last block, but below 1.
        let end = if mean > 0.0 { (rate / mean).min(0.5 * (1.0 + rate)).max(rate.next_up()) } else { 1.0 };
        knots.push((1.0, end));
    }
    knots
}

fn pool(points: &[HistogramPoint]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for &HistogramPoint { mean, entries, positives } in points {
        let mut block = Block { sum: mean * entries as f64, entries, positives };
        while let Some(last) = blocks.pop_if(|last| last.violates(block)) {
            block = Block {
                sum: last.sum + block.sum,
                entries: last.entries + block.entries,
                positives: last.positives + block.positives,
            };
        }
        blocks.push(block);
    }
    blocks
}
