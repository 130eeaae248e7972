//! Facts about the machine from the files below `/proc` and `/sys`: processors, control groups, file systems, settings.
//! [`crate::probe`] measures and [`crate::doctor`] judges.
//!
//! Functions take the root of those files as an argument, so that tests can simulate machines.

pub mod cgroup;
mod cpu_set;
mod cpu_share;
mod filesystem;
mod launcher;
mod launcher_checks;
mod processors;
mod settings;
#[cfg(test)]
pub(crate) mod tests;
mod threads;

use std::path::Path;

pub use cpu_set::{CpuSet, format_ranges};
pub use cpu_share::{CpuShare, cpu_share};
pub use filesystem::{FileSystem, FileSystemKind};
pub use launcher::Launcher;
pub use launcher_checks::{check_launcher_ranks, check_same_program, missing_srun_warning};
pub use processors::{Processors, Quota};
pub use settings::NodeSettings;
pub use threads::{ThreadCountSource, ThreadWarning, Threads, start_threads};

/// Reads a file that holds one number; `None` for `max`, which means no limit.
pub fn read_number(file: &Path) -> Option<u64> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// Returns the number after `name` on its line, in bytes if the unit is kB: `MemTotal:  512 kB`.
pub fn proc_field(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?;
        rest.starts_with([':', ' ', '\t']).then_some(rest)
    })?;
    let mut words = rest.trim_start_matches(':').split_whitespace();
    let value: u64 = words.next()?.parse().ok()?;
    if words.next() == Some("kB") { value.checked_mul(1024) } else { Some(value) }
}
