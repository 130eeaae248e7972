//! Measurements of the machine: memory bandwidth and the time of an allreduce.

mod allreduce;
mod bandwidth;

pub use allreduce::{AllreduceTiming, time_allreduce};
pub use bandwidth::{Bandwidth, read_bandwidth};
