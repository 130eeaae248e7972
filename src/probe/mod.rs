//! What this machine can do, measured: the limits that a pass over the rows is compared with.

mod allreduce;
mod bandwidth;

pub use allreduce::{AllreduceTiming, time_allreduce};
pub use bandwidth::{Bandwidth, read_bandwidth, read_bandwidth_synchronised};
