//! What people and programs get to see: lines, tables, progress, phases, JSON.

mod console;
mod phases;
mod progress;
mod table;

pub use console::Console;
pub use phases::{Phases, peak_memory};
pub use progress::ConsoleProgress;
pub use table::{Align, Table};
