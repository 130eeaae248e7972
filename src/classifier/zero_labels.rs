//! Labels that a row does not store: their marginal is 0, their score the intercept (DESIGN, promise 2).

use std::cmp::Ordering;

use rayon::prelude::*;

use super::kernel::CoefficientTable;
use crate::shard::{ColumnCoding, Row};

/// All labels of a rule that could be chosen without being stored, best first.
///
/// They are the same for all rows, but for those that a row does store. So what a row chooses of them is the
/// beginning of this list, less its own labels in it: rows need not write it down.
pub(super) struct ZeroLabels {
    /// By falling intercept, then rising label: as many as any row can need.
    ranked: Vec<ZeroLabel>,
    /// One bit for every code, set where one of its columns is in the list.
    codes_in_list: Vec<u64>,
    /// Columns in the list with their places, by rising column, and so by rising code.
    places: Vec<(u32, u32)>,
    /// Where in `places` those of a code begin; only of codes that are marked.
    starts_by_code: Vec<u32>,
    /// The place of every code, where each is of one column and places fit; a place behind the list for those that
    /// are not in it.
    place_by_code: Vec<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ZeroLabel {
    pub intercept: f32,
    pub label: u32,
    pub column: u32,
}

impl ZeroLabel {
    fn best_first(&self, other: &ZeroLabel) -> Ordering {
        let falling = other.intercept.partial_cmp(&self.intercept).unwrap_or(Ordering::Equal);
        falling.then(self.label.cmp(&other.label))
    }
}

/// Columns that one thread looks through at a time.
const CHUNK_COLUMNS: usize = 1 << 16;

impl ZeroLabels {
    /// The `wanted` best of the first `labels` columns, whose label is in `labels_by_column` where that is not the column.
    pub fn new(
        table: &CoefficientTable,
        labels: usize,
        labels_by_column: Option<&[u32]>,
        wanted: usize,
        coding: ColumnCoding,
    ) -> ZeroLabels {
        let chunk = |at: usize| {
            rank_columns(
                table,
                at * CHUNK_COLUMNS..labels.min((at + 1) * CHUNK_COLUMNS),
                labels_by_column,
                wanted,
            )
        };
        let ranked = match labels.div_ceil(CHUNK_COLUMNS) {
            0 | 1 => chunk(0),
            chunks => {
                let mut all: Vec<ZeroLabel> = (0..chunks).into_par_iter().flat_map_iter(chunk).collect();
                all.sort_unstable_by(ZeroLabel::best_first);
                all.truncate(wanted);
                all
            }
        };
        let mut codes_in_list = vec![0; ColumnCoding::CODES / 64];
        let mut places: Vec<(u32, u32)> = ranked.iter().map(|one| one.column).zip(0..).collect();
        places.sort_unstable();
        let mut starts_by_code = vec![0; ColumnCoding::CODES];
        // From the last to the first, so that the first of a code stays.
        for (at, &(column, _)) in places.iter().enumerate().rev() {
            let code = usize::from(coding.code(column));
            codes_in_list[code / 64] |= 1 << (code % 64);
            starts_by_code[code] = at as u32;
        }
        let behind = ranked.len().next_multiple_of(WORD_BITS);
        let mut place_by_code = Vec::new();
        if !coding.has_shared_codes() && behind < usize::from(u16::MAX) {
            place_by_code.resize(ColumnCoding::CODES, behind as u16);
            places.iter().for_each(|&(column, place)| place_by_code[column as usize] = place as u16);
        }
        ZeroLabels { ranked, codes_in_list, places, starts_by_code, place_by_code }
    }

    /// The largest score a label can have without being stored.
    pub fn best_intercept(&self) -> f32 {
        self.ranked.first().map_or(f32::NEG_INFINITY, |first| first.intercept)
    }

    pub fn len(&self) -> usize {
        self.ranked.len()
    }

    pub fn get(&self, place: usize) -> ZeroLabel {
        self.ranked[place]
    }

    /// The place of a column in the list.
    #[inline]
    pub fn place(&self, code: u16, column: impl FnOnce() -> u32) -> Option<u32> {
        if self.codes_in_list[usize::from(code) / 64] >> (code % 64) & 1 == 0 {
            return None;
        }
        let column = column();
        let from = &self.places[self.starts_by_code[usize::from(code)] as usize..];
        from.iter().take_while(|place| place.0 <= column).find(|place| place.0 == column).map(|place| place.1)
    }

    /// Makes `stored` the places of those labels in the list that the row stores.
    pub fn find_stored(&self, row: Row<'_>, stored: &mut PlaceSet) {
        stored.clear(self.len());
        if let Ok(place_by_code) = <&[u16; ColumnCoding::CODES]>::try_from(&self.place_by_code[..]) {
            // Without a branch: those that are not in the list go where nobody looks.
            row.codes().iter().for_each(|&code| stored.insert(place_by_code[usize::from(code)].into()));
            return;
        }
        for (position, &code) in (0..).zip(row.codes()) {
            if let Some(place) = self.place(code, || row.column(position)) {
                stored.insert(place as usize);
            }
        }
    }
}

/// Bits of a word.
const WORD_BITS: usize = u64::BITS as usize;

/// Places of a list, one bit each.
#[derive(Default)]
pub(super) struct PlaceSet {
    /// The last one is for places behind the list; those from its end to there are set.
    words: Vec<u64>,
}

impl PlaceSet {
    /// None of a list of `length`.
    pub fn clear(&mut self, length: usize) {
        let words = length.div_ceil(WORD_BITS);
        self.words.clear();
        self.words.resize(words + 1, 0);
        if !length.is_multiple_of(WORD_BITS) {
            self.words[words - 1] = u64::MAX << (length % WORD_BITS);
        }
    }

    #[inline]
    pub fn insert(&mut self, place: usize) {
        self.words[place / WORD_BITS] |= 1 << (place % WORD_BITS);
    }

    #[inline]
    pub fn contains(&self, place: usize) -> bool {
        self.words[place / WORD_BITS] >> (place % WORD_BITS) & 1 == 1
    }

    fn list(&self) -> &[u64] {
        &self.words[..self.words.len() - 1]
    }

    /// How many places are not set.
    fn unset_count(&self) -> usize {
        self.list().iter().map(|word| word.count_zeros() as usize).sum()
    }

    /// The place of number `j`, from 0, of those that are not set.
    fn nth_unset(&self, j: usize) -> usize {
        let mut left = j;
        for (at, &word) in self.list().iter().enumerate() {
            let free = word.count_zeros() as usize;
            if left < free {
                let mut places = !word;
                (0..left).for_each(|_| places &= places - 1);
                return at * WORD_BITS + places.trailing_zeros() as usize;
            }
            left -= free;
        }
        unreachable!("number {j} of the places that are free");
    }

    /// Those below `length`, ascending.
    pub fn below(&self, length: usize) -> impl Iterator<Item = u32> + '_ {
        let words = self.list().iter().enumerate().take(length.div_ceil(WORD_BITS));
        words.flat_map(move |(at, &word)| {
            let first = at * WORD_BITS;
            let mut left =
                if length < first + WORD_BITS { word & !(u64::MAX << (length - first)) } else { word };
            std::iter::from_fn(move || {
                let place = (left != 0).then(|| first as u32 + left.trailing_zeros());
                left &= left.wrapping_sub(1);
                place
            })
        })
    }
}

/// The `wanted` best of a range of columns, best first.
fn rank_columns(
    table: &CoefficientTable,
    columns: std::ops::Range<usize>,
    labels_by_column: Option<&[u32]>,
    wanted: usize,
) -> Vec<ZeroLabel> {
    let mut best: Vec<ZeroLabel> = Vec::with_capacity(2 * wanted.min(columns.len()));
    let mut least = (f32::NEG_INFINITY, u32::MAX);
    for column in columns {
        let intercept = table.coefficients(column).1;
        if intercept < least.0 {
            continue;
        }
        let label = labels_by_column.map_or(column as u32, |labels_by_column| labels_by_column[column]);
        if intercept == least.0 && label > least.1 {
            continue;
        }
        best.push(ZeroLabel { intercept, label, column: column as u32 });
        // Full: only what is better than the last one wanted can still matter.
        if best.len() == 2 * wanted && wanted > 0 {
            best.select_nth_unstable_by(wanted - 1, ZeroLabel::best_first);
            best.truncate(wanted);
            least = (best[wanted - 1].intercept, best[wanted - 1].label);
        }
    }
    best.sort_unstable_by(ZeroLabel::best_first);
    best.truncate(wanted);
    best
}

/// The labels of the list that a row does not store.
pub(super) struct RowZeroLabels<'s> {
    pub list: &'s ZeroLabels,
    pub stored_places: &'s PlaceSet,
}

impl RowZeroLabels<'_> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.stored_places.unset_count()
    }

    /// Number `j`, from 0.
    pub fn get(&self, j: usize) -> ZeroLabel {
        self.list.get(self.stored_places.nth_unset(j))
    }

    /// How much of the list has the first `number` of these.
    pub fn prefix_length(&self, number: usize) -> usize {
        if number == 0 { 0 } else { self.stored_places.nth_unset(number - 1) + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shard::{EntryColumns, PADDING};

    /// Labels 0 to 9 with the best intercepts at 7, 3 and 5, and some equal ones.
    fn list(wanted: usize) -> ZeroLabels {
        let intercepts = [0.0, -1.0, 0.0, 2.0, -1.0, 1.0, 0.0, 3.0, -2.0, 0.0];
        let coding = ColumnCoding::new(10);
        let mut table = CoefficientTable::new(10, coding);
        table.fill(10, |column| (1.0, intercepts[column]), 10, (0.0, 0.0));
        ZeroLabels::new(&table, 10, None, wanted, coding)
    }

    #[test]
    fn the_best_intercepts_come_first_and_smaller_labels_of_equal_ones() {
        for wanted in [1, 2, 5, 6, 10] {
            let labels: Vec<u32> = list(wanted).ranked.iter().map(|one| one.label).collect();
            assert_eq!(labels, [7, 3, 5, 0, 2, 6, 9, 1, 4, 8][..wanted]);
        }
    }

    #[test]
    fn what_a_row_stores_is_left_out() {
        let list = list(6);
        let columns = EntryColumns::from_columns(10, &[[1, 2, 3, 8].as_slice(), &[0; PADDING]].concat());
        let values = [0.5; 4 + PADDING];
        let mut stored = PlaceSet::default();
        list.find_stored(Row::new(&columns, &values, 0, 4), &mut stored);
        assert_eq!(stored.below(6).collect::<Vec<_>>(), [1, 4], "labels 3 and 2");
        assert_eq!(stored.below(4).collect::<Vec<_>>(), [1]);
        let free = RowZeroLabels { list: &list, stored_places: &stored };
        let labels: Vec<u32> = (0..free.len()).map(|j| free.get(j).label).collect();
        assert_eq!(labels, [7, 5, 0, 6]);
    }

    #[test]
    fn places_are_found_across_words() {
        for length in [1, 63, 64, 65, 200] {
            let mut places = PlaceSet::default();
            places.clear(length);
            let set: Vec<usize> = (0..length).filter(|place| place * 7 % 3 == 0).collect();
            set.iter().for_each(|&place| places.insert(place));
            // Nobody looks there.
            places.insert(length.next_multiple_of(WORD_BITS));
            let free: Vec<usize> = (0..length).filter(|place| !set.contains(place)).collect();
            assert_eq!(places.unset_count(), free.len());
            assert!(free.iter().enumerate().all(|(j, &place)| places.nth_unset(j) == place));
            for end in [0, 1, length / 2, length] {
                let below: Vec<usize> = places.below(end).map(|place| place as usize).collect();
                assert!(set.iter().filter(|&&place| place < end).eq(&below), "{length} {end}");
            }
        }
    }
}
