//! Loops compiled for several generations of processors, of which one is chosen at run time.

use pulp::{Arch, NullaryFnOnce};

/// Calls `job`, compiled for the instructions of `arch`: those of any x86-64, AVX2, or AVX-512. The job and the functions it
/// calls must be `#[inline(always)]`, because only inlined code is compiled for them.
///
/// Results do not depend on the instructions: Rust neither reorders sums nor fuses products with sums.
#[inline(always)]
pub(crate) fn with_simd<R>(arch: Arch, job: impl FnMut() -> R) -> R {
    arch.dispatch(SimdJob(job))
}

/// A closure that is inlined; without this type it would be called through a shim.
struct SimdJob<F>(F);

impl<R, F: FnMut() -> R> NullaryFnOnce for SimdJob<F> {
    type Output = R;

    #[inline(always)]
    fn call(mut self) -> R {
        (self.0)()
    }
}
