//! `macrok` finds the classifier that is best for a *macro-at-k* metric: exactly `k` labels for
//! every instance, every label counted equally. The method is the Frank-Wolfe algorithm of
//! "Consistent algorithms for multi-label classification with macro-at-k metrics" (ICLR 2024),
//! called "the paper" throughout.
//!
//! `docs/architecture.md` lists the modules and what each may depend on; `tests/library/architecture.rs` checks that list.

#![warn(clippy::unwrap_used)]

pub mod buffers;
pub mod calibration;
pub mod checkpoint;
pub mod classifier;
pub mod classifier_file;
pub mod cleanup;
pub mod cli;
pub mod doctor;
pub mod error;
pub mod estimate;
pub mod evaluate;
pub mod experiment;
pub mod fault;
pub mod format;
pub mod heartbeat;
pub mod host;
pub mod import;
pub mod job;
pub mod load;
pub mod machine;
pub mod measure;
pub mod memory;
pub mod optimize;
pub mod pipeline;
pub mod probe;
pub mod progress;
pub mod random;
pub mod report;
pub mod shard;
pub mod simd;
pub mod slurm;
pub mod sparse;
pub mod split;
pub mod store;
mod suggest;
pub mod synth;
pub mod world;
