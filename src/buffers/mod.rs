//! Large arrays and the memory behind them: zeroed pages, page faults taken early, prefetching.

mod prefault;
pub mod prefetch;
mod zeroed_array;

pub use prefault::prefault_pages;
pub use zeroed_array::ZeroedArray;
