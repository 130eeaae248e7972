//! Time and peak memory of each phase of a command.

use std::time::Instant;

use serde_json::{Map, Value};

use super::table::Table;
use crate::format::{format_bytes, format_seconds};
use crate::world::World;

/// The peak memory of this process in bytes; 0 if the system does not report it.
pub fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

/// Times the phases of one command.
pub struct Phases {
    start: Instant,
    since: Instant,
    done: Vec<(&'static str, f64, u64)>,
}

impl Default for Phases {
    fn default() -> Phases {
        Phases::new()
    }
}

impl Phases {
    pub fn new() -> Phases {
        Phases { start: Instant::now(), since: Instant::now(), done: Vec::new() }
    }

    /// Ends the phase that started with the last call.
    pub fn end(&mut self, name: &'static str) {
        self.done.push((name, self.since.elapsed().as_secs_f64(), peak_memory()));
        tracing::debug!(phase = name, seconds = self.done[self.done.len() - 1].1, "finished");
        self.since = Instant::now();
    }

    pub fn seconds(&self, name: &str) -> f64 {
        self.done.iter().filter(|phase| phase.0 == name).map(|phase| phase.1).sum()
    }

    pub fn total(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Seconds of the named phases and of all together, for `--json`.
    pub fn json(&self, names: &[&str]) -> Value {
        let mut seconds: Map<String, Value> =
            names.iter().map(|&name| (name.to_owned(), self.seconds(name).into())).collect();
        seconds.insert("total".into(), self.total().into());
        Value::Object(seconds)
    }

    /// Replaces every value by the maximum over all ranks. Collective.
    pub fn max_over_ranks(&mut self, world: &World) {
        let mut values: Vec<f64> = self.done.iter().flat_map(|phase| [phase.1, phase.2 as f64]).collect();
        world.max(&mut values);
        for (phase, pair) in self.done.iter_mut().zip(values.chunks(2)) {
            (phase.1, phase.2) = (pair[0], pair[1] as u64);
        }
    }

    /// The largest peak memory of any rank, after [`Phases::max_over_ranks`].
    pub fn peak(&self) -> u64 {
        self.done.iter().map(|phase| phase.2).max().unwrap_or(0)
    }

    pub fn table(&self) -> Table {
        let mut table = Table::new(&["phase", ">time", ">peak memory"]);
        for (name, time, memory) in &self.done {
            table.row([(*name).to_owned(), format_seconds(*time), format_bytes(*memory)]);
        }
        table.row(["total".to_owned(), format_seconds(self.total()), format_bytes(self.peak())]);
        table
    }
}
