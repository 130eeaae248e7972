//! Whether gather instructions are worth using.
//!
//! On some processors a gather takes longer than that many loads, even from the nearest cache (tried: Ice Lake, probably
//! because of its mitigation of Downfall); on others it is much faster (tried: Sapphire Rapids). The name of a processor does
//! not tell, and a hypervisor may hide it, so it is measured, once.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::{Avx512, Simd, Words};
use crate::classifier::kernel::GROUP;
use crate::shard::ColumnCoding;

/// Look-ups that are timed together, and repetitions: a millisecond or two in all, which a processor needs to get up to speed.
const LOOK_UPS: usize = 2048;
const REPETITIONS: usize = 256;

/// Codes in use: like those of a usual rule, their words fit the second-level cache of a core, not the first.
const CODES_USED: usize = 1 << 13;

/// Whether sixteen words are looked up faster by gathers than one by one.
pub fn gathers_are_faster(gathers: Avx512<true>, loads: Avx512<false>) -> bool {
    static FASTER: OnceLock<bool> = OnceLock::new();
    *FASTER.get_or_init(|| {
        let words = vec![0; ColumnCoding::CODES];
        let words = super::words(&words);
        let codes: Vec<u16> = (0..LOOK_UPS).map(|at| (at * 40_503 % CODES_USED) as u16).collect();
        let mut best = [Duration::MAX; 2];
        // Alternating, so that a slow moment affects both.
        for _ in 0..REPETITIONS {
            let took = [time(gathers, words, &codes), time(loads, words, &codes)];
            best = [best[0].min(took[0]), best[1].min(took[1])];
        }
        let [gathers, loads] = best.map(|best| best.as_nanos() as u64);
        tracing::debug!(gathers, loads, "nanoseconds of {LOOK_UPS} look-ups");
        gathers < loads
    })
}

fn time<S: Simd>(simd: S, words: &Words, codes: &[u16]) -> Duration {
    let start = Instant::now();
    simd.run(
        #[inline(always)]
        || {
            for codes in codes.chunks_exact(GROUP) {
                // SAFETY: no vector is longer than a group.
                std::hint::black_box(unsafe { simd.look_up(words, codes.as_ptr()) });
            }
        },
    );
    start.elapsed()
}
