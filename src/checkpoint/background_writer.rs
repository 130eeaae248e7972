//! Saving in the background while the computation continues.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use super::Snapshot;
use super::snapshot_files::Checkpoint;

/// A thread that saves snapshots. If they come faster than the disk can store them, it skips some, but never the last one.
pub struct CheckpointWriter {
    shared: Arc<SharedQueue>,
    thread: Option<JoinHandle<Checkpoint>>,
}

/// The snapshots saved so far.
#[derive(Clone, Debug, Default)]
pub struct WriterReport {
    /// Number of the newest snapshot that this process has saved.
    pub newest: Option<u64>,
    pub written: u64,
    pub bytes: u64,
    /// Time spent writing in the background.
    pub seconds: f64,
    /// Time of the slowest snapshot.
    pub longest: f64,
    /// The error of the last attempt, if it failed.
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
    /// Memory of an obsolete fresh part.
    spare: Option<Vec<u8>>,
    report: WriterReport,
}

impl CheckpointWriter {
    pub fn new(mut checkpoint: Checkpoint) -> std::io::Result<CheckpointWriter> {
        let shared = Arc::new(SharedQueue::default());
        let queue = Arc::clone(&shared);
        let work = move || {
            while let Some((number, snapshot)) = queue.wait_for_next() {
                let start = Instant::now();
                let saved = checkpoint.save(&snapshot);
                queue.record_result(number, snapshot, saved, start.elapsed().as_secs_f64());
            }
            checkpoint
        };
        let thread = std::thread::Builder::new().name("checkpoint".into()).spawn(work)?;
        Ok(CheckpointWriter { shared, thread: Some(thread) })
    }

    /// Returns an empty buffer for the next fresh part, with the memory of an earlier one if possible.
    pub fn recycled_buffer(&self) -> Vec<u8> {
        let mut buffer = self.shared.lock().spare.take().unwrap_or_default();
        buffer.clear();
        buffer
    }

    /// Queues `snapshot`, replacing one that still waits.
    pub fn offer(&self, number: u64, snapshot: Snapshot) {
        let mut state = self.shared.lock();
        if let Some((_, dropped)) = state.waiting.replace((number, snapshot)) {
            state.spare = Some(dropped.fresh);
        }
        self.shared.changed.notify_all();
    }

    pub fn report(&self) -> WriterReport {
        self.shared.lock().report.clone()
    }

    /// Waits until all is written.
    pub fn flush(&self) -> WriterReport {
        let mut state = self.shared.lock();
        while state.busy || state.waiting.is_some() {
            state = self.shared.wait(state);
        }
        state.report.clone()
    }

    /// Deletes the files, and drops a snapshot that still waits.
    pub fn remove(mut self) -> std::io::Result<()> {
        self.shared.lock().waiting = None;
        self.close().map_or(Ok(()), Checkpoint::remove)
    }

    fn close(&mut self) -> Option<Checkpoint> {
        self.shared.lock().closing = true;
        self.shared.changed.notify_all();
        // A panic of the thread ends the process.
        self.thread.take()?.join().ok()
    }
}

/// Saves the last snapshot.
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

    /// Returns the next snapshot to save; `None` at the end.
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
