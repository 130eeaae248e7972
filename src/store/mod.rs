//! Files: sparse matrices, models and names in HDF5, in the layout that `h5py`, SciPy and AnnData use.

mod atomic_write;
mod error;
mod file_kind;
mod file_locks;
mod hdf5_file;
mod location;
mod matrix_file;
mod model_file;
mod number_dataset;
mod parallel_write;
mod slab;
mod temp_file;
mod text;

pub use atomic_write::{Overwrite, resolve_symlink, sync_folder, write_text};
pub use error::{Result, StoreError};
pub use file_kind::FileKind;
pub use file_locks::reads_without_locks;
pub use hdf5_file::{Hdf5File, library_is_thread_safe, library_version, read_fingerprint};
pub use location::{Location, Role};
pub use matrix_file::MatrixFile;
pub use model_file::{ArrayNumbers, ModelArray, ModelFile};
pub use parallel_write::{LocalMatrix, UnpublishedFile, publish, write_file, write_unpublished};
pub use slab::{RowStarts, Slab, ValueKind};
pub use text::{read_names, read_text_attribute, write_names, write_text_attribute};
