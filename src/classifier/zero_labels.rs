//! Zero labels: labels that a row does not store. Their marginal is 0, so their score is the intercept.

use std::cmp::Ordering;
use std::ops::Range;

use rayon::prelude::*;

use super::kernel::CoefficientTable;
use super::prepared_rule::PreparedRule;
use crate::shard::{Code, Column, ColumnCoding, LabelId, Position, Row};

/// The labels of a rule that some row could choose without storing them, best first.
///
/// The list is the same for all rows. A row skips the labels that it stores, so its zero labels are a prefix of the
/// list without those: rows need not write them down one by one.
pub(super) struct ZeroLabels {
    /// By falling intercept, then rising label; as many as any row can need.
    list: Vec<ZeroLabel>,
    /// One bit per code, set if one of its columns is in the list.
    codes_in_list: Vec<u64>,
    /// Columns in the list with their places, by rising column and so by rising code.
    places: Vec<(Column, Place)>,
    /// Index in `places` of the first column of each code in the list.
    starts_by_code: Vec<u32>,
    /// The place of every code, or one behind the list. Empty if columns share codes or places do not fit.
    place_by_code: Vec<u16>,
}

/// A place in the list of zero labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(pub u32);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ZeroLabel {
    pub intercept: f32,
    pub label: LabelId,
    pub column: Column,
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
    /// Lists the `wanted` best of the first `labels` columns; `labels_by_column` is as in `Marginals`.
    pub fn new(
        table: &CoefficientTable,
        labels: usize,
        labels_by_column: Option<&[u32]>,
        wanted: usize,
        coding: ColumnCoding,
    ) -> ZeroLabels {
        let chunk = |at: usize| {
            let columns = at * CHUNK_COLUMNS..labels.min((at + 1) * CHUNK_COLUMNS);
            best_of_columns(table, columns, labels_by_column, wanted)
        };
        let list = match labels.div_ceil(CHUNK_COLUMNS) {
            0 | 1 => chunk(0),
            chunks => {
                let mut all: Vec<ZeroLabel> = (0..chunks).into_par_iter().flat_map_iter(chunk).collect();
                all.sort_unstable_by(ZeroLabel::best_first);
                all.truncate(wanted);
                all
            }
        };
        let mut codes_in_list = vec![0; ColumnCoding::CODES / 64];
        let mut places: Vec<(Column, Place)> =
            list.iter().map(|one| one.column).zip((0..).map(Place)).collect();
        places.sort_unstable();
        let mut starts_by_code = vec![0; ColumnCoding::CODES];
        // In reverse, so that the first column of a code remains.
        for (at, &(column, _)) in places.iter().enumerate().rev() {
            let code = coding.code(column).index();
            codes_in_list[code / 64] |= 1 << (code % 64);
            starts_by_code[code] = at as u32;
        }
        let behind = list.len().next_multiple_of(WORD_BITS);
        let mut place_by_code = Vec::new();
        if !coding.has_shared_codes() && behind < usize::from(u16::MAX) {
            place_by_code.resize(ColumnCoding::CODES, behind as u16);
            places.iter().for_each(|&(column, place)| place_by_code[column.index()] = place.0 as u16);
        }
        ZeroLabels { list, codes_in_list, places, starts_by_code, place_by_code }
    }

    /// Returns the largest score of a zero label.
    pub fn best_intercept(&self) -> f32 {
        self.list.first().map_or(f32::NEG_INFINITY, |first| first.intercept)
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn get(&self, place: Place) -> ZeroLabel {
        self.list[place.0 as usize]
    }

    /// Returns the place of a column with this code, if it is in the list.
    #[inline]
    pub fn place(&self, code: Code, column: impl FnOnce() -> Column) -> Option<Place> {
        if self.codes_in_list[code.index() / 64] >> (code.index() % 64) & 1 == 0 {
            return None;
        }
        let column = column();
        let from = &self.places[self.starts_by_code[code.index()] as usize..];
        from.iter().take_while(|place| place.0 <= column).find(|place| place.0 == column).map(|place| place.1)
    }

    /// Makes `stored` the places of all labels in the list that the row stores.
    fn find_stored(&self, row: Row<'_>, stored: &mut PlaceSet) {
        stored.clear(self.len());
        if let Ok(place_by_code) = <&[u16; ColumnCoding::CODES]>::try_from(&self.place_by_code[..]) {
            // Without a branch: codes that are not in the list set a bit behind it.
            row.codes().iter().for_each(|&code| stored.insert(place_by_code[usize::from(code)].into()));
            return;
        }
        for (position, &code) in (0..).map(Position).zip(row.codes()) {
            if let Some(Place(place)) = self.place(Code(code), || row.column(position)) {
                stored.insert(place as usize);
            }
        }
    }
}

/// Returns the `wanted` best of a range of columns, best first.
fn best_of_columns(
    table: &CoefficientTable,
    columns: Range<usize>,
    labels_by_column: Option<&[u32]>,
    wanted: usize,
) -> Vec<ZeroLabel> {
    let mut best: Vec<ZeroLabel> = Vec::with_capacity(2 * wanted.min(columns.len()));
    let mut least = (f32::NEG_INFINITY, LabelId(u32::MAX));
    for column in columns {
        let intercept = table.coefficients(column).1;
        if intercept < least.0 {
            continue;
        }
        let label = LabelId(labels_by_column.map_or(column as u32, |labels| labels[column]));
        if intercept == least.0 && label > least.1 {
            continue;
        }
        best.push(ZeroLabel { intercept, label, column: Column(column as u32) });
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

/// Places below this one are searched for in the row one by one; beyond, all entries of the row are looked up in the list.
const MAX_SINGLE_LOOKUPS: usize = 24;

/// The places in a rule's list of zero labels that one row stores, looked up as far as needed.
#[derive(Default)]
pub(super) struct StoredPlaces {
    set: PlaceSet,
    /// Number of places looked up, from the first.
    known: usize,
}

impl StoredPlaces {
    /// Forgets the places of the previous row.
    #[inline]
    pub fn clear(&mut self) {
        self.known = 0;
    }

    /// Returns whether the row stores the label at a place. Places must be queried in order.
    pub fn contains(&mut self, rule: &PreparedRule<'_>, row: Row<'_>, place: Place) -> bool {
        let at = place.0 as usize;
        if at >= self.known {
            if at == MAX_SINGLE_LOOKUPS {
                self.look_up_all(rule, row);
            } else {
                if at == 0 {
                    self.set.clear(rule.zero_labels.len());
                }
                if rule.kernel.has_column(row, rule.zero_labels.get(place).column) {
                    self.set.insert(at);
                }
                self.known = at + 1;
            }
        }
        self.set.contains(at)
    }

    /// Looks up all places.
    pub fn look_up_all(&mut self, rule: &PreparedRule<'_>, row: Row<'_>) -> &PlaceSet {
        if self.known < rule.zero_labels.len() {
            rule.zero_labels.find_stored(row, &mut self.set);
            self.known = rule.zero_labels.len();
        }
        &self.set
    }

    /// Returns the stored places below `length`, ascending; these have been looked up.
    pub fn below(&self, length: usize) -> impl Iterator<Item = Place> + '_ {
        debug_assert!(length <= self.known, "places that were looked up");
        self.set.below(length)
    }
}

const WORD_BITS: usize = u64::BITS as usize;

/// Places of a list, one bit each.
#[derive(Default)]
pub(super) struct PlaceSet {
    /// The last word is for places behind the list. Bits between the end of the list and that word are set.
    words: Vec<u64>,
}

impl PlaceSet {
    /// Becomes the empty set for a list of `length` places.
    fn clear(&mut self, length: usize) {
        let words = length.div_ceil(WORD_BITS);
        self.words.clear();
        self.words.resize(words + 1, 0);
        if !length.is_multiple_of(WORD_BITS) {
            self.words[words - 1] = u64::MAX << (length % WORD_BITS);
        }
    }

    #[inline]
    fn insert(&mut self, place: usize) {
        self.words[place / WORD_BITS] |= 1 << (place % WORD_BITS);
    }

    #[inline]
    fn contains(&self, place: usize) -> bool {
        self.words[place / WORD_BITS] >> (place % WORD_BITS) & 1 == 1
    }

    fn list(&self) -> &[u64] {
        self.words.split_last().map_or(&[], |(_, list)| list)
    }

    /// Returns the number of places that are not set: the zero labels that are left to the row.
    pub fn unset_count(&self) -> usize {
        self.list().iter().map(|word| word.count_zeros() as usize).sum()
    }

    /// Returns place number `number`, from 0, of those that are not set.
    pub fn nth_unset(&self, number: usize) -> Place {
        let mut left = number;
        for (at, &word) in self.list().iter().enumerate() {
            let free = word.count_zeros() as usize;
            if left < free {
                let mut places = !word;
                (0..left).for_each(|_| places &= places - 1);
                return Place((at * WORD_BITS) as u32 + places.trailing_zeros());
            }
            left -= free;
        }
        unreachable!("place {number} of those that are not set");
    }

    /// Returns the length of the shortest prefix of the list with `number` places that are not set.
    pub fn prefix_length(&self, number: usize) -> usize {
        if number == 0 { 0 } else { self.nth_unset(number - 1).0 as usize + 1 }
    }

    /// Returns the places below `length`, ascending.
    fn below(&self, length: usize) -> impl Iterator<Item = Place> + '_ {
        let words = self.list().iter().enumerate().take(length.div_ceil(WORD_BITS));
        words.flat_map(move |(at, &word)| {
            let first = at * WORD_BITS;
            let mut left =
                if length < first + WORD_BITS { word & !(u64::MAX << (length - first)) } else { word };
            std::iter::from_fn(move || {
                let place = (left != 0).then(|| Place(first as u32 + left.trailing_zeros()));
                left &= left.wrapping_sub(1);
                place
            })
        })
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
    fn the_best_intercepts_come_first_and_smaller_labels_win_ties() {
        for wanted in [1, 2, 5, 6, 10] {
            let labels: Vec<u32> = list(wanted).list.iter().map(|one| one.label.0).collect();
            assert_eq!(labels, [7, 3, 5, 0, 2, 6, 9, 1, 4, 8][..wanted]);
        }
    }

    #[test]
    fn stored_labels_are_skipped() {
        let list = list(6);
        let columns = EntryColumns::from_columns(10, &[[1, 2, 3, 8].as_slice(), &[0; PADDING]].concat());
        let values = [0.5; 4 + PADDING];
        let mut stored = PlaceSet::default();
        list.find_stored(Row::new(&columns, &values, 0, 4), &mut stored);
        assert_eq!(stored.below(6).collect::<Vec<_>>(), [Place(1), Place(4)], "labels 3 and 2");
        assert_eq!(stored.below(4).collect::<Vec<_>>(), [Place(1)]);
        let left = (0..stored.unset_count()).map(|number| list.get(stored.nth_unset(number)).label.0);
        assert_eq!(left.collect::<Vec<_>>(), [7, 5, 0, 6]);
    }

    #[test]
    fn places_are_found_across_words() {
        for length in [1, 63, 64, 65, 200] {
            let mut places = PlaceSet::default();
            places.clear(length);
            let set: Vec<usize> = (0..length).filter(|place| place * 7 % 3 == 0).collect();
            set.iter().for_each(|&place| places.insert(place));
            // A place behind the list, which is ignored.
            places.insert(length.next_multiple_of(WORD_BITS));
            let free: Vec<usize> = (0..length).filter(|place| !set.contains(place)).collect();
            assert_eq!(places.unset_count(), free.len());
            let found = |number: usize| places.nth_unset(number).0 as usize;
            assert!(free.iter().enumerate().all(|(number, &place)| found(number) == place));
            for end in [0, 1, length / 2, length] {
                let below: Vec<usize> = places.below(end).map(|place| place.0 as usize).collect();
                assert!(set.iter().filter(|&&place| place < end).eq(&below), "{length} {end}");
            }
        }
    }
}
