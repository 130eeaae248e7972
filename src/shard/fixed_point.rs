//! Sums of probabilities as integers, which do not depend on the order of addition.

/// A scale for sums over at most a given number of terms in [0, 1].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FixedPoint {
    bits: u32,
}

impl FixedPoint {
    /// Returns the finest scale, down to 2^-40, on which a sum of `terms` ones fits. `terms` is the number over all
    /// ranks, so that every rank uses the same scale.
    pub fn for_terms(terms: u64) -> FixedPoint {
        FixedPoint { bits: (terms.leading_zeros().saturating_sub(2)).min(40) }
    }

    /// Returns the integer that stands for 1.
    pub fn one(self) -> u64 {
        1 << self.bits
    }

    /// Rounds a value in [0, 1] to the nearest multiple of the unit.
    pub fn encode(self, value: f64) -> u64 {
        (value * self.one() as f64).round() as u64
    }

    /// Encodes a single, faster than [`FixedPoint::encode`]: for singles, adding a half and truncating rounds correctly.
    pub fn encode_f32(self, value: f32) -> u64 {
        (f64::from(value) * self.one() as f64 + 0.5) as u64
    }

    pub fn decode(self, sum: u64) -> f64 {
        sum as f64 / self.one() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_ones_never_overflow() {
        for terms in [1, 1000, 1 << 24, 1 << 40, 1 << 60] {
            let fixed = FixedPoint::for_terms(terms);
            assert!(fixed.one().checked_mul(terms).is_some_and(|sum| sum < 1 << 63), "{terms}");
        }
    }

    #[test]
    fn both_encodings_of_singles_agree() {
        let mut bits = 1u32;
        for terms in [1, 1000, 1 << 30, 1 << 45, 1 << 60] {
            let fixed = FixedPoint::for_terms(terms);
            for _ in 0..100_000 {
                bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // Every exponent from the smallest to that of 1.
                let value = f32::from_bits(bits % (f32::to_bits(1.0) + 1));
                assert_eq!(fixed.encode_f32(value), fixed.encode(value.into()), "{value:e}");
            }
            for value in [0.0, f32::MIN_POSITIVE, 0.25, 0.5, 0.75, 1.0f32.next_down(), 1.0] {
                assert_eq!(fixed.encode_f32(value), fixed.encode(value.into()), "{value:e}");
            }
        }
    }

    #[test]
    fn a_million_rows_keep_twelve_digits() {
        let fixed = FixedPoint::for_terms(1_000_000);
        let value = f64::from(0.1f32);
        assert!((fixed.decode(fixed.encode(value)) - value).abs() < 1e-12);
    }
}
