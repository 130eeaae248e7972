//! Asking for memory before it is needed.

#![allow(unsafe_code)]

/// Asks for an element, so that looking it up soon does not wait for memory. Does nothing where the processor
/// cannot be asked.
#[inline(always)]
pub fn prefetch<T>(elements: &[T], at: usize) {
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

/// How many elements before its turn one is asked for.
const PREFETCH_DISTANCE: usize = 32;

/// Asks for the element that will be looked up some turns after `turn`; `place` says where that of each turn is.
#[inline(always)]
pub fn prefetch_ahead<T, P>(elements: &[T], turns: &[P], turn: usize, place: impl Fn(&P) -> usize) {
    if let Some(later) = turns.get(turn + PREFETCH_DISTANCE) {
        prefetch(elements, place(later));
    }
}

/// The elements at `places`, which lie anywhere.
#[inline(always)]
pub fn gather_prefetched<T: Copy>(elements: &[T], places: &[u32]) -> impl Iterator<Item = T> {
    places.iter().enumerate().map(move |(turn, &place)| {
        prefetch_ahead(elements, places, turn, |&place| place as usize);
        elements[place as usize]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_early_changes_nothing() {
        let elements: Vec<u64> = (0..100).map(|at| at * at).collect();
        for length in [0, 1, PREFETCH_DISTANCE, PREFETCH_DISTANCE + 1, 90] {
            let places: Vec<u32> = (0..length as u32).map(|at| at * 37 % 100).collect();
            let found: Vec<u64> = gather_prefetched(&elements, &places).collect();
            assert!(found.iter().zip(&places).all(|(&found, &place)| found == u64::from(place).pow(2)));
            assert_eq!(found.len(), length);
        }
    }
}
