//! Loops compiled for several generations of processors; the one to run is chosen when the program runs.

use pulp::{Arch, NullaryFnOnce};

/// Calls `job`, compiled for the instructions of `arch`: those of any x86-64, AVX2, or AVX-512. It must be
/// `#[inline(always)]`, and so must what it calls: what is not inlined is for any processor.
///
/// No result depends on the instructions. Rust neither reorders sums nor fuses a product with a sum.
#[inline(always)]
pub(crate) fn with_simd<R>(arch: Arch, job: impl FnMut() -> R) -> R {
    arch.dispatch(SimdJob(job))
}

/// A closure itself would be called through a shim that is not inlined.
struct SimdJob<F>(F);

impl<R, F: FnMut() -> R> NullaryFnOnce for SimdJob<F> {
    type Output = R;

    #[inline(always)]
    fn call(mut self) -> R {
        (self.0)()
    }
}
