//! Files: sparse matrices, classifiers and predictions in HDF5, laid out the way `h5py`, SciPy and
//! AnnData people store them (DESIGN section 3). This room knows the format and nothing above it.

mod elements;
mod error;
mod hdf5_file;
mod location;
mod locks;
mod matrix;
mod model_file;
mod names;
mod output;
mod partial;
mod replace;
mod rows;
mod slab;

pub use error::Result;
pub use error::StoreError;
pub use hdf5_file::{Hdf5File, library_is_thread_safe, library_version};
pub use location::{Location, Role};
pub use locks::reads_without_locks;
pub use matrix::MatrixFile;
pub use matrix::text_attribute;
pub use model_file::{Array, ArrayNumbers, ModelFile};
pub use names::{read_names, write_names};
pub use output::{
    Matrix, Written, publish, text_attribute as write_text_attribute, write_beside, write_file,
};
pub use replace::{Overwrite, followed, sync_folder, write_text};
pub use slab::{Content, RowStarts, Slab};
