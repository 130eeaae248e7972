//! The output folder of an experiment.

use std::path::{Path, PathBuf};

use super::ExperimentError;
use super::classifier_spec::ClassifierSpec;
use super::lock::Lock;
use super::step::{Action, FitOrTest};
use crate::error::Result;
use crate::store::StoreError;

/// The output folder:
///
/// | content | place |
/// |---|---|
/// | results | `results.json`, `results.csv`, `results.md` |
/// | classifiers, and checkpoints of unfinished ones | `classifiers/` |
/// | generated data | `data/` |
/// | a record of each step | `records/` |
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

const CLASSIFIERS: &str = "classifiers";
const DATA: &str = "data";
const RECORDS: &str = "records";

impl Folder {
    pub fn new(root: PathBuf) -> Folder {
        Folder { root }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Refuses a folder with other files.
    pub fn check(&self) -> Result<()> {
        let folder = self.root.clone();
        if folder.is_file() {
            return Err(ExperimentError::NotFolder { folder }.into());
        }
        let has_files = std::fs::read_dir(&folder).is_ok_and(|mut files| files.next().is_some());
        if has_files && !self.lock_file().is_file() {
            return Err(ExperimentError::NotOurs { folder }.into());
        }
        Ok(())
    }

    /// Creates the folder if necessary, locks it, and removes files that a killed run was writing.
    pub fn lock_for_run(&self) -> Result<Lock> {
        self.check()?;
        let folders =
            [self.root.clone(), self.root.join(CLASSIFIERS), self.root.join(DATA), self.root.join(RECORDS)];
        for folder in folders.clone() {
            std::fs::create_dir_all(&folder).map_err(|source| StoreError::Unwritable { folder, source })?;
        }
        let lock = Lock::acquire(&self.root, &self.lock_file())?;
        let is_temporary = |name: &str| name.starts_with('.') && name.ends_with(".part");
        folders.iter().for_each(|folder| remove_files(folder, is_temporary));
        Ok(lock)
    }

    fn lock_file(&self) -> PathBuf {
        self.root.join("run.lock")
    }

    pub(super) fn hash_cache_file(&self) -> PathBuf {
        self.root.join(RECORDS).join("known-files.json")
    }

    pub fn data_file(&self, part: FitOrTest) -> PathBuf {
        self.root.join(DATA).join(format!("{}.h5", part.name()))
    }

    pub fn classifier_file(&self, spec: &ClassifierSpec) -> PathBuf {
        self.root.join(CLASSIFIERS).join(format!("{}.h5", spec.file_stem()))
    }

    /// Returns the checkpoint of a fit with these facts.
    pub(super) fn checkpoint(&self, spec: &ClassifierSpec, fingerprint_hash: &str) -> PathBuf {
        let prefix = Folder::checkpoint_prefix(spec);
        self.root.join(CLASSIFIERS).join(format!("{prefix}{}.checkpoint", &fingerprint_hash[..8]))
    }

    /// Returns the prefix of the names of a classifier's checkpoints.
    fn checkpoint_prefix(spec: &ClassifierSpec) -> String {
        format!("{}.h5.", spec.file_stem())
    }

    /// Removes all checkpoints of a classifier except `kept`, with the files that belong to them.
    pub(super) fn remove_other_checkpoints(&self, spec: &ClassifierSpec, kept: &Path) {
        let (prefix, kept) = (Folder::checkpoint_prefix(spec), kept.file_name().unwrap_or_default());
        let kept = kept.to_string_lossy();
        remove_files(&self.root.join(CLASSIFIERS), |name| {
            name.starts_with(&prefix) && name.contains(".checkpoint") && !name.starts_with(&*kept)
        });
    }

    pub(super) fn record_file(&self, action: &Action) -> PathBuf {
        self.root.join(RECORDS).join(format!("{}.json", action.file_stem()))
    }

    /// Returns the output file of a step, if it has one.
    pub(super) fn output_file(&self, action: &Action) -> Option<PathBuf> {
        match action {
            Action::MakeData(part) => Some(self.data_file(*part)),
            Action::MakeClassifier(spec) => Some(self.classifier_file(spec)),
            Action::Evaluate(_) => None,
        }
    }

    /// Returns the file of results with this ending.
    pub fn results_file(&self, ending: &str) -> PathBuf {
        self.root.join(format!("results.{ending}"))
    }
}

/// Removes the files of a folder whose names satisfy `condition`, as far as possible.
fn remove_files(folder: &Path, condition: impl Fn(&str) -> bool) {
    for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if condition(&file.file_name().to_string_lossy()) {
            let _ = std::fs::remove_file(file.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locking_removes_unfinished_files_only() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::new(place.path().join("out"));
        drop(folder.lock_for_run().unwrap());
        let unfinished = folder.root.join(CLASSIFIERS).join(".k3-top-k.h5.4711.part");
        let others =
            [folder.root.join(CLASSIFIERS).join("k3-top-k.h5"), folder.root.join(RECORDS).join("my.part")];
        for path in others.iter().chain([&unfinished]) {
            std::fs::write(path, "x").unwrap();
        }
        drop(folder.lock_for_run().unwrap());
        assert!(!unfinished.exists());
        assert!(others.iter().all(|path| path.exists()));
    }
}
