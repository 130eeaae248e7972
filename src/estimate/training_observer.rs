//! What a training tells whoever watches.

/// Hears how a training goes. Only what rank 0 says is shown.
pub trait TrainingObserver: Sync {
    /// Something people want to know.
    fn message(&self, text: &str);

    /// Something the user should know but need not stop for.
    fn warn(&self, text: &str);

    /// Work of so many units begins, of which `done` are done already.
    fn begin_work(&self, what: &'static str, total: u64, done: u64);

    /// More of them are done. Called by any thread.
    fn advance(&self, units: u64);
}

/// Nobody watches.
impl TrainingObserver for () {
    fn message(&self, _: &str) {}
    fn warn(&self, _: &str) {}
    fn begin_work(&self, _: &'static str, _: u64, _: u64) {}
    fn advance(&self, _: u64) {}
}
