//! Data files in a temporary folder.

use std::path::{Path, PathBuf};

use macrok::load::{LoadOptions, load_shard};
use macrok::shard::Shard;
use macrok::store::{LocalMatrix, Location, Overwrite, Role, write_file};
use macrok::synth::{Generator, SynthRows, SynthShape, generate};
use macrok::world::World;
use tempfile::TempDir;

/// The layout of the datasets in a file.
#[derive(Clone, Copy)]
pub enum Layout {
    /// Contiguous, as macrok writes them.
    Contiguous,
    /// In gzipped chunks, as often from Python.
    Gzip,
}

/// A file with marginals and labels.
pub struct DataFile {
    path: PathBuf,
    _folder: TempDir,
}

impl DataFile {
    pub fn new(rows: u64, labels: u32, nnz: u32, layout: Layout) -> DataFile {
        let shape =
            SynthShape { instances: rows, labels, features: 10, nnz, average_labels: 5.0, exponent: 1.0 };
        let made = generate(&Generator::new(shape, 0), 0..rows, &());
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let path = folder.path().join("data.h5");
        match layout {
            Layout::Contiguous => write_contiguous(&path, &made, shape),
            Layout::Gzip => write_gzip(&path, &made, shape).expect("the file can be written"),
        }
        DataFile { path, _folder: folder }
    }

    /// This file as `fit` loads it.
    pub fn load(&self) -> Shard {
        let location = |role: Role| Location { file: self.path.clone(), group: role.group().to_owned() };
        let options = LoadOptions {
            marginals: location(Role::Marginals),
            labels: Some(location(Role::Labels)),
            clamp: false,
        };
        load_shard(&World::alone(), &options).expect("the file was just written")
    }
}

fn write_contiguous(path: &Path, made: &SynthRows, shape: SynthShape) {
    let matrices = [("marginals", &made.marginals), ("labels", &made.labels)].map(|(group, rows)| {
        LocalMatrix { group, rows: shape.instances, columns: shape.labels.into(), local: rows.view() }
    });
    write_file(&World::alone(), path, Overwrite::Replace, &matrices, |_| Ok(()))
        .expect("the file can be written");
}

fn write_gzip(path: &Path, made: &SynthRows, shape: SynthShape) -> hdf5::Result<()> {
    const CHUNK: usize = 1 << 16;
    let file = hdf5::File::create(path)?;
    for (name, rows) in [("marginals", &made.marginals), ("labels", &made.labels)] {
        let group = file.create_group(name)?;
        let chunk = rows.columns.len().clamp(1, CHUNK);
        let indptr: Vec<i64> = rows.starts.iter().map(|&at| at as i64).collect();
        let indices: Vec<i32> = rows.columns.iter().map(|&column| column as i32).collect();
        group.new_dataset_builder().chunk(chunk).deflate(4).with_data(&rows.values).create("data")?;
        group.new_dataset_builder().chunk(chunk).deflate(4).with_data(&indices).create("indices")?;
        group.new_dataset_builder().with_data(&indptr).create("indptr")?;
        let size = [shape.instances as i64, i64::from(shape.labels)];
        group.new_attr::<i64>().shape(2).create("shape")?.write(&size)?;
    }
    Ok(())
}
