//! Files and folders of a run, as each rank sees them.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::machine::FileSystem;
use crate::world::World;

/// The use of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PathUse {
    /// Read by every rank.
    Data,
    /// Written into by every rank.
    Output,
}

/// A path, as one rank sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenPath {
    pub path: PathBuf,
    #[serde(rename = "use")]
    pub used: PathUse,
    pub system: Option<FileSystem>,
    /// The size of a data file; `None` if it cannot be read.
    pub bytes: Option<u64>,
    /// Whether this rank sees what rank 0 writes into an output folder.
    pub shared: bool,
}

impl SeenPath {
    pub fn data(path: &Path) -> SeenPath {
        let bytes = path.metadata().ok().map(|found| found.len());
        SeenPath { path: path.into(), used: PathUse::Data, system: system(path), bytes, shared: true }
    }

    /// Tests whether all ranks see what rank 0 writes into `folder`. Collective; leaves no file.
    pub fn output(world: &World, folder: &Path) -> SeenPath {
        let mine = format!("{}.{}", crate::host::host_name(Path::new("/")), std::process::id());
        let mark = world.broadcast_json(world.is_root().then_some(mine));
        let file = folder.join(format!(".macrok-doctor.{mark}"));
        let written = world.is_root().then(|| {
            // `create_new`, so that no file is overwritten.
            File::create_new(&file).and_then(|mut file| file.write_all(mark.as_bytes())).is_ok()
        });
        let written = world.broadcast_json(written);
        let shared = written && std::fs::read_to_string(&file).is_ok_and(|found| found == mark);
        // All ranks must have looked before it is removed.
        world.gather_to_all(0);
        if world.is_root() && written {
            let _ = std::fs::remove_file(&file);
        }
        SeenPath { path: folder.into(), used: PathUse::Output, system: system(folder), bytes: None, shared }
    }
}

fn system(path: &Path) -> Option<FileSystem> {
    FileSystem::of(path, Path::new("/"))
}
