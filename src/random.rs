//! A counter-based random number generator keyed by the seed: a row gets the same draw on any rank and thread, and in any
//! order.

/// The use of a draw. It is part of the counter, so that two uses never share a number.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    InitialRule = 1,
    DrawRule = 2,
    Madow = 3,
    SynthRow = 4,
    SynthLabel = 5,
    Solver = 6,
    LabelTree = 7,
    Split = 8,
    NetworkWeight = 20,
    BatchOrder = 21,
    Dropout = 22,
    Holdout = 23,
}

/// Philox-4x32 with ten rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    const MULTIPLIERS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
    const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
    let (mut c, mut k) = (counter, key);
    for _ in 0..10 {
        let a = MULTIPLIERS[0] * u64::from(c[0]);
        let b = MULTIPLIERS[1] * u64::from(c[2]);
        c = [(b >> 32) as u32 ^ c[1] ^ k[0], b as u32, (a >> 32) as u32 ^ c[3] ^ k[1], a as u32];
        k = [k[0].wrapping_add(WEYL[0]), k[1].wrapping_add(WEYL[1])];
    }
    c
}

/// Returns 64 random bits for (`seed`, `purpose`, `round`, `index`); `index` is a global row or a label.
pub fn bits(seed: u64, purpose: Purpose, round: u32, index: u64) -> u64 {
    debug_assert!(round < 1 << 24, "the round shares a word with the purpose");
    let counter = [index as u32, (index >> 32) as u32, (round << 8) | purpose as u32, 0];
    let c = philox(counter, [seed as u32, (seed >> 32) as u32]);
    u64::from(c[0]) | u64::from(c[1]) << 32
}

/// Converts random bits to a uniform number in [0, 1) with 53 bits.
pub fn uniform(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

const WEYL: u64 = 0x9E37_79B9_7F4A_7C15;

/// Mixes the bits of a number, bijectively (the finaliser of SplitMix64).
#[inline]
pub fn mix_bits(number: u64) -> u64 {
    let mut z = number.wrapping_add(WEYL);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A fast random sequence for one row, seeded by a draw of [`bits`] (SplitMix64, Steele et al. 2014).
#[derive(Clone, Debug)]
pub struct RandomSequence(u64);

impl RandomSequence {
    pub fn new(seed: u64, purpose: Purpose, index: u64) -> RandomSequence {
        RandomSequence(bits(seed, purpose, 0, index))
    }

    /// Returns the sequence with seed `start`, after `skipped` draws.
    pub fn from_bits(start: u64, skipped: u64) -> RandomSequence {
        RandomSequence(start.wrapping_add(WEYL.wrapping_mul(skipped)))
    }

    pub fn next_bits(&mut self) -> u64 {
        let mixed = mix_bits(self.0);
        self.0 = self.0.wrapping_add(WEYL);
        mixed
    }

    pub fn next_uniform(&mut self) -> f64 {
        uniform(self.next_bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers published with the Random123 library.
    #[test]
    fn philox_gives_the_published_numbers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
    }

    #[test]
    fn draws_for_neighbouring_rows_look_uniform() {
        let mean: f64 =
            (0..20_000).map(|row| uniform(bits(7, Purpose::DrawRule, 0, row))).sum::<f64>() / 20_000.0;
        assert!((mean - 0.5).abs() < 0.01, "mean {mean}");
    }
}
