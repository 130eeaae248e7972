//! What a training tells whoever watches.

/// Hears how a training goes. Only what rank 0 says is shown.
pub trait Watch: Sync {
    /// Something people want to know.
    fn line(&self, text: &str);

    /// Something the user should know but need not stop for.
    fn warn(&self, text: &str);

    /// Work of so many units begins, of which `done` are done already.
    fn begin(&self, what: &'static str, total: u64, done: u64);

    /// More of them are done. Called by any thread.
    fn advance(&self, units: u64);
}

/// Nobody watches.
impl Watch for () {
    fn line(&self, _: &str) {}
    fn warn(&self, _: &str) {}
    fn begin(&self, _: &'static str, _: u64, _: u64) {}
    fn advance(&self, _: u64) {}
}
