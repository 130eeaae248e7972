//! The coding of columns in 16 bits, however many columns there are.

use std::ops::Range;

use super::index::{Code, Column};

/// A mapping of columns to codes, of which several columns may share one.
///
/// A pass reads the code of every entry but looks up few columns: for most entries an upper bound over all columns of
/// the code is enough. With up to [`ColumnCoding::CODES`] labels every column has its own code. With more, the first
/// columns (the frequent labels) keep their own, and the others share one with their neighbours: small groups first,
/// then large groups of columns that are known to be alike. An *offset* tells the columns of a group apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnCoding {
    /// Number of columns with their own code.
    own: u32,
    /// Number of small groups, one code each.
    small_groups: u32,
    /// Number of columns in small groups.
    in_small: u32,
    /// Binary logarithm of the columns in a small group.
    small: u32,
    /// Binary logarithm of the columns in a large group.
    large: u32,
}

/// Codes in use if columns share them. The bounds of twice as many would no longer fit a core's cache with
/// everything else, which costs more than smaller groups save.
const CODES_IN_USE: u64 = 1 << 15;

/// Columns that keep their own code if others share codes.
const MIN_OWN_CODES: u64 = 1 << 12;

/// Returns the number of columns that `codes` can stand for with groups of `1 << shift` columns.
fn columns_with_codes(codes: u64, shift: u32) -> u64 {
    MIN_OWN_CODES + ((codes - MIN_OWN_CODES) << shift)
}

impl ColumnCoding {
    /// Number of codes.
    pub const CODES: usize = 1 << 16;

    /// Returns the coding of `labels` columns that may all differ.
    pub fn new(labels: usize) -> ColumnCoding {
        ColumnCoding::with_distinct(labels, labels)
    }

    /// Returns the coding of `labels` columns, of which those from `distinct` on are alike.
    pub fn with_distinct(labels: usize, distinct: usize) -> ColumnCoding {
        let labels = labels as u64;
        if labels <= ColumnCoding::CODES as u64 {
            let own = ColumnCoding::CODES as u32;
            return ColumnCoding { own, small_groups: 0, in_small: 0, small: 0, large: 0 };
        }
        // Offsets of one byte, or of two where these do not suffice.
        let large = if labels <= columns_with_codes(CODES_IN_USE, 8) { 8 } else { 16 };
        let codes = if labels <= CODES_IN_USE << large { CODES_IN_USE } else { ColumnCoding::CODES as u64 };
        // Large groups are whole, and leave half of the codes to the other columns.
        let large_groups = (labels.saturating_sub(distinct as u64) >> large).min(codes / 2);
        let (distinct, codes) = (labels - (large_groups << large), codes - large_groups);
        let small = (0..large).find(|&shift| columns_with_codes(codes, shift) >= distinct).unwrap_or(large);
        // As many own codes as possible while every other column still finds a group.
        let own = match small {
            0 => distinct,
            _ => (codes << small).saturating_sub(distinct) / ((1 << small) - 1),
        };
        let small_groups = (distinct - own).div_ceil(1 << small);
        let in_small = u32::try_from(small_groups << small).unwrap_or(u32::MAX);
        ColumnCoding { own: own as u32, small_groups: small_groups as u32, in_small, small, large }
    }

    /// Returns the bytes of an offset, which depend on the number of labels only.
    pub fn offset_width(self) -> usize {
        self.large as usize / 8
    }

    /// Returns whether some columns share a code.
    #[inline]
    pub fn has_shared_codes(self) -> bool {
        self.large > 0
    }

    #[inline]
    pub fn code(self, Column(column): Column) -> Code {
        let behind = column.saturating_sub(self.own);
        let small = behind.min(self.in_small) >> self.small;
        let large = behind.saturating_sub(self.in_small) >> self.large;
        Code((column.min(self.own) + small + large) as u16)
    }

    /// Returns the offset of a column within its group.
    #[inline]
    pub fn offset(self, Column(column): Column) -> u16 {
        let behind = column.saturating_sub(self.own);
        let (place, bits) = match behind.checked_sub(self.in_small) {
            None => (behind, self.small),
            Some(place) => (place, self.large),
        };
        (place & ((1 << bits) - 1)) as u16
    }

    #[inline]
    pub fn column(self, Code(code): Code, offset: u16) -> Column {
        let code = u32::from(code);
        let behind = code.saturating_sub(self.own);
        let small = behind.min(self.small_groups) << self.small;
        let large = behind.saturating_sub(self.small_groups) << self.large;
        Column(code.min(self.own) + small + large + u32::from(offset))
    }

    /// Returns the number of own codes, the number of small groups, and the binary logarithms of the columns in small
    /// and in large groups, for kernels that vectorise [`ColumnCoding::column`].
    #[inline]
    pub fn layout(self) -> [u32; 4] {
        [self.own, self.small_groups, self.small, self.large]
    }

    /// Returns the columns of a code.
    pub fn columns_of_code(self, code: Code) -> Range<usize> {
        let first = self.column(code, 0).index();
        let bits = match code.index().checked_sub(self.own as usize) {
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

    /// Numbers of labels, each with several numbers of distinct ones.
    fn cases() -> impl Iterator<Item = (usize, usize)> {
        let labels = [
            1usize, 1000, 65_536, 65_537, 70_000, 100_000, 131_072, 3_000_000, 7_344_128, 7_344_129,
            20_000_000,
        ];
        labels.into_iter().flat_map(|labels| {
            [labels, labels - labels / 1000, labels / 2, labels / 9, 0].map(|distinct| (labels, distinct))
        })
    }

    #[test]
    fn every_column_is_recovered_and_groups_are_contiguous() {
        for (labels, distinct) in cases() {
            let coding = ColumnCoding::with_distinct(labels, distinct);
            let step = (labels / 5000).max(1);
            let columns = (0..labels as u32).step_by(step).chain([labels as u32 - 1]);
            let mut last = Code(0);
            for column in columns.map(Column) {
                let (code, offset) = (coding.code(column), coding.offset(column));
                assert_eq!(coding.column(code, offset), column, "{labels} labels, {distinct} distinct");
                assert!(coding.columns_of_code(code).contains(&column.index()), "{labels} labels");
                assert!(code >= last, "codes rise with columns");
                assert!(u32::from(offset) < 1 << (8 * coding.offset_width()), "{labels} labels");
                last = code;
            }
            let mut end = 0;
            for code in 0..=last.0 {
                let columns = coding.columns_of_code(Code(code));
                assert_eq!(columns.start, end, "{labels} labels, {distinct} distinct, code {code}");
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
            assert_eq!(coding.columns_of_code(Code(4095)), 4095..4096, "{labels} labels");
            assert!(u64::from(coding.code(Column(labels as u32 - 1)).0) < CODES_IN_USE);
        }
        for labels in [1 << 31, (1 << 31) + 1, u32::MAX] {
            for distinct in [labels, labels / 2, 0] {
                let coding = ColumnCoding::with_distinct(labels as usize, distinct as usize);
                for column in [0, 100, labels / 2, labels - 1].map(Column) {
                    let found = coding.column(coding.code(column), coding.offset(column));
                    assert_eq!(found, column, "{labels} labels");
                }
            }
        }
    }

    #[test]
    fn columns_that_are_alike_leave_codes_to_the_others() {
        let (plain, better) =
            (ColumnCoding::new(3_000_000), ColumnCoding::with_distinct(3_000_000, 1_200_000));
        let group = |coding: ColumnCoding, column| coding.columns_of_code(coding.code(Column(column))).len();
        assert_eq!((group(plain, 1_000_000), group(better, 1_000_000)), (128, 64));
        assert_eq!(group(better, 2_000_000), 256);
    }
}
