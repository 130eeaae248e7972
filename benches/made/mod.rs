//! Data for the benchmarks, made by the crate's own generator.

pub mod files;
pub mod tensors;

/// Whether it is only asked if the benchmarks run, by `cargo test --benches` (`cargo bench` says `--bench`) or with
/// `--test`: sizes shrink to next to nothing.
pub fn quick() -> bool {
    let given = |name: &str| std::env::args().any(|argument| argument == name);
    given("--test") || !given("--bench")
}
