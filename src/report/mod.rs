//! Output for people and programs: lines, tables, progress, phases, JSON.

mod console;
mod phases;
mod table;

pub use console::{Console, PartDisplay, print_stdout};
pub use phases::{Phases, peak_memory};
pub use table::Table;
