//! Large arrays and their memory: zeroed pages, page faults taken in advance, prefetching.

mod prefault;
pub mod prefetch;
mod zeroed_array;

pub use prefault::prefault_pages;
pub use zeroed_array::ZeroedArray;
