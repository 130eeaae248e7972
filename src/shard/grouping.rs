//! Columns named by codes of 16 bits, however many there are.

use std::ops::Range;

/// Which columns share a code.
///
/// A pass reads every code but looks up next to no column: for most entries it is enough to know what no column
/// of that code scores above. With up to [`Grouping::CODES`] labels every column has a code of its own. With more,
/// the first ones have, which are the frequent ones, and the others share one with their neighbours: a power of
/// two of them, told apart by a *rest*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grouping {
    /// Columns with a code of their own.
    own: u32,
    /// The others share one in groups of this power of two.
    shift: u32,
}

/// Columns that have a code of their own, where there are enough codes.
const LEAST_OWN: u64 = 1 << 15;

impl Grouping {
    /// The codes there are.
    pub const CODES: usize = 1 << 16;

    pub fn new(labels: usize) -> Grouping {
        let (codes, labels) = (Grouping::CODES as u64, labels as u64);
        if labels <= codes {
            return Grouping { own: codes as u32, shift: 0 };
        }
        // Small groups, but for the largest number of labels that 32 bits can name.
        let fits = |shift: &u32| LEAST_OWN + ((codes - LEAST_OWN) << shift) >= labels;
        let shift = (1..16).find(fits).unwrap_or(16);
        // As many of their own as leave codes for all the groups of the others.
        let own = (codes << shift).saturating_sub(labels) / ((1 << shift) - 1);
        Grouping { own: own as u32, shift }
    }

    /// Whether some columns share a code.
    #[inline]
    pub fn is_shared(self) -> bool {
        self.shift > 0
    }

    /// How many codes, from 0 on, are of one column each.
    #[inline]
    pub fn own_codes(self) -> usize {
        self.own as usize
    }

    /// Bits of a rest.
    pub fn rest_bits(self) -> u32 {
        self.shift
    }

    #[inline]
    pub fn code(self, column: u32) -> u16 {
        let group = column.saturating_sub(self.own) >> self.shift;
        (column.min(self.own) + group) as u16
    }

    /// What tells a column from the others of its code.
    #[inline]
    pub fn rest(self, column: u32) -> u16 {
        (column.saturating_sub(self.own) & ((1 << self.shift) - 1)) as u16
    }

    #[inline]
    pub fn column(self, code: u16, rest: u16) -> u32 {
        let code = u32::from(code);
        let group = code.saturating_sub(self.own);
        code.min(self.own) + (group << self.shift) + u32::from(rest)
    }

    /// The columns that have a code.
    pub fn columns(self, code: usize) -> Range<usize> {
        let first = self.column(code as u16, 0) as usize;
        first..first + if code < self.own as usize { 1 } else { 1 << self.shift }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_found_again_and_groups_follow_each_other() {
        for labels in [1usize, 1000, 65_536, 65_537, 70_000, 100_000, 131_072, 3_000_000, 20_000_000] {
            let grouping = Grouping::new(labels);
            let step = (labels / 5000).max(1);
            let columns = (0..labels as u32).step_by(step).chain([labels as u32 - 1]);
            let mut last = 0;
            for column in columns {
                let (code, rest) = (grouping.code(column), grouping.rest(column));
                assert_eq!(grouping.column(code, rest), column, "{labels} labels");
                assert!(grouping.columns(code.into()).contains(&(column as usize)), "{labels} labels");
                assert!(code >= last, "codes rise with columns");
                last = code;
            }
        }
    }

    #[test]
    fn few_labels_share_no_code_and_many_leave_the_frequent_ones_alone() {
        assert!(!Grouping::new(Grouping::CODES).is_shared());
        for labels in [65_537, 3_000_000, u32::MAX as usize / 4] {
            let grouping = Grouping::new(labels);
            assert!(grouping.is_shared());
            assert_eq!(grouping.columns(32_767), 32_767..32_768, "{labels} labels");
            assert!(usize::from(grouping.code(labels as u32 - 1)) < Grouping::CODES);
        }
        let most = Grouping::new(u32::MAX as usize);
        assert_eq!(most.column(most.code(u32::MAX - 1), most.rest(u32::MAX - 1)), u32::MAX - 1);
    }
}
