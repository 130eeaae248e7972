//! Zeroed arrays in large pages.

use std::ops::{Deref, DerefMut};

use bytemuck::Pod;
use memmap2::MmapMut;

/// A zero-initialised array, in pages of 2 MiB where the system offers them: filling it takes far fewer page faults,
/// and scattered look-ups far fewer address translations. Each page is allocated by the thread that first writes to it.
pub struct ZeroedArray<T> {
    pages: Pages<T>,
    length: usize,
}

enum Pages<T> {
    Mapped(MmapMut),
    /// Too small for large pages, or the system refused to map any.
    Heap(Vec<T>),
}

/// Smaller arrays would waste a large page.
const MIN_MAPPED_BYTES: usize = 4 << 20;

impl<T: Pod> ZeroedArray<T> {
    pub fn new(length: usize) -> ZeroedArray<T> {
        let bytes = length * size_of::<T>();
        let mapped = if bytes >= MIN_MAPPED_BYTES { MmapMut::map_anon(bytes).ok() } else { None };
        let pages = match mapped {
            Some(map) => {
                // If this fails, pages are small.
                #[cfg(target_os = "linux")]
                let _ = map.advise(memmap2::Advice::HugePage);
                Pages::Mapped(map)
            }
            None => Pages::Heap(vec![T::zeroed(); length]),
        };
        ZeroedArray { pages, length }
    }
}

impl<T: Pod> Deref for ZeroedArray<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.pages {
            // Pages are aligned for every number type.
            Pages::Mapped(map) => &bytemuck::cast_slice(map)[..self.length],
            Pages::Heap(heap) => heap,
        }
    }
}

impl<T: Pod> DerefMut for ZeroedArray<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.pages {
            Pages::Mapped(map) => &mut bytemuck::cast_slice_mut(map)[..self.length],
            Pages::Heap(heap) => heap,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_arrays_start_as_zeros_and_keep_writes() {
        for length in [0, 1, 1000, MIN_MAPPED_BYTES / 8, MIN_MAPPED_BYTES / 8 + 3, 3 * MIN_MAPPED_BYTES] {
            let mut array: ZeroedArray<u64> = ZeroedArray::new(length);
            assert_eq!(array.len(), length);
            assert!(array.iter().all(|&number| number == 0));
            array.iter_mut().enumerate().for_each(|(at, number)| *number = at as u64);
            assert!(array.iter().enumerate().all(|(at, &number)| number == at as u64));
        }
    }
}
