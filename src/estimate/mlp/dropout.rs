//! Dropout: hidden units left out of a step, drawn for every row and epoch.

use crate::random::{Purpose, RandomSequence, bits, mix_bits};

/// A share of the hidden units to leave out; the others are scaled up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dropout {
    /// A unit is left out if its 16 random bits are below.
    threshold: u32,
    /// Factor of the units that are kept.
    pub scale: f32,
    seed: u64,
    epoch: u32,
}

impl Dropout {
    pub fn new(share: f64, seed: u64, epoch: u32) -> Dropout {
        let below = (share * 65_536.0).round() as u32;
        Dropout { threshold: below, scale: (65_536.0 / f64::from(65_536 - below)) as f32, seed, epoch }
    }

    /// Rectifies the units of a row from `first` (a multiple of 4) on, and leaves some out. The choice depends only on
    /// the global row, the layer, the epoch and the seed.
    pub fn rectify(self, units: &mut [f32], layer: usize, row: u64, first: usize) {
        if self.threshold == 0 {
            units.iter_mut().for_each(|unit| *unit = unit.max(0.0));
            return;
        }
        let start = bits(self.seed ^ mix_bits(layer as u64), Purpose::Dropout, self.epoch, row);
        let mut draws = RandomSequence::from_bits(start, first as u64 / 4);
        for four in units.chunks_mut(4) {
            let draw = draws.next_bits();
            for (at, unit) in four.iter_mut().enumerate() {
                let kept = (draw >> (16 * at)) as u16 as u32 >= self.threshold;
                *unit = if kept { unit.max(0.0) * self.scale } else { 0.0 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_out_the_share_and_preserves_the_mean() {
        let mut units = vec![1.0f32; 40_000];
        let dropout = Dropout::new(0.25, 7, 3);
        dropout.rectify(&mut units, 1, 99, 0);
        let left_out = units.iter().filter(|&&unit| unit == 0.0).count() as f64 / 40_000.0;
        let mean = units.iter().sum::<f32>() / 40_000.0;
        assert!((left_out - 0.25).abs() < 0.01 && (mean - 1.0).abs() < 0.02, "{left_out} {mean}");
    }

    #[test]
    fn pieces_of_a_row_equal_the_whole_row() {
        let dropout = Dropout::new(0.5, 1, 2);
        let mut whole: Vec<f32> = (0..100).map(|at| at as f32 - 20.0).collect();
        let mut pieces = whole.clone();
        dropout.rectify(&mut whole, 0, 5, 0);
        for (at, piece) in pieces.chunks_mut(32).enumerate() {
            dropout.rectify(piece, 0, 5, at * 32);
        }
        assert_eq!(whole, pieces);
        let mut other = vec![1.0f32; 100];
        dropout.rectify(&mut other, 0, 6, 0);
        assert!(
            whole.iter().zip(&other).skip(21).any(|(a, b)| (*a == 0.0) != (*b == 0.0)),
            "rows have different draws"
        );
    }
}
