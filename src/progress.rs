//! Reports of long work to whoever displays them.

/// Receives the reports of long work and displays them in its own way: a bar on a terminal, lines in a log, or nothing.
///
/// Work calls [`started`](Progress::started), [`advanced`](Progress::advanced) any number of times and
/// [`finished`](Progress::finished); the other methods at any time. Any thread of any rank may call any method; a display
/// shows the reports of rank 0 only. Methods do nothing by default, and `()` displays nothing.
pub trait Progress: Sync {
    /// Reports the start of `work`, such as "training nodes", of `total` units, of which an earlier run has finished `done`.
    /// Work started before is finished.
    fn started(&self, _work: &str, _total: u64, _done: u64) {}

    /// Reports that `units` more are done.
    fn advanced(&self, _units: u64) {}

    /// Reports the newest result in a few words, such as "iteration 3: 0.41, gap 2e-3", for displays without a table.
    fn status(&self, _text: &str) {}

    /// Reports a line of the table of results, the header included. Displays of several works omit the table.
    fn row(&self, _line: &str) {}

    /// Reports a line for all readers of the output.
    fn message(&self, _text: &str) {}

    /// Reports a problem that does not stop the work.
    fn warning(&self, _text: &str) {}

    /// Reports the end of the work.
    fn finished(&self) {}
}

impl Progress for () {}
