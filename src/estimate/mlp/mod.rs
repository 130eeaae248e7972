//! Fully connected networks: one to three hidden layers of rectified units, with dropout, trained by Adam.
//!
//! Each rank has its own rows and the whole network. A step takes rows of every rank; the gradients are summed up over
//! ranks in their order, and all ranks make the same step. The bits of a model therefore depend on the number of ranks,
//! which decides which rows form a step, but not on the number of threads: work is divided into pieces of fixed size,
//! and one thread sums up each number in one order. The products of `matrixmultiply` may have other bits on other
//! processors.

mod adam;
mod backprop;
mod batch;
mod dropout;
mod epoch;
mod loss;
mod matmul;
mod network;
mod options;
mod predict;
#[cfg(test)]
mod tests;
mod train;
mod training_state;
mod trial;
mod validation;

pub use loss::Loss;
pub use network::{Network, NetworkShape};
pub use options::NetworkOptions;
