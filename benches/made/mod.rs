//! Data for the benchmarks, made by the crate's own generator.

pub mod files;
pub mod tensors;

/// `cargo test --benches` asks only whether the benchmarks run: sizes shrink to next to nothing.
pub fn quick() -> bool {
    std::env::args().any(|argument| argument == "--test")
}
