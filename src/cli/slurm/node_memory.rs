//! Memory per node in the notation of `sbatch --mem`.

use std::fmt;
use std::str::FromStr;

use crate::cli::values::MustBe;

/// Mebibytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeMemory(u64);

/// Memory of a rank in addition to its data: the program, its libraries, buffers of MPI.
const RANK_OVERHEAD: u64 = 256 << 20;

impl NodeMemory {
    /// Returns the memory of the node that needs most, for `ranks` consecutive ranks per node: a quarter more than the
    /// data, because loading peaks above what it keeps, and in whole GiB, so that similar jobs request the same.
    pub fn for_node(needs: &[u64], ranks: usize) -> NodeMemory {
        let node = |needs: &[u64]| {
            needs.iter().map(|need| need.saturating_add(need / 4).saturating_add(RANK_OVERHEAD)).sum()
        };
        let most: u64 = needs.chunks(ranks).map(node).max().unwrap_or(0);
        NodeMemory(most.div_ceil(1 << 30) << 10)
    }
}

impl FromStr for NodeMemory {
    type Err = MustBe;

    fn from_str(text: &str) -> Result<NodeMemory, MustBe> {
        let (digits, unit) = text.split_at(text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len());
        let shift = match unit {
            "" | "M" | "m" | "MB" => Some(0),
            "G" | "g" | "GB" => Some(10),
            "T" | "t" | "TB" => Some(20),
            _ => None,
        };
        let number = digits.parse::<u64>().ok().filter(|&number| (1..1 << 32).contains(&number));
        match (number, shift) {
            (Some(number), Some(shift)) => Ok(NodeMemory(number << shift)),
            _ => Err(MustBe("a whole number of M, G or T, such as 64G".into())),
        }
    }
}

impl fmt::Display for NodeMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_multiple_of(1024) { write!(f, "{}G", self.0 / 1024) } else { write!(f, "{}M", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_by_slurm() {
        for (typed, shown) in
            [("64G", "64G"), ("500", "500M"), ("500M", "500M"), ("2048m", "2G"), ("1T", "1024G")]
        {
            assert_eq!(typed.parse::<NodeMemory>().map(|size| size.to_string()), Ok(shown.to_owned()));
        }
        for bad in ["", "G", "0", "1.5G", "-1G", "5K", "64 G", "99999999999999999999"] {
            assert!(bad.parse::<NodeMemory>().is_err(), "{bad}");
        }
    }

    #[test]
    fn memory_is_that_of_the_heaviest_node() {
        let gib = 1 << 30;
        // 2 x 1.25 x 4 GiB and 2 x 0.25 GiB
        assert_eq!(NodeMemory::for_node(&[4 * gib; 4], 2).to_string(), "11G");
        // The heaviest node counts, and the last may have fewer ranks.
        assert_eq!(NodeMemory::for_node(&[gib, gib, 8 * gib], 2).to_string(), "11G");
        assert_eq!(NodeMemory::for_node(&[0], 1).to_string(), "1G");
        assert_eq!(NodeMemory::for_node(&[u64::MAX], 1).to_string(), "17179869184G");
    }
}
