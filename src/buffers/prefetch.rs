//! Prefetching: requesting memory before it is needed.

#![allow(unsafe_code)]

/// Requests an element, so that a look-up soon after does not wait for memory. Does nothing on processors without
/// such an instruction.
#[inline(always)]
pub fn prefetch<T>(elements: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has the instruction, and it is harmless for any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(elements.as_ptr().wrapping_add(at).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (elements, at);
}

/// Turns between the request for an element and its use.
const PREFETCH_DISTANCE: usize = 32;

/// Requests the element that a later turn looks up; `place` gives the subscript of each turn.
#[inline(always)]
pub fn prefetch_ahead<T, P>(elements: &[T], turns: &[P], turn: usize, place: impl Fn(&P) -> usize) {
    if let Some(later) = turns.get(turn + PREFETCH_DISTANCE) {
        prefetch(elements, place(later));
    }
}

/// Loads elements into the cache by reading one of every cache line. The reads do not depend on each other, so the
/// processor overlaps them.
#[inline(always)]
pub fn read_cache_lines<T>(elements: &[T], read: impl Fn(&T) -> u64) {
    const CACHE_LINE: usize = 64;
    let some = elements.iter().step_by(CACHE_LINE / size_of::<T>());
    std::hint::black_box(some.fold(0, |all, element| all ^ read(element)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefetching_works_for_any_length() {
        let elements: Vec<u64> = (0..100).map(|at| at * at).collect();
        for length in [0, 1, PREFETCH_DISTANCE, PREFETCH_DISTANCE + 1, 90] {
            let places: Vec<u32> = (0..length as u32).map(|at| at * 37 % 100).collect();
            for (turn, &place) in places.iter().enumerate() {
                prefetch_ahead(&elements, &places, turn, |&place| place as usize);
                assert_eq!(elements[place as usize], u64::from(place).pow(2));
            }
            read_cache_lines(&elements[..length], |&element| element);
        }
    }
}
