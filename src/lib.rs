//! `macrok` finds the classifier that is best for a *macro-at-k* metric: exactly `k` labels for
//! every instance, every label counted equally. The method is the Frank-Wolfe algorithm of
//! "Consistent algorithms for multi-label classification with macro-at-k metrics" (ICLR 2024),
//! called "the paper" throughout.
//!
//! One room for each idea, and the arrows go one way:
//! `cli -> experiment -> {report, optimize, estimate, evaluate, synth, import, doctor} -> {classifier, measure} -> shard -> store`,
//! with [`world`] (who computes together), [`job`] (what a run is told from outside), [`checkpoint`] (how far it has
//! come), [`random`], [`memory`] (whether it will fit, and large pages), [`machine`] (what the job runs on) and
//! [`probe`] (what that can do) beside them.

#![warn(clippy::unwrap_used)]

pub mod calibration;
pub mod checkpoint;
pub mod classifier;
pub mod cli;
pub mod doctor;
pub mod error;
pub mod estimate;
pub mod evaluate;
pub mod experiment;
pub mod import;
pub mod job;
pub mod machine;
pub mod measure;
pub mod memory;
pub mod optimize;
pub mod probe;
pub mod random;
pub mod report;
pub mod shard;
pub mod slurm;
pub mod split;
pub mod store;
mod suggest;
pub mod synth;
pub mod world;
