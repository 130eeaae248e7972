//! What this machine can do, measured: the limits that a pass over the rows is compared with.

mod bandwidth;

pub use bandwidth::{Bandwidth, read_bandwidth};
