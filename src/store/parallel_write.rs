//! Files written by all ranks together.
//!
//! Without its MPI driver HDF5 cannot write a file from several processes. Rank 0 therefore lays out the file with
//! contiguous, allocated datasets and closes it; then every rank writes its rows as plain bytes at the offsets that HDF5
//! chose. The file is written under a temporary name, synced and renamed.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use hdf5::file::FileBuilder;
use hdf5::plist::dataset_create::AllocTime;

use super::atomic_write::{Overwrite, resolve_symlink};
use super::error::{Result, StoreError};
use super::file_locks::LockMode;
use super::temp_file::TempFile;
use super::text::write_text_attribute;
use crate::error;
use crate::fault;
use crate::heartbeat::beat;
use crate::sparse::RowsView;
use crate::world::World;

/// One rank's part of a one-dimensional dataset.
struct DatasetPiece<'d> {
    name: String,
    elements: PieceData<'d>,
    /// Elements of the ranks before this one, and of all ranks.
    start: u64,
    total: u64,
}

/// The elements of a piece, by the type in which they are stored.
enum PieceData<'d> {
    F32(&'d [f32]),
    /// Column numbers that fit `i32`, which SciPy uses without a conversion.
    Columns(&'d [u32]),
    /// Other column numbers, stored as `i64`.
    WideColumns(&'d [u32]),
    I64(Vec<i64>),
}

impl PieceData<'_> {
    fn len(&self) -> usize {
        match self {
            PieceData::F32(values) => values.len(),
            PieceData::Columns(values) | PieceData::WideColumns(values) => values.len(),
            PieceData::I64(values) => values.len(),
        }
    }

    fn width(&self) -> u64 {
        match self {
            PieceData::F32(_) | PieceData::Columns(_) => 4,
            PieceData::WideColumns(_) | PieceData::I64(_) => 8,
        }
    }

    /// Returns the stored bytes of some elements.
    fn encode(&self, range: Range<usize>) -> Cow<'_, [u8]> {
        match self {
            PieceData::F32(values) => bytemuck::cast_slice(&values[range]).into(),
            PieceData::Columns(values) => bytemuck::cast_slice(&values[range]).into(),
            PieceData::WideColumns(values) => {
                values[range].iter().flat_map(|&v| i64::from(v).to_ne_bytes()).collect::<Vec<u8>>().into()
            }
            PieceData::I64(values) => bytemuck::cast_slice(&values[range]).into(),
        }
    }
}

/// A matrix that all ranks write together.
pub struct LocalMatrix<'d> {
    pub group: &'static str,
    /// Shape of the whole matrix.
    pub rows: u64,
    pub columns: u64,
    /// The rows of this rank, with starts from 0 on.
    pub local: RowsView<'d>,
}

impl<'d> LocalMatrix<'d> {
    /// Returns this rank's pieces of the three datasets. Collective.
    fn pieces(&self, world: &World) -> Vec<DatasetPiece<'d>> {
        let RowsView { starts, columns, values } = self.local;
        let counts = world.gather_to_all(columns.len() as u64);
        let rows = world.gather_to_all(self.local.count() as u64);
        let before = |counts: &[u64]| counts[..world.rank()].iter().sum::<u64>();
        let (start, total) = (before(&counts), counts.iter().sum());
        // Each rank writes the starts of its rows; the last rank also the end.
        let last = world.rank() + 1 == world.size();
        let length = starts.len() - usize::from(!last);
        let indptr = starts[..length].iter().map(|&at| (start + at as u64) as i64).collect();
        let narrow = self.columns <= i32::MAX as u64;
        let columns = if narrow { PieceData::Columns(columns) } else { PieceData::WideColumns(columns) };
        let piece = |part, elements, start, total| {
            let name = format!("{}/{part}", self.group);
            DatasetPiece { name, elements, start, total }
        };
        vec![
            piece("data", PieceData::F32(values), start, total),
            piece("indices", columns, start, total),
            piece("indptr", PieceData::I64(indptr), before(&rows), self.rows + 1),
        ]
    }

    fn describe(&self, file: &hdf5::File) -> hdf5::Result<()> {
        let group = file.create_group(self.group)?;
        write_text_attribute(&group, "encoding-type", "csr_matrix")?;
        write_text_attribute(&group, "encoding-version", "0.1.0")?;
        group.new_attr_builder().with_data(&[self.rows as i64, self.columns as i64]).create("shape")?;
        Ok(())
    }
}

/// Writes `path`: the rows of all ranks of `matrices`, and on rank 0 the contents that `write_metadata` adds. Collective;
/// either all ranks succeed, or none does and no file remains.
pub fn write_file(
    world: &World,
    path: &Path,
    overwrite: Overwrite,
    matrices: &[LocalMatrix<'_>],
    write_metadata: impl FnOnce(&hdf5::File) -> hdf5::Result<()>,
) -> error::Result<()> {
    publish(world, vec![write_unpublished(world, path, overwrite, matrices, write_metadata)?])
}

/// A completely written file that does not yet have its name. Dropping it removes the file.
pub struct UnpublishedFile {
    temp_file: TempFile,
    path: PathBuf,
}

/// Writes a file as [`write_file`] does, but leaves it to [`publish`] to give several files their names. Collective.
pub fn write_unpublished(
    world: &World,
    path: &Path,
    overwrite: Overwrite,
    matrices: &[LocalMatrix<'_>],
    write_metadata: impl FnOnce(&hdf5::File) -> hdf5::Result<()>,
) -> error::Result<UnpublishedFile> {
    let pieces: Vec<DatasetPiece<'_>> = matrices.iter().flat_map(|matrix| matrix.pieces(world)).collect();
    let path = resolve_symlink(path);
    // All ranks know the name, so that any rank that is terminated removes the file.
    let mine = world.is_root().then(|| TempFile::next_to(&path));
    let name = mine.as_ref().map(|temp_file| temp_file.path().as_os_str().as_encoded_bytes().to_vec());
    let mut name = name.unwrap_or_default();
    world.broadcast(&mut name);
    let temp_file = mine.unwrap_or_else(|| TempFile::registered(OsString::from_vec(name).into()));
    let mut places = Vec::new();
    world.on_root(|| {
        overwrite.check(&path)?;
        places = create_layout(temp_file.path(), matrices, &pieces, write_metadata).map_err(|error| {
            StoreError::Hdf5 {
                place: path.display().to_string(),
                action: "writing".into(),
                detail: error.to_string(),
            }
        })?;
        Ok(())
    })?;
    world.broadcast(&mut places);
    fault::inject(world.rank(), "write")?;
    world.agree(write_pieces(temp_file.path(), &pieces, &places))?;
    Ok(UnpublishedFile { temp_file, path })
}

/// Gives files their names, one right after the other. If one fails, the new files before it are removed. Collective.
pub fn publish(world: &World, files: Vec<UnpublishedFile>) -> error::Result<()> {
    let mut new = Vec::new();
    let mut outcome = Ok(());
    for UnpublishedFile { temp_file, path } in files {
        if !world.is_root() {
            temp_file.hand_over();
        } else if outcome.is_ok() {
            let is_new = path.symlink_metadata().is_err();
            outcome = temp_file.publish(&path);
            if is_new {
                new.push(path);
            }
        }
    }
    if outcome.is_err() {
        new.iter().for_each(|path| drop(std::fs::remove_file(path)));
    }
    world.agree(outcome)
}

/// Creates the file and returns the offset of the dataset of each piece.
fn create_layout(
    path: &Path,
    matrices: &[LocalMatrix<'_>],
    pieces: &[DatasetPiece<'_>],
    write_metadata: impl FnOnce(&hdf5::File) -> hdf5::Result<()>,
) -> hdf5::Result<Vec<u64>> {
    hdf5::silence_errors(true);
    // No other program knows the temporary name, so no lock is needed.
    let file = FileBuilder::new().with_fapl(|access| LockMode::Unlocked.set(access)).create(path)?;
    write_metadata(&file)?;
    for matrix in matrices {
        matrix.describe(&file)?;
    }
    let mut places = Vec::new();
    for piece in pieces {
        let builder = file.new_dataset_builder();
        let empty = match piece.elements {
            PieceData::F32(_) => builder.empty::<f32>(),
            PieceData::Columns(_) => builder.empty::<i32>(),
            PieceData::WideColumns(_) | PieceData::I64(_) => builder.empty::<i64>(),
        };
        let dataset = empty
            .shape(piece.total as usize)
            .no_chunk()
            .alloc_time(Some(AllocTime::Early))
            .create(piece.name.as_str())?;
        // An empty dataset has no offset; nothing is written there either.
        places.push(dataset.offset().unwrap_or(0));
    }
    Ok(places)
}

/// Elements encoded at a time, which bounds the memory.
const ELEMENTS_PER_WRITE: usize = 1 << 20;

fn write_pieces(path: &Path, pieces: &[DatasetPiece<'_>], places: &[u64]) -> Result<()> {
    let io = |action| move |source| StoreError::Io { file: path.into(), action, source };
    if pieces.is_empty() {
        return Ok(());
    }
    let file = File::options().write(true).open(path).map_err(io("open it"))?;
    for (piece, place) in pieces.iter().zip(places) {
        let mut at = 0;
        while at < piece.elements.len() {
            let end = (at + ELEMENTS_PER_WRITE).min(piece.elements.len());
            let offset = place + (piece.start + at as u64) * piece.elements.width();
            file.write_all_at(&piece.elements.encode(at..end), offset).map_err(io("write it"))?;
            at = end;
            beat();
        }
    }
    file.sync_all().map_err(io("write it"))
}
