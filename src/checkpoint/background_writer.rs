//! Saving beside the computation: it goes on while the disk is written.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use super::{Checkpoint, Snapshot};

/// A thread that saves snapshots. When they come faster than the disk takes them, some are left out: the last one
/// offered is always saved.
pub struct CheckpointWriter {
    shared: Arc<SharedQueue>,
    thread: Option<JoinHandle<Checkpoint>>,
}

/// What was saved so far.
#[derive(Clone, Debug, Default)]
pub struct WriterReport {
    /// The number of the newest snapshot on disk, as it was offered by this process.
    pub newest: Option<u64>,
    pub written: u64,
    pub bytes: u64,
    /// Spent writing, beside the computation.
    pub seconds: f64,
    /// The longest that one took.
    pub longest: f64,
    /// Why the last attempt failed, if it did.
    pub failure: Option<String>,
}

#[derive(Default)]
struct SharedQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    waiting: Option<(u64, Snapshot)>,
    busy: bool,
    closing: bool,
    /// Memory of a fresh part that is needed no more.
    spare: Option<Vec<u8>>,
    report: WriterReport,
}

impl CheckpointWriter {
    pub fn new(mut checkpoint: Checkpoint) -> std::io::Result<CheckpointWriter> {
        let shared = Arc::new(SharedQueue::default());
        let theirs = Arc::clone(&shared);
        let work = move || {
            while let Some((number, snapshot)) = theirs.wait_for_next() {
                let start = Instant::now();
                let saved = checkpoint.save(&snapshot);
                theirs.record_result(number, snapshot, saved, start.elapsed().as_secs_f64());
            }
            checkpoint
        };
        let thread = std::thread::Builder::new().name("checkpoint".into()).spawn(work)?;
        Ok(CheckpointWriter { shared, thread: Some(thread) })
    }

    /// Empty space for the next fresh part, taken from one that has been written where there is one.
    pub fn recycled_buffer(&self) -> Vec<u8> {
        let mut space = self.shared.lock().spare.take().unwrap_or_default();
        space.clear();
        space
    }

    /// Has `snapshot` saved as soon as the disk is free. One that still waits is forgotten.
    pub fn offer(&self, number: u64, snapshot: Snapshot) {
        let mut state = self.shared.lock();
        if let Some((_, forgotten)) = state.waiting.replace((number, snapshot)) {
            state.spare = Some(forgotten.fresh);
        }
        self.shared.changed.notify_all();
    }

    pub fn report(&self) -> WriterReport {
        self.shared.lock().report.clone()
    }

    /// Waits until nothing is left to write.
    pub fn flush(&self) -> WriterReport {
        let mut state = self.shared.lock();
        while state.busy || state.waiting.is_some() {
            state = self.shared.wait(state);
        }
        state.report.clone()
    }

    /// The computation is done: what still waits is forgotten, and the files are removed.
    pub fn remove(mut self) -> std::io::Result<()> {
        self.shared.lock().waiting = None;
        self.close().map_or(Ok(()), Checkpoint::remove)
    }

    fn close(&mut self) -> Option<Checkpoint> {
        self.shared.lock().closing = true;
        self.shared.changed.notify_all();
        // A panic there has ended the process already.
        self.thread.take()?.join().ok()
    }
}

/// What was offered is saved before it goes.
impl Drop for CheckpointWriter {
    fn drop(&mut self) {
        self.close();
    }
}

impl SharedQueue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, QueueState>) -> MutexGuard<'s, QueueState> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// The next to save; `None` when there will be no more.
    fn wait_for_next(&self) -> Option<(u64, Snapshot)> {
        let mut state = self.lock();
        loop {
            if let Some(next) = state.waiting.take() {
                state.busy = true;
                return Some(next);
            }
            if state.closing {
                return None;
            }
            state = self.wait(state);
        }
    }

    fn record_result(&self, number: u64, snapshot: Snapshot, saved: std::io::Result<u64>, seconds: f64) {
        let mut state = self.lock();
        state.busy = false;
        state.spare = Some(snapshot.fresh);
        let report = &mut state.report;
        report.seconds += seconds;
        report.longest = report.longest.max(seconds);
        match saved {
            Ok(bytes) => {
                report.newest = Some(number);
                report.written += 1;
                report.bytes += bytes;
                report.failure = None;
            }
            Err(error) => report.failure = Some(error.to_string()),
        }
        self.changed.notify_all();
    }
}
