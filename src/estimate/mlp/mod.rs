//! Fully connected networks: one to three hidden layers, rectified units, dropout, Adam.
//!
//! Each rank has its own rows and the whole network. A step takes some rows of every rank; the slopes of the loss are added
//! up over ranks in their order, and all ranks take the same step. So the bits of a model depend on the number of ranks,
//! which decides which rows are taken together, but not on the number of threads: work is cut into pieces of a fixed size,
//! and each number is summed up by one thread in one order. The products of matrices are those of `matrixmultiply`, whose
//! bits may differ between kinds of processors.

mod adam;
mod backprop;
mod batch;
mod dropout;
mod epoch;
mod forward;
mod loss;
mod matmul;
mod network;
mod network_file;
mod options;
mod predict;
mod shape;
mod sparse_layer;
#[cfg(test)]
mod tests;
mod train;
mod training_state;
mod trial;
mod validation;
mod vector_math;

pub use loss::Loss;
pub use network::Network;
pub use options::NetworkOptions;
pub use shape::NetworkShape;
pub use train::train;
pub use validation::ValidationScores;
