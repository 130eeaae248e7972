//! Reports of long work to whoever displays them.

/// Receives the reports of long work and displays them in its own way: a bar on a terminal, lines in a log, or nothing.
///
/// Work reports *that* it advances, not how this looks. It calls [`started`](Progress::started),
/// [`advanced`](Progress::advanced) as often as it likes and [`finished`](Progress::finished), and in between whatever
/// else it has to say. Any thread of any rank may call any method; a display shows the reports of rank 0 only. All methods
/// do nothing unless implemented, and `()` displays nothing.
pub trait Progress: Sync {
    /// `work`, such as "training nodes", starts. It has `total` units, of which an earlier run has finished `done`. Work
    /// that was started before is finished.
    fn started(&self, _work: &str, _total: u64, _done: u64) {}

    /// `units` more are done.
    fn advanced(&self, _units: u64) {}

    /// The newest result in a few words, such as "iteration 3: utility 0.41, gap 2e-3", for displays that show the current
    /// state instead of a table.
    fn status(&self, _text: &str) {}

    /// A line of the table of results: its header or a row, aligned. A display of many works leaves it out.
    fn row(&self, _line: &str) {}

    /// A line that every reader of the output wants to see.
    fn message(&self, _text: &str) {}

    /// A problem that the user should know about but that does not stop the work.
    fn warning(&self, _text: &str) {}

    /// The work is finished.
    fn finished(&self) {}
}

impl Progress for () {}
