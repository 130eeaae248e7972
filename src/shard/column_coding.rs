//! Columns named by codes of 16 bits, however many there are.

use std::ops::Range;

/// Which columns share a code.
///
/// A pass reads every code but looks up next to no column: for most entries it is enough to know what no column
/// of that code scores above. With up to [`ColumnCoding::CODES`] labels every column has a code of its own. With more,
/// the first ones have, which are the frequent ones, and the others share one with their neighbours, told apart by a
/// *offset*: first in small groups, and behind those, where all columns are known to be alike, in large ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnCoding {
    /// Columns with a code of their own.
    own: u32,
    /// Codes of small groups.
    small_groups: u32,
    /// Columns in small groups, and the power of two that each has.
    in_small: u32,
    small: u32,
    /// The power of two of columns that each large group has.
    large: u32,
}

/// Codes in use where columns share them: with twice as many, what is known of them would no longer fit the cache of a core
/// beside everything else, which costs more than smaller groups save.
const CODES_IN_USE: u64 = 1 << 15;

/// Columns that have a code of their own, where there are enough codes.
const MIN_OWN_CODES: u64 = 1 << 12;

/// Columns that have a code, where the others are in groups of a power of two.
fn columns_with_codes(codes: u64, shift: u32) -> u64 {
    MIN_OWN_CODES + ((codes - MIN_OWN_CODES) << shift)
}

impl ColumnCoding {
    /// The codes there are.
    pub const CODES: usize = 1 << 16;

    /// For columns that may all be different.
    pub fn new(labels: usize) -> ColumnCoding {
        ColumnCoding::with_distinct(labels, labels)
    }

    /// For columns of which those from `different` on are alike.
    pub fn with_distinct(labels: usize, different: usize) -> ColumnCoding {
        let labels = labels as u64;
        if labels <= ColumnCoding::CODES as u64 {
            return ColumnCoding {
                own: ColumnCoding::CODES as u32,
                small_groups: 0,
                in_small: 0,
                small: 0,
                large: 0,
            };
        }
        let large = 8 * ColumnCoding::offset_bytes(labels);
        let codes = if labels <= CODES_IN_USE << large { CODES_IN_USE } else { ColumnCoding::CODES as u64 };
        // Whole groups only, and some codes are left for others.
        let large_groups = (labels.saturating_sub(different as u64) >> large).min(codes / 2);
        let (different, codes) = (labels - (large_groups << large), codes - large_groups);
        let small = (0..large).find(|&shift| columns_with_codes(codes, shift) >= different).unwrap_or(large);
        // As many of their own as leave codes for all the groups of the others.
        let own = match small {
            0 => different,
            _ => (codes << small).saturating_sub(different) / ((1 << small) - 1),
        };
        let small_groups = (different - own).div_ceil(1 << small);
        let in_small = u32::try_from(small_groups << small).unwrap_or(u32::MAX);
        ColumnCoding { own: own as u32, small_groups: small_groups as u32, in_small, small, large }
    }

    /// Bytes that any offset takes with so many labels.
    fn offset_bytes(labels: u64) -> u32 {
        if labels <= ColumnCoding::CODES as u64 {
            0
        } else if labels <= columns_with_codes(CODES_IN_USE, 8) {
            1
        } else {
            2
        }
    }

    /// Bytes that an offset takes; they do not depend on which columns are alike.
    pub fn offset_width(self) -> usize {
        self.large as usize / 8
    }

    /// Whether some columns share a code.
    #[inline]
    pub fn has_shared_codes(self) -> bool {
        self.large > 0
    }

    #[inline]
    pub fn code(self, column: u32) -> u16 {
        let behind = column.saturating_sub(self.own);
        let small = behind.min(self.in_small) >> self.small;
        let large = behind.saturating_sub(self.in_small) >> self.large;
        (column.min(self.own) + small + large) as u16
    }

    /// What tells a column from the others of its code.
    #[inline]
    pub fn offset(self, column: u32) -> u16 {
        let behind = column.saturating_sub(self.own);
        let (place, bits) = match behind.checked_sub(self.in_small) {
            None => (behind, self.small),
            Some(place) => (place, self.large),
        };
        (place & ((1 << bits) - 1)) as u16
    }

    #[inline]
    pub fn column(self, code: u16, offset: u16) -> u32 {
        let code = u32::from(code);
        let behind = code.saturating_sub(self.own);
        let small = behind.min(self.small_groups) << self.small;
        let large = behind.saturating_sub(self.small_groups) << self.large;
        code.min(self.own) + small + large + u32::from(offset)
    }

    /// How many codes are of one column and of small groups, and the powers of two of columns in small and in large groups:
    /// for those who do what [`ColumnCoding::column`] does with vectors.
    #[inline]
    pub fn layout(self) -> [u32; 4] {
        [self.own, self.small_groups, self.small, self.large]
    }

    /// The columns that have a code.
    pub fn columns_of_code(self, code: usize) -> Range<usize> {
        let first = self.column(code as u16, 0) as usize;
        let bits = match code.checked_sub(self.own as usize) {
            None => 0,
            Some(group) if group < self.small_groups as usize => self.small,
            Some(_) => self.large,
        };
        first..first + (1 << bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of labels, and how many of them are different.
    fn cases() -> impl Iterator<Item = (usize, usize)> {
        let labels = [
            1usize, 1000, 65_536, 65_537, 70_000, 100_000, 131_072, 3_000_000, 7_344_128, 7_344_129,
            20_000_000,
        ];
        labels.into_iter().flat_map(|labels| {
            [labels, labels - labels / 1000, labels / 2, labels / 9, 0].map(|different| (labels, different))
        })
    }

    #[test]
    fn every_column_is_found_again_and_groups_follow_each_other() {
        for (labels, different) in cases() {
            let coding = ColumnCoding::with_distinct(labels, different);
            let step = (labels / 5000).max(1);
            let columns = (0..labels as u32).step_by(step).chain([labels as u32 - 1]);
            let mut last = 0;
            for column in columns {
                let (code, offset) = (coding.code(column), coding.offset(column));
                assert_eq!(coding.column(code, offset), column, "{labels} labels, {different} different");
                assert!(coding.columns_of_code(code.into()).contains(&(column as usize)), "{labels} labels");
                assert!(code >= last, "codes rise with columns");
                assert!(u32::from(offset) < 1 << (8 * coding.offset_width()), "{labels} labels");
                last = code;
            }
            let mut end = 0;
            for code in 0..=usize::from(last) {
                let columns = coding.columns_of_code(code);
                assert_eq!(columns.start, end, "{labels} labels, {different} different, code {code}");
                end = columns.end;
            }
        }
    }

    #[test]
    fn few_labels_share_no_code_and_many_leave_the_frequent_ones_alone() {
        assert!(!ColumnCoding::new(ColumnCoding::CODES).has_shared_codes());
        for labels in [65_537, 3_000_000, u32::MAX as usize / 4] {
            let coding = ColumnCoding::new(labels);
            assert!(coding.has_shared_codes());
            assert_eq!(coding.columns_of_code(4095), 4095..4096, "{labels} labels");
            assert!(u64::from(coding.code(labels as u32 - 1)) < CODES_IN_USE);
        }
        for labels in [1 << 31, (1 << 31) + 1, u32::MAX] {
            for different in [labels, labels / 2, 0] {
                let most = ColumnCoding::with_distinct(labels as usize, different as usize);
                for column in [0, 100, labels / 2, labels - 1] {
                    assert_eq!(
                        most.column(most.code(column), most.offset(column)),
                        column,
                        "{labels} labels"
                    );
                }
            }
        }
    }

    #[test]
    fn columns_that_are_alike_leave_codes_to_the_others() {
        let (plain, better) =
            (ColumnCoding::new(3_000_000), ColumnCoding::with_distinct(3_000_000, 1_200_000));
        let group = |coding: ColumnCoding| coding.columns_of_code(coding.code(1_000_000).into()).len();
        assert_eq!((group(plain), group(better)), (128, 64));
        assert_eq!(better.columns_of_code(better.code(2_000_000).into()).len(), 256);
    }
}
