//! What this process runs on, as the files below `/proc` and `/sys` tell it: processors, control groups, file
//! systems, settings. Nothing is measured here (that is [`crate::probe`]) and nothing judged
//! ([`crate::doctor`]).
//!
//! Every look takes the root of those files as an argument, so that tests can make up machines.

pub mod cgroup;
mod company;
mod cpu_set;
mod filesystem;
mod launcher;
mod processors;
mod settings;
mod share;
#[cfg(test)]
pub(crate) mod tests;
mod threads;

use std::path::Path;

pub use company::{check_alike, check_together, forgotten_srun};
pub use cpu_set::{CpuSet, ranges};
pub use filesystem::{FileSystem, Kind};
pub use launcher::Launcher;
pub use processors::{Processors, Quota};
pub use settings::Settings;
pub use share::{Place, Share, share};
pub use threads::{Reason, Remark, Threads, start_threads};

/// The number in a file that holds nothing else. A limit of `max` is no number, and no limit.
pub fn number(file: &Path) -> Option<u64> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// The number after `name` on its line, in bytes where the file says kB: `MemTotal:  512 kB`.
pub fn field(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?;
        rest.starts_with([':', ' ', '\t']).then_some(rest)
    })?;
    let mut words = rest.trim_start_matches(':').split_whitespace();
    let value: u64 = words.next()?.parse().ok()?;
    if words.next() == Some("kB") { value.checked_mul(1024) } else { Some(value) }
}
