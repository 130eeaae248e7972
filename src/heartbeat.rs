//! A counter of completed work, which lets a watchdog tell a busy rank from one that is stuck.

use std::sync::atomic::{AtomicU64, Ordering};

static BEATS: AtomicU64 = AtomicU64::new(0);

/// Records progress of this rank. Call it now and then in any work that can take minutes.
#[inline]
pub fn beat() {
    BEATS.fetch_add(1, Ordering::Relaxed);
}

/// Returns the number of beats so far.
pub fn beats() -> u64 {
    BEATS.load(Ordering::Relaxed)
}
