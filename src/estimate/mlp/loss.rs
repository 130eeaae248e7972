//! Losses that networks minimise, and their gradients.

use serde::{Deserialize, Serialize};

use crate::estimate::vector_math::{LogitTerms, ln};

/// The loss of one label of one row; the loss of a row is the sum over labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// Binary cross-entropy, minimal at the true probabilities
    Bce,
    /// Focal loss, gamma 2 (Lin et al. 2017): confident correct predictions count little
    Focal,
    /// Asymmetric loss, gamma- 4, gamma+ 1, clip 0.05 (Ridnik et al. 2021): easy negatives do not count
    Asymmetric,
}

/// Probability below which a negative has no loss: the clip of the asymmetric loss.
const ASYMMETRIC_CLIP: f32 = 0.05;

impl Loss {
    pub fn name(self) -> &'static str {
        match self {
            Loss::Bce => "bce",
            Loss::Focal => "focal",
            Loss::Asymmetric => "asymmetric",
        }
    }

    /// Replaces the logits of a piece of a row by the gradients of the loss, times `scale`, and returns the loss.
    /// `positives` are positions in the piece.
    #[inline(always)]
    pub(super) fn gradients(
        self,
        logits: &mut [f32],
        positives: impl Iterator<Item = usize>,
        scale: f32,
    ) -> f64 {
        // The few positives are corrected afterwards, so that the loop over all has no branch.
        let mut correction = 0.0;
        let mut few: [(usize, f32); 64] = [(0, 0.0); 64];
        let mut rest: Vec<(usize, f32)> = Vec::new();
        let mut count = 0;
        for at in positives {
            let (loss, gradient) = self.positive_loss(logits[at]);
            correction += f64::from(loss) - f64::from(self.negative_loss(logits[at]).0);
            if count < few.len() {
                few[count] = (at, gradient);
                count += 1;
            } else {
                rest.push((at, gradient));
            }
        }
        // One loop for each loss, without a branch inside.
        let sum = match self {
            Loss::Bce => sum_negative_losses(logits, scale, |z| Loss::Bce.negative_loss(z)),
            Loss::Focal => sum_negative_losses(logits, scale, |z| Loss::Focal.negative_loss(z)),
            Loss::Asymmetric => sum_negative_losses(logits, scale, |z| Loss::Asymmetric.negative_loss(z)),
        };
        for &(at, gradient) in few[..count].iter().chain(&rest) {
            logits[at] = gradient * scale;
        }
        sum + correction
    }

    /// Returns the best constant logit if `share` of the rows have the label; for cross-entropy, the logit of `share`.
    pub(super) fn best_constant_logit(self, share: f64) -> f32 {
        let (mut low, mut high) = (-30.0f32, 30.0f32);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            let slope = share * f64::from(self.positive_loss(middle).1)
                + (1.0 - share) * f64::from(self.negative_loss(middle).1);
            if slope < 0.0 { low = middle } else { high = middle }
        }
        low
    }

    /// Returns loss and gradient if the row has the label.
    #[inline(always)]
    fn positive_loss(self, z: f32) -> (f32, f32) {
        let LogitTerms { p, q, cost_p, .. } = LogitTerms::of(z);
        match self {
            Loss::Bce => (cost_p, -q),
            Loss::Focal => (q * q * cost_p, -q * q * (q + 2.0 * p * cost_p)),
            Loss::Asymmetric => (q * cost_p, -q * (q + p * cost_p)),
        }
    }

    /// Returns loss and gradient if the row does not have the label.
    #[inline(always)]
    fn negative_loss(self, z: f32) -> (f32, f32) {
        let LogitTerms { p, q, cost_q, .. } = LogitTerms::of(z);
        match self {
            Loss::Bce => (cost_q, p),
            Loss::Focal => (p * p * cost_q, p * p * (p + 2.0 * q * cost_q)),
            Loss::Asymmetric => {
                let shifted = (p - ASYMMETRIC_CLIP).max(0.0);
                let left = 1.0 - shifted;
                let cost = -ln(left);
                let cube = shifted * shifted * shifted;
                (cube * shifted * cost, cube * (4.0 * cost + shifted / left) * p * q)
            }
        }
    }
}

/// Partial sums that do not wait for each other: the lanes of a vector.
const LANES: usize = 16;

#[inline(always)]
fn sum_negative_losses(logits: &mut [f32], scale: f32, loss: impl Fn(f32) -> (f32, f32)) -> f64 {
    let mut sums = [0.0f32; LANES];
    let mut chunks = logits.chunks_exact_mut(LANES);
    for chunk in &mut chunks {
        for (z, sum) in chunk.iter_mut().zip(&mut sums) {
            let (loss, gradient) = loss(*z);
            *sum += loss;
            *z = gradient * scale;
        }
    }
    let mut total: f64 = sums.iter().map(|&sum| f64::from(sum)).sum();
    for z in chunks.into_remainder() {
        let (loss, gradient) = loss(*z);
        total += f64::from(loss);
        *z = gradient * scale;
    }
    total
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The losses as their authors define them, in double precision.
    pub fn defined(loss: Loss, z: f64, present: bool) -> f64 {
        let p = 1.0 / (1.0 + (-z).exp());
        match (loss, present) {
            (Loss::Bce, true) => -p.ln(),
            (Loss::Bce, false) => -(1.0 - p).ln(),
            (Loss::Focal, true) => -(1.0 - p).powi(2) * p.ln(),
            (Loss::Focal, false) => -p.powi(2) * (1.0 - p).ln(),
            (Loss::Asymmetric, true) => -(1.0 - p) * p.ln(),
            (Loss::Asymmetric, false) => {
                let shifted = (p - 0.05).max(0.0);
                -shifted.powi(4) * (1.0 - shifted).ln()
            }
        }
    }

    #[test]
    fn the_best_constant_logit_beats_its_neighbours() {
        for share in [0.6, 0.1, 1e-3, 1e-5] {
            let found = f64::from(Loss::Bce.best_constant_logit(share));
            assert!((found - (share / (1.0 - share)).ln()).abs() < 1e-3, "{share} {found}");
            for loss in [Loss::Focal, Loss::Asymmetric] {
                let found = f64::from(loss.best_constant_logit(share));
                let at = |z: f64| share * defined(loss, z, true) + (1.0 - share) * defined(loss, z, false);
                assert!(
                    at(found) <= at(found - 0.1) && at(found) <= at(found + 0.1),
                    "{loss:?} {share} {found}"
                );
            }
        }
    }

    #[test]
    fn losses_and_gradients_match_the_definitions() {
        for loss in [Loss::Bce, Loss::Focal, Loss::Asymmetric] {
            for step in -120..=120 {
                let z = f64::from(step) * 0.1 + 0.003;
                for present in [true, false] {
                    // Long enough for whole vectors and a remainder.
                    let mut row = [z as f32; 37];
                    let positives: Vec<usize> = if present { (0..37).collect() } else { Vec::new() };
                    let found = loss.gradients(&mut row, positives.into_iter(), 1.0) / 37.0;
                    let z = f64::from(z as f32);
                    let wanted = defined(loss, z, present);
                    assert!(
                        (found - wanted).abs() <= 1e-5 * (1.0 + wanted),
                        "{loss:?} {z} {present}: {found} {wanted}"
                    );
                    let step = 1e-6;
                    let slope =
                        (defined(loss, z + step, present) - defined(loss, z - step, present)) / (2.0 * step);
                    for one in row {
                        let apart = (f64::from(one) - slope).abs();
                        assert!(apart <= 2e-5 * (0.1 + slope.abs()), "{loss:?} {z} {present}: {one} {slope}");
                    }
                }
            }
        }
    }
}
