//! Whether gather instructions are worth using.
//!
//! On some processors a gather takes longer than as many loads, even from the nearest cache (tried: Ice Lake; probably its
//! guard against Downfall); on others it is much faster (tried: Sapphire Rapids). No name of a processor says which, and a
//! hypervisor may hide it: so it is measured, once.

use std::arch::x86_64::__m512;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::score::halves_of;
use crate::classifier::kernel::LANES;
use crate::shard::ColumnCoding;

/// Look-ups that are timed together, and how often: a millisecond or two in all, because processors need one to get up to speed.
const LOOK_UPS: usize = 2048;
const REPETITIONS: usize = 256;

/// Codes in use: their words fit the second cache of a core, as those of a usual rule do, not the first.
const CODES_USED: usize = 1 << 13;

/// Whether sixteen words are looked up faster by gathers than one after the other.
///
/// # Safety
/// The processor has the instructions.
pub(super) unsafe fn gathers_are_faster() -> bool {
    static FASTER: OnceLock<bool> = OnceLock::new();
    *FASTER.get_or_init(|| {
        let words = vec![0u64; ColumnCoding::CODES];
        let codes: Vec<u16> = (0..LOOK_UPS).map(|at| (at * 40_503 % CODES_USED) as u16).collect();
        let mut best = [Duration::MAX; 2];
        // In turns, so that a slow moment hits both.
        for _ in 0..REPETITIONS {
            // SAFETY: as promised by the caller; there is a word for every code.
            let took = unsafe { [time::<true>(&words, &codes), time::<false>(&words, &codes)] };
            best = [best[0].min(took[0]), best[1].min(took[1])];
        }
        let [gathers, loads] = best.map(|best| best.as_nanos() as u64);
        tracing::debug!(gathers, loads, "nanoseconds of {LOOK_UPS} look-ups");
        gathers < loads
    })
}

/// # Safety
/// The processor has the instructions; there is a word for every code.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
unsafe fn time<const GATHERS: bool>(words: &[u64], codes: &[u16]) -> Duration {
    let start = Instant::now();
    for codes in codes.chunks_exact(LANES) {
        // SAFETY: sixteen codes, and as promised by the caller.
        let found: (__m512, __m512) = unsafe { halves_of::<GATHERS>(words, codes.as_ptr()) };
        std::hint::black_box(found);
    }
    start.elapsed()
}
