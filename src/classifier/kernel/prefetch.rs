//! Asking for memory before it is needed.

#![allow(unsafe_code)]

/// Asks for an element, so that looking it up soon does not wait for memory. Does nothing where the processor
/// cannot be asked.
#[inline(always)]
pub(super) fn bring<T>(elements: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every processor of this kind has the instruction, and asking for an address does no harm
        // wherever it points.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(elements.as_ptr().wrapping_add(at).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (elements, at);
}
