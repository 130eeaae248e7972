//! Sets of processors.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Some processors of a node, written as the kernel lists them: `0-3,8`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CpuSet(BTreeSet<u32>);

/// A text that is not a CPU list.
#[derive(Debug, thiserror::Error)]
#[error("invalid CPU list '{0}': expected numbers and ranges, such as 0-3,8")]
pub struct ParseCpuSetError(String);

/// A bound on processor numbers, above that of any kernel, so that a garbage range cannot fill the memory.
const MAX_CPUS: u32 = 1 << 16;

impl CpuSet {
    pub fn first(count: usize) -> CpuSet {
        CpuSet((0..count as u32).collect())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().copied()
    }

    pub fn contains(&self, cpu: u32) -> bool {
        self.0.contains(&cpu)
    }

    pub fn is_disjoint(&self, other: &CpuSet) -> bool {
        self.0.is_disjoint(&other.0)
    }

    /// Returns the processors in any of the sets.
    pub fn union<'s>(sets: impl IntoIterator<Item = &'s CpuSet>) -> CpuSet {
        CpuSet(sets.into_iter().flat_map(CpuSet::iter).collect())
    }
}

impl FromStr for CpuSet {
    type Err = ParseCpuSetError;

    fn from_str(text: &str) -> Result<CpuSet, ParseCpuSetError> {
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|&cpu| cpu < MAX_CPUS);
        let range = |part: &str| match part.split_once('-') {
            Some((first, last)) => Some(number(first)?..=number(last)?),
            None => number(part).map(|cpu| cpu..=cpu),
        };
        let parts = text.trim().split(',').filter(|part| !part.is_empty());
        let ranges: Option<Vec<_>> = parts.map(range).collect();
        let cpus = ranges.ok_or_else(|| ParseCpuSetError(text.trim().to_owned()))?;
        Ok(CpuSet(cpus.into_iter().flatten().collect()))
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", format_ranges(self.iter().map(|cpu| cpu as usize)))
    }
}

/// Formats ascending numbers, consecutive ones as a range: `0-3,8`.
pub fn format_ranges(numbers: impl IntoIterator<Item = usize>) -> String {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => found.push((number, number)),
        }
    }
    let range = |(first, last): (usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    found.into_iter().map(range).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written_as_the_kernel_does() {
        for text in ["", "0", "0-3", "0-3,8", "0,2,4-7,126-127"] {
            let set: CpuSet = text.parse().unwrap();
            assert_eq!(set.to_string(), text);
        }
        let set: CpuSet = " 4-5,0,5\n".parse().unwrap();
        assert_eq!(set.to_string(), "0,4-5");
        assert_eq!(set.len(), 3);
    }

    #[test]
    fn refuses_garbage() {
        for text in ["a", "1-", "-1", "0-4294967295", "1;2", "3-x"] {
            assert!(text.parse::<CpuSet>().is_err(), "{text}");
        }
        // An empty range, which the kernel never writes.
        assert!("3-1".parse::<CpuSet>().unwrap().is_empty());
    }
}
