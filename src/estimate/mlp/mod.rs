//! Fully connected networks: one to three hidden layers, rectified units, dropout, Adam.
//!
//! Each rank has its own rows and the whole network. A step takes some rows of every rank; the slopes of the loss are added
//! up over ranks in their order, and all ranks take the same step. So the bits of a model depend on the number of ranks,
//! which decides which rows are taken together, but not on the number of threads: work is cut into pieces of a fixed size,
//! and each number is summed up by one thread in one order. The products of matrices are those of `matrixmultiply`, whose
//! bits may differ between kinds of processors.

mod adam;
mod batch;
mod dropout;
mod epoch;
mod forward;
mod held_out;
mod loss;
mod network;
mod network_file;
mod number;
mod options;
mod pass;
mod predict;
mod product;
mod progress;
mod shape;
mod sparse;
#[cfg(test)]
mod tests;
mod train;
mod trial;

pub use held_out::HeldOut;
pub use loss::Loss;
pub use network::Network;
pub use options::NetworkOptions;
pub use shape::Shape;
pub use train::train;
