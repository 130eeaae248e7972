//! Loops compiled for several generations of processors, of which one is chosen at run time.

use pulp::Arch;

/// Calls `job`, compiled for the instructions of `arch`: those of any x86-64, AVX2, or AVX-512. The job must be a closure
/// expression, and with the functions it calls `#[inline(always)]`, because only inlined code is compiled for them.
///
/// Results do not depend on the instructions: Rust neither reorders sums nor fuses products with sums.
#[inline(always)]
pub(crate) fn with_simd<R>(arch: Arch, job: impl FnOnce() -> R) -> R {
    arch.dispatch(job)
}
