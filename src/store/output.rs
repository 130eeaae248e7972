//! Files that appear whole or not at all (DESIGN, promise 3), written by all ranks at once.
//!
//! HDF5 without its MPI driver cannot be written by several processes. So rank 0 lays the file out
//! with contiguous, allocated datasets and closes it; then every rank writes its own rows as plain
//! bytes at the place HDF5 gave them. The file is written beside its final name, synced and renamed.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use hdf5::plist::dataset_create::AllocTime;
use hdf5::types::VarLenUnicode;

use super::error::{Result, StoreError};
use crate::error;
use crate::world::World;

/// What to do when the output is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    Refuse,
    Replace,
}

impl Overwrite {
    pub fn from_force(force: bool) -> Overwrite {
        if force { Overwrite::Replace } else { Overwrite::Refuse }
    }

    /// As [`Overwrite::check`], for text, which may also go into a pipe or a device.
    pub fn check_text(self, path: &Path) -> Result<()> {
        if is_special(path) { Ok(()) } else { self.check(path) }
    }

    /// Fails now rather than after hours of work.
    pub fn check(self, path: &Path) -> Result<()> {
        let names_folder = path.file_name().is_none() || path.as_os_str().as_encoded_bytes().ends_with(b"/");
        if path.is_dir() || names_folder {
            return Err(StoreError::IsFolder { file: path.into() });
        }
        // Of the link itself, so that a link to nowhere counts as there.
        let there = path.symlink_metadata().is_ok();
        if there && self == Overwrite::Refuse {
            return Err(StoreError::Exists { file: path.into() });
        }
        if is_special(path) {
            return Err(StoreError::NotRegular { file: path.into() });
        }
        let path = &followed(path);
        let folder = folder_of(path);
        if !folder.is_dir() {
            return Err(StoreError::NoFolder { folder });
        }
        // The only way to know is to try.
        let probe = temporary_beside(path);
        File::create(&probe)
            .and_then(|_| std::fs::remove_file(&probe))
            .map_err(|source| StoreError::Unwritable { folder, source })
    }
}

/// A pipe, a device or the like: to write into, never to replace.
pub(super) fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// Where a link leads: its target is replaced, not the link.
fn followed(path: &Path) -> PathBuf {
    if path.is_symlink() { path.canonicalize().unwrap_or_else(|_| path.into()) } else { path.into() }
}

/// One rank's part of a one-dimensional dataset that all ranks write together.
pub struct Piece<'d> {
    pub name: String,
    pub bytes: Bytes<'d>,
    /// Elements before this rank's, and in all.
    pub start: u64,
    pub total: u64,
}

/// The element types the files hold.
pub enum Bytes<'d> {
    F32(&'d [f32]),
    /// Column numbers. Stored as i32, which SciPy uses without a conversion, when they fit.
    Columns(&'d [u32], bool),
    I64(Vec<i64>),
}

impl Bytes<'_> {
    fn encode(&self) -> Vec<u8> {
        match self {
            Bytes::F32(values) => values.iter().flat_map(|v| v.to_ne_bytes()).collect(),
            Bytes::Columns(values, true) => values.iter().flat_map(|v| v.to_ne_bytes()).collect(),
            Bytes::Columns(values, false) => {
                values.iter().flat_map(|&v| i64::from(v).to_ne_bytes()).collect()
            }
            Bytes::I64(values) => values.iter().flat_map(|v| v.to_ne_bytes()).collect(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Bytes::F32(values) => values.len(),
            Bytes::Columns(values, _) => values.len(),
            Bytes::I64(values) => values.len(),
        }
    }

    fn width(&self) -> u64 {
        match self {
            Bytes::F32(_) | Bytes::Columns(_, true) => 4,
            Bytes::Columns(_, false) | Bytes::I64(_) => 8,
        }
    }

    /// Elements `range` of this piece.
    fn part(&self, range: std::ops::Range<usize>) -> Bytes<'_> {
        match self {
            Bytes::F32(values) => Bytes::F32(&values[range]),
            Bytes::Columns(values, narrow) => Bytes::Columns(&values[range], *narrow),
            Bytes::I64(values) => Bytes::I64(values[range].to_vec()),
        }
    }
}

/// This rank's rows of a CSR matrix that all ranks write together.
pub struct Matrix<'d> {
    pub group: &'static str,
    pub rows: u64,
    pub columns: u64,
    /// Row starts within this rank's entries, from 0.
    pub indptr: &'d [usize],
    pub indices: &'d [u32],
    pub values: &'d [f32],
}

impl<'d> Matrix<'d> {
    /// The three datasets of the matrix. Collective: where a rank's entries go depends on the others.
    fn pieces(&self, world: &World) -> Vec<Piece<'d>> {
        let counts = world.gather_to_all(self.indices.len() as u64);
        let rows = world.gather_to_all(self.indptr.len() as u64 - 1);
        let before = |counts: &[u64]| counts[..world.rank()].iter().sum::<u64>();
        let (start, total) = (before(&counts), counts.iter().sum());
        // Each rank writes where its rows begin; the last one also where they end.
        let last = world.rank() + 1 == world.size();
        let length = self.indptr.len() - usize::from(!last);
        let indptr: Vec<i64> = self.indptr[..length].iter().map(|&at| (start + at as u64) as i64).collect();
        let narrow = self.columns <= i32::MAX as u64;
        let name = |part| format!("{}/{part}", self.group);
        vec![
            Piece { name: name("data"), bytes: Bytes::F32(self.values), start, total },
            Piece { name: name("indices"), bytes: Bytes::Columns(self.indices, narrow), start, total },
            Piece {
                name: name("indptr"),
                bytes: Bytes::I64(indptr),
                start: before(&rows),
                total: self.rows + 1,
            },
        ]
    }

    fn describe(&self, file: &hdf5::File) -> hdf5::Result<()> {
        let group = file.create_group(self.group)?;
        text_attribute(&group, "encoding-type", "csr_matrix")?;
        text_attribute(&group, "encoding-version", "0.1.0")?;
        group.new_attr_builder().with_data(&[self.rows as i64, self.columns as i64]).create("shape")?;
        Ok(())
    }
}

/// Writes `path`: on rank 0 what `small` puts there, and every rank's rows of `matrices`.
/// Collective; all ranks succeed or none, and then nothing is left behind.
pub fn write_file(
    world: &World,
    path: &Path,
    overwrite: Overwrite,
    matrices: &[Matrix<'_>],
    small: impl FnOnce(&hdf5::File) -> hdf5::Result<()>,
) -> error::Result<()> {
    let pieces: Vec<Piece<'_>> = matrices.iter().flat_map(|matrix| matrix.pieces(world)).collect();
    let path = &followed(path);
    let mut temporary = temporary_beside(path).into_os_string().into_encoded_bytes();
    world.broadcast(&mut temporary);
    let temporary = PathBuf::from(String::from_utf8_lossy(&temporary).into_owned());
    let written = (|| {
        let mut places = Vec::new();
        world.on_root(|| {
            overwrite.check(path)?;
            places = lay_out(&temporary, matrices, &pieces, small).map_err(|error| StoreError::Hdf5 {
                place: path.display().to_string(),
                action: "writing".into(),
                detail: error.to_string(),
            })?;
            Ok(())
        })?;
        world.broadcast(&mut places);
        world.agree(write_pieces(&temporary, &pieces, &places).map_err(Into::into))?;
        world.on_root(|| Ok(publish(&temporary, path)?))
    })();
    if written.is_err() && world.is_root() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// Creates the file and says where in it each piece's dataset begins.
fn lay_out(
    path: &Path,
    matrices: &[Matrix<'_>],
    pieces: &[Piece<'_>],
    small: impl FnOnce(&hdf5::File) -> hdf5::Result<()>,
) -> hdf5::Result<Vec<u64>> {
    hdf5::silence_errors(true);
    let file = hdf5::File::create(path)?;
    small(&file)?;
    for matrix in matrices {
        matrix.describe(&file)?;
    }
    let mut places = Vec::new();
    for piece in pieces {
        let builder = file.new_dataset_builder();
        let empty = match piece.bytes {
            Bytes::F32(_) => builder.empty::<f32>(),
            Bytes::Columns(_, true) => builder.empty::<i32>(),
            Bytes::Columns(_, false) | Bytes::I64(_) => builder.empty::<i64>(),
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
const BLOCK: usize = 1 << 20;

fn write_pieces(path: &Path, pieces: &[Piece<'_>], places: &[u64]) -> Result<()> {
    let io = |action| move |source| StoreError::Io { file: path.into(), action, source };
    if pieces.is_empty() {
        return Ok(());
    }
    let file = File::options().write(true).open(path).map_err(io("open it"))?;
    for (piece, place) in pieces.iter().zip(places) {
        let mut at = 0;
        while at < piece.bytes.len() {
            let end = (at + BLOCK).min(piece.bytes.len());
            let offset = place + (piece.start + at as u64) * piece.bytes.width();
            file.write_all_at(&piece.bytes.part(at..end).encode(), offset).map_err(io("write it"))?;
            at = end;
        }
    }
    file.sync_all().map_err(io("write it"))
}

/// Makes a finished file appear under its name, for good.
fn publish(temporary: &Path, path: &Path) -> Result<()> {
    let io = |source| StoreError::Io { file: path.into(), action: "write it", source };
    File::open(temporary).and_then(|file| file.sync_all()).map_err(io)?;
    std::fs::rename(temporary, path).map_err(io)?;
    File::open(folder_of(path)).and_then(|folder| folder.sync_all()).map_err(io)
}

/// Writes a small text file whole or not at all; into a pipe or a device it just writes.
pub fn write_text(path: &Path, overwrite: Overwrite, text: &str) -> Result<()> {
    let io = |source| StoreError::Io { file: path.into(), action: "write it", source };
    if is_special(path) {
        return File::options()
            .write(true)
            .open(path)
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(io);
    }
    overwrite.check(path)?;
    let path = &followed(path);
    let temporary = temporary_beside(path);
    let written = File::create(&temporary)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(io)
        .and_then(|()| publish(&temporary, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.into(),
        _ => ".".into(),
    }
}

fn temporary_beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    folder_of(path).join(format!(".{name}.{}.part", std::process::id()))
}

pub(super) fn text_attribute(at: &hdf5::Location, name: &str, text: &str) -> hdf5::Result<()> {
    // A NUL would end the text early for every reader.
    let text: VarLenUnicode = text.replace('\0', " ").parse().unwrap_or_default();
    at.new_attr::<VarLenUnicode>().create(name)?.write_scalar(&text)
}
