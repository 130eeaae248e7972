//! Data for the benchmarks, from the generator of the crate.

pub mod files;
pub mod tensors;

/// Whether the benchmarks are only tested, by `cargo test --benches` (`cargo bench` passes `--bench`) or with `--test`, for
/// which tiny sizes are enough.
pub fn quick() -> bool {
    let given = |name: &str| std::env::args().any(|argument| argument == name);
    given("--test") || !given("--bench")
}
