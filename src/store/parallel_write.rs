//! Files written by all ranks at once.
//!
//! HDF5 without its MPI driver cannot be written by several processes. So rank 0 lays the file out
//! with contiguous, allocated datasets and closes it; then every rank writes its own rows as plain
//! bytes at the place HDF5 gave them. The file is written beside its final name, synced and renamed.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use hdf5::file::FileBuilder;
use hdf5::plist::dataset_create::AllocTime;
use hdf5::types::VarLenUnicode;

use super::atomic_write::{Overwrite, resolve_symlink};
use super::error::{Result, StoreError};
use super::file_locks::LockMode;
use super::temp_file::TempFile;
use crate::error;
use crate::fault;
use crate::heartbeat::beat;
use crate::world::World;

/// One rank's part of a one-dimensional dataset that all ranks write together.
pub struct DatasetPiece<'d> {
    pub name: String,
    pub bytes: PieceData<'d>,
    /// Elements before this rank's, and in all.
    pub start: u64,
    pub total: u64,
}

/// The element types the files hold.
pub enum PieceData<'d> {
    F32(&'d [f32]),
    /// Column numbers that fit i32, which SciPy uses without a conversion.
    Columns(&'d [u32]),
    /// Column numbers that do not; stored as i64.
    WideColumns(&'d [u32]),
    I64(Vec<i64>),
}

impl PieceData<'_> {
    fn encode(&self) -> Vec<u8> {
        match self {
            PieceData::F32(values) => values.iter().flat_map(|v| v.to_ne_bytes()).collect(),
            PieceData::Columns(values) => values.iter().flat_map(|v| v.to_ne_bytes()).collect(),
            PieceData::WideColumns(values) => {
                values.iter().flat_map(|&v| i64::from(v).to_ne_bytes()).collect()
            }
            PieceData::I64(values) => values.iter().flat_map(|v| v.to_ne_bytes()).collect(),
        }
    }

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

    /// Elements `range` of this piece.
    fn part(&self, range: std::ops::Range<usize>) -> PieceData<'_> {
        match self {
            PieceData::F32(values) => PieceData::F32(&values[range]),
            PieceData::Columns(values) => PieceData::Columns(&values[range]),
            PieceData::WideColumns(values) => PieceData::WideColumns(&values[range]),
            PieceData::I64(values) => PieceData::I64(values[range].to_vec()),
        }
    }
}

/// This rank's rows of a CSR matrix that all ranks write together.
pub struct LocalMatrix<'d> {
    pub group: &'static str,
    pub rows: u64,
    pub columns: u64,
    /// Row starts within this rank's entries, from 0.
    pub indptr: &'d [usize],
    pub indices: &'d [u32],
    pub values: &'d [f32],
}

impl<'d> LocalMatrix<'d> {
    /// The three datasets of the matrix. Collective: where a rank's entries go depends on the others.
    fn pieces(&self, world: &World) -> Vec<DatasetPiece<'d>> {
        let counts = world.gather_to_all(self.indices.len() as u64);
        let rows = world.gather_to_all(self.indptr.len() as u64 - 1);
        let before = |counts: &[u64]| counts[..world.rank()].iter().sum::<u64>();
        let (start, total) = (before(&counts), counts.iter().sum());
        // Each rank writes where its rows begin; the last one also where they end.
        let last = world.rank() + 1 == world.size();
        let length = self.indptr.len() - usize::from(!last);
        let indptr: Vec<i64> = self.indptr[..length].iter().map(|&at| (start + at as u64) as i64).collect();
        let narrow = self.columns <= i32::MAX as u64;
        let columns =
            if narrow { PieceData::Columns(self.indices) } else { PieceData::WideColumns(self.indices) };
        let name = |part| format!("{}/{part}", self.group);
        vec![
            DatasetPiece { name: name("data"), bytes: PieceData::F32(self.values), start, total },
            DatasetPiece { name: name("indices"), bytes: columns, start, total },
            DatasetPiece {
                name: name("indptr"),
                bytes: PieceData::I64(indptr),
                start: before(&rows),
                total: self.rows + 1,
            },
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

/// Writes `path`: on rank 0 what `write_metadata` puts there, and every rank's rows of `matrices`.
/// Collective; all ranks succeed or none, and then nothing is left behind.
pub fn write_file(
    world: &World,
    path: &Path,
    overwrite: Overwrite,
    matrices: &[LocalMatrix<'_>],
    write_metadata: impl FnOnce(&hdf5::File) -> hdf5::Result<()>,
) -> error::Result<()> {
    publish(world, vec![write_unpublished(world, path, overwrite, matrices, write_metadata)?])
}

/// A file that is written whole, but not yet in its place. Dropped, it is gone.
pub struct UnpublishedFile {
    temp_file: TempFile,
    path: PathBuf,
}

/// As [`write_file`], up to where the file would appear: [`publish`] makes several appear together. Collective.
pub fn write_unpublished(
    world: &World,
    path: &Path,
    overwrite: Overwrite,
    matrices: &[LocalMatrix<'_>],
    write_metadata: impl FnOnce(&hdf5::File) -> hdf5::Result<()>,
) -> error::Result<UnpublishedFile> {
    let pieces: Vec<DatasetPiece<'_>> = matrices.iter().flat_map(|matrix| matrix.pieces(world)).collect();
    let path = resolve_symlink(path);
    // One name for all: whichever rank is ended first removes it.
    let mine = world.is_root().then(|| TempFile::beside(&path));
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
    world.agree(write_pieces(temp_file.path(), &pieces, &places).map_err(Into::into))?;
    Ok(UnpublishedFile { temp_file, path })
}

/// Makes files appear under their names, one right after the other. When one cannot, those before it that are new
/// are taken back. Collective.
pub fn publish(world: &World, files: Vec<UnpublishedFile>) -> error::Result<()> {
    let mut new = Vec::new();
    let mut outcome = Ok(());
    for UnpublishedFile { temp_file, path } in files {
        if !world.is_root() {
            outcome = outcome.and(temp_file.hand_over());
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
    world.agree(outcome.map_err(Into::into))
}

/// Creates the file and says where in it each piece's dataset begins.
fn create_layout(
    path: &Path,
    matrices: &[LocalMatrix<'_>],
    pieces: &[DatasetPiece<'_>],
    write_metadata: impl FnOnce(&hdf5::File) -> hdf5::Result<()>,
) -> hdf5::Result<Vec<u64>> {
    hdf5::silence_errors(true);
    // Under a name that nobody else knows: there is nobody to lock out.
    let file = FileBuilder::new().with_fapl(|access| LockMode::Unlocked.set(access)).create(path)?;
    write_metadata(&file)?;
    for matrix in matrices {
        matrix.describe(&file)?;
    }
    let mut places = Vec::new();
    for piece in pieces {
        let builder = file.new_dataset_builder();
        let empty = match piece.bytes {
            PieceData::F32(_) => builder.empty::<f32>(),
            PieceData::Columns(_) => builder.empty::<i32>(),
            PieceData::WideColumns(_) | PieceData::I64(_) => builder.empty::<i64>(),
        };
        let dataset = empty
            .shape(piece.total as usize)
            .no_chunk()
            .alloc_time(Some(AllocTime::Early))
            .create(piece.name.as_str())?;
        // A dataset of nothing has no place; nothing is written there either.
        places.push(dataset.offset().unwrap_or(0));
    }
    Ok(places)
}

/// Elements encoded at a time, so that memory stays the shard.
const ELEMENTS_PER_WRITE: usize = 1 << 20;

fn write_pieces(path: &Path, pieces: &[DatasetPiece<'_>], places: &[u64]) -> Result<()> {
    let io = |action| move |source| StoreError::Io { file: path.into(), action, source };
    if pieces.is_empty() {
        return Ok(());
    }
    let file = File::options().write(true).open(path).map_err(io("open it"))?;
    for (piece, place) in pieces.iter().zip(places) {
        let mut at = 0;
        while at < piece.bytes.len() {
            let end = (at + ELEMENTS_PER_WRITE).min(piece.bytes.len());
            let offset = place + (piece.start + at as u64) * piece.bytes.width();
            file.write_all_at(&piece.bytes.part(at..end).encode(), offset).map_err(io("write it"))?;
            at = end;
            beat();
        }
    }
    file.sync_all().map_err(io("write it"))
}

pub fn write_text_attribute(at: &hdf5::Location, name: &str, text: &str) -> hdf5::Result<()> {
    // A NUL would end the text early for every reader.
    let text: VarLenUnicode = text.replace('\0', " ").parse().unwrap_or_default();
    at.new_attr::<VarLenUnicode>().create(name)?.write_scalar(&text)
}
