//! Where everything that an experiment makes goes.

use std::path::{Path, PathBuf};

use super::ExperimentError;
use super::classifier_spec::ClassifierSpec;
use super::lock::Lock;
use super::step::{Action, FitOrTest};
use crate::error::Result;
use crate::store::StoreError;

/// The output folder:
///
/// | what | where |
/// |---|---|
/// | the results | `results.json`, `results.csv`, `results.md` |
/// | classifiers, and checkpoints of unfinished ones | `classifiers/` |
/// | data that were made | `data/` |
/// | one record a step | `records/` |
#[derive(Clone, Debug)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    pub fn new(root: PathBuf) -> Folder {
        Folder { root }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether there is something of an experiment there.
    pub fn is_experiment(&self) -> bool {
        self.lock_file().is_file()
    }

    /// Refuses a folder that has other things in it.
    pub fn check(&self) -> Result<()> {
        let folder = || self.root.clone();
        if self.root.is_file() {
            return Err(ExperimentError::NotFolder { folder: folder() }.into());
        }
        let has_files = std::fs::read_dir(&self.root).is_ok_and(|mut files| files.next().is_some());
        if has_files && !self.is_experiment() {
            return Err(ExperimentError::NotOurs { folder: folder() }.into());
        }
        Ok(())
    }

    /// Makes the folder, where it is not there, and takes it for this run.
    pub fn lock_for_run(&self) -> Result<Lock> {
        self.check()?;
        for folder in [self.root.clone(), self.classifiers(), self.data(), self.records()] {
            std::fs::create_dir_all(&folder).map_err(|source| StoreError::Unwritable { folder, source })?;
        }
        let lock = Lock::acquire(&self.root, &self.lock_file())?;
        self.remove_unfinished();
        Ok(lock)
    }

    /// Files that a killed run was writing. While the lock is held nobody else writes here.
    fn remove_unfinished(&self) {
        for folder in [self.root.clone(), self.classifiers(), self.data(), self.records()] {
            for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = file.file_name();
                let name = name.to_string_lossy();
                if name.starts_with('.') && name.ends_with(".part") {
                    let _ = std::fs::remove_file(file.path());
                }
            }
        }
    }

    fn lock_file(&self) -> PathBuf {
        self.root.join("run.lock")
    }

    fn classifiers(&self) -> PathBuf {
        self.root.join("classifiers")
    }

    fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    fn records(&self) -> PathBuf {
        self.root.join("records")
    }

    pub(super) fn hash_cache_file(&self) -> PathBuf {
        self.records().join("known-files.json")
    }

    pub fn data_file(&self, part: FitOrTest) -> PathBuf {
        self.data().join(format!("{}.h5", part.name()))
    }

    pub fn classifier_file(&self, spec: &ClassifierSpec) -> PathBuf {
        self.classifiers().join(format!("{}.h5", spec.file_stem()))
    }

    /// Where a fit that is not finished keeps how far it has come. Its name tells for which facts.
    pub(super) fn checkpoint(&self, spec: &ClassifierSpec, fingerprint_hash: &str) -> PathBuf {
        self.classifiers().join(format!(
            "{}{}.checkpoint",
            Folder::checkpoint_prefix(spec),
            &fingerprint_hash[..8]
        ))
    }

    /// What the names of checkpoints of a spec begin with.
    fn checkpoint_prefix(spec: &ClassifierSpec) -> String {
        format!("{}.h5.", spec.file_stem())
    }

    /// Removes the checkpoints of a spec that `which` says, with all that belongs to them.
    pub(super) fn remove_checkpoints(&self, spec: &ClassifierSpec, which: impl Fn(&Path) -> bool) {
        let start = Folder::checkpoint_prefix(spec);
        for file in std::fs::read_dir(self.classifiers()).into_iter().flatten().flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            let Some(end) = name.find(".checkpoint").map(|at| at + ".checkpoint".len()) else { continue };
            if name.starts_with(&start) && which(&self.classifiers().join(&name[..end])) {
                let _ = std::fs::remove_file(file.path());
            }
        }
    }

    pub(super) fn record_file(&self, action: &Action) -> PathBuf {
        self.records().join(format!("{}.json", action.file_stem()))
    }

    /// What a step makes beside its record.
    pub(super) fn output_file(&self, action: &Action) -> Option<PathBuf> {
        match action {
            Action::MakeData(part) => Some(self.data_file(*part)),
            Action::MakeClassifier(spec) => Some(self.classifier_file(spec)),
            Action::Evaluate(_) => None,
        }
    }

    /// The results, by the ending of the file's name.
    pub fn results_file(&self, ending: &str) -> PathBuf {
        self.root.join(format!("results.{ending}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_run_was_writing_goes_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::new(place.path().join("out"));
        drop(folder.lock_for_run().unwrap());
        let unfinished = folder.classifiers().join(".k3-top-k.h5.4711.part");
        let others = [folder.classifiers().join("k3-top-k.h5"), folder.records().join("my.part")];
        for path in others.iter().chain([&unfinished]) {
            std::fs::write(path, "x").unwrap();
        }
        drop(folder.lock_for_run().unwrap());
        assert!(!unfinished.exists());
        assert!(others.iter().all(|path| path.exists()));
    }
}
