//! A lock that allows one run at a time in a folder.
//!
//! It is a lock of the operating system on a file of the folder, which ends with the process. The file names the holder; on
//! file systems without locks, only that text protects the folder.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::ExperimentError;
use crate::error::Result;
use crate::host::host_name;
use crate::store::StoreError;
use crate::world::SLURM_JOB_ID;

/// The process that holds a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    host: String,
    process: u32,
    /// Its Slurm job, if any.
    job: Option<String>,
}

impl Holder {
    fn me() -> Holder {
        Holder {
            host: host_name(Path::new("/")),
            process: std::process::id(),
            job: std::env::var(SLURM_JOB_ID).ok(),
        }
    }

    /// Whether the process has certainly ended.
    fn has_ended(&self, me: &Holder) -> bool {
        // A requeued job keeps its number, and its earlier run has ended.
        let same_job = self.job.is_some() && self.job == me.job;
        let here = self.host == me.host && Path::new("/proc/self").exists();
        same_job || (here && !Path::new("/proc").join(self.process.to_string()).exists())
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {}", self.process, self.host)?;
        match &self.job {
            Some(job) => write!(f, ", Slurm job {job}"),
            None => Ok(()),
        }
    }
}

/// The exclusive use of a folder, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Acquires the lock file `path` of `folder`, or fails with its holder. Lock files of killed runs do not matter.
    pub(super) fn acquire(folder: &Path, path: &Path) -> Result<Lock> {
        let io = |source| StoreError::Io { file: path.into(), action: "lock it", source };
        let mut file =
            File::options().read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        let locked = file.try_lock();
        let mut text = String::new();
        let _ = file.read_to_string(&mut text);
        let before: Option<Holder> = serde_json::from_str(&text).ok();
        let me = Holder::me();
        let unknown = || Holder { host: "an unknown host".into(), process: 0, job: None };
        match locked {
            Ok(()) => (),
            Err(TryLockError::WouldBlock) => {
                let (folder, holder) = (folder.into(), before.unwrap_or_else(unknown));
                return Err(ExperimentError::Busy { folder, holder }.into());
            }
            Err(TryLockError::Error(error)) if has_no_locks(&error) => {
                if let Some(holder) = before.filter(|holder| !holder.has_ended(&me)) {
                    let (folder, lock) = (folder.into(), path.into());
                    return Err(ExperimentError::PerhapsBusy { folder, lock, holder }.into());
                }
            }
            Err(TryLockError::Error(error)) => return Err(io(error).into()),
        }
        let text = serde_json::to_string(&me).expect("names and numbers can be written as JSON");
        let mut write = || {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(text.as_bytes())
        };
        write().map_err(io)?;
        Ok(Lock { file })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The file remains, because other processes may have opened it.
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

/// Whether the file system has no locks. `ENOLCK`, of NFS without its lock service, has no `ErrorKind`.
fn has_no_locks(error: &std::io::Error) -> bool {
    const NO_LOCKS: i32 = 37;
    error.kind() == ErrorKind::Unsupported || error.raw_os_error() == Some(NO_LOCKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_a_second_run_until_the_first_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = Lock::acquire(folder.path(), &path).unwrap();
        let refused = Lock::acquire(folder.path(), &path).unwrap_err().to_string();
        assert!(refused.contains(&format!("process {}", std::process::id())), "{refused}");
        drop(first);
        Lock::acquire(folder.path(), &path).unwrap();
    }

    #[test]
    fn ignores_the_lock_file_of_a_killed_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        std::fs::write(&path, r#"{"host":"gone","process":1,"job":null}"#).unwrap();
        Lock::acquire(folder.path(), &path).unwrap();
    }

    #[test]
    fn without_locks_recognises_ended_and_requeued_processes() {
        let me = Holder { job: Some("7".into()), ..Holder::me() };
        assert!(!me.clone().has_ended(&Holder { job: None, ..me.clone() }), "this process is alive");
        assert!(Holder { process: u32::MAX, job: None, ..me.clone() }.has_ended(&me));
        let elsewhere = Holder { host: "elsewhere".into(), process: 1, job: None };
        assert!(!elsewhere.has_ended(&me), "it may still run");
        assert!(Holder { job: Some("7".into()), ..elsewhere }.has_ended(&me), "a job runs once at a time");
    }
}
