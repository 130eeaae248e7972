//! Large arrays and the memory behind them: zeroed pages, page faults taken early, prefetching.

mod prefault;
pub mod prefetch;
mod zeroed;

pub use prefault::take_pages;
pub use zeroed::Zeroed;
