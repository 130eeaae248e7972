//! The entries of a row that could be among the best, where columns share codes.

use super::largest::pick_largest;
use super::score::{ColumnScores, Scorer};
use super::{Avx2, Simd};
use crate::classifier::kernel::shared_codes::ShortList;
use crate::classifier::kernel::{GROUP, MAX_SHORT_LIST};
use crate::shard::{ColumnCoding, Offsets, Row};

/// Makes the entries at the first positions the short list, whose length is set.
#[inline(always)]
pub fn gather(simd: Avx2, row: Row<'_>, positions: &[u32], short_list: &mut ShortList) {
    match row.offsets() {
        Offsets::None => unreachable!("bounds are of shared codes"),
        Offsets::Bytes(offsets) => gather_with(simd, row, offsets, positions, short_list),
        Offsets::Words(offsets) => gather_with(simd, row, offsets, positions, short_list),
    }
}

#[inline(always)]
fn gather_with<O: Copy + Into<u32>>(
    simd: Avx2,
    row: Row<'_>,
    offsets: &[O],
    positions: &[u32],
    short_list: &mut ShortList,
) {
    const LANES: usize = <Avx2 as Simd>::LANES;
    let (codes, values) = (row.codes(), row.values());
    assert!(codes.len() == values.len() && codes.len() == offsets.len() && !codes.is_empty());
    let last = codes.len() as u32 - 1;
    for from in (0..short_list.padded_length()).step_by(LANES) {
        let positions = &positions[from..from + LANES];
        // One by one, as in `pick_top_k`. Positions behind the found ones can be of a longer row.
        let at: [usize; LANES] = std::array::from_fn(|lane| positions[lane].min(last) as usize);
        // SAFETY: no position is behind the last entry.
        let (codes, offsets, values) = unsafe {
            (
                at.map(|at| u32::from(*codes.get_unchecked(at))),
                at.map(|at| (*offsets.get_unchecked(at)).into()),
                at.map(|at| *values.get_unchecked(at)),
            )
        };
        let (codes, offsets) = (simd.pack_ints(codes), simd.pack_ints(offsets));
        let columns = columns(simd, row.coding(), codes, offsets);
        let columns = simd.or_zero(simd.first_lanes(short_list.length.saturating_sub(from)), columns);
        let positions = simd.pack_ints(at.map(|at| at as u32));
        // SAFETY: there is space for a vector of each.
        unsafe {
            simd.store_ints(short_list.positions[from..from + LANES].as_mut_ptr(), positions);
            simd.store_ints(short_list.columns[from..from + LANES].as_mut_ptr(), columns);
            simd.store(short_list.values[from..from + LANES].as_mut_ptr(), simd.pack(values));
        }
    }
}

/// [`ColumnCoding::column`] of a vector of codes.
#[inline(always)]
pub fn columns<S: Simd>(simd: S, coding: ColumnCoding, codes: S::Ints, offsets: S::Ints) -> S::Ints {
    let [own, small_groups, small, large] = coding.layout();
    let (own, small_groups) = (simd.splat_int(own), simd.splat_int(small_groups));
    let behind = simd.subtract(simd.max_int(codes, own), own);
    let in_small = simd.shift_left(simd.min_int(behind, small_groups), small);
    let behind = simd.subtract(simd.max_int(behind, small_groups), small_groups);
    let in_large = simd.shift_left(behind, large);
    simd.add(simd.add(simd.min_int(codes, own), offsets), simd.add(in_small, in_large))
}

/// The numbers of the entries of a short list.
static NUMBERS: [u32; MAX_SHORT_LIST] = {
    let mut numbers = [0; MAX_SHORT_LIST];
    let mut at = 0;
    while at < MAX_SHORT_LIST {
        numbers[at] = at as u32;
        at += 1;
    }
    numbers
};

/// Picks the best `k` of a short list, as [`Operations::pick`](super::Operations) says.
#[inline(always)]
pub fn pick<S: Simd>(simd: S, words: &[u64], short_list: &mut ShortList, k: usize) -> Option<f32> {
    match short_list.length {
        0..=GROUP if S::GATHERS => pick_with::<S, 1>(simd, words, short_list, k),
        0..=GROUP => pick_with::<Avx2, 2>(simd.narrow(), words, short_list, k),
        _ => pick_with::<Avx2, 4>(simd.narrow(), words, short_list, k),
    }
}

#[inline(always)]
fn pick_with<S: Simd, const REGISTERS: usize>(
    simd: S,
    words: &[u64],
    short_list: &mut ShortList,
    k: usize,
) -> Option<f32> {
    let nothing = simd.splat(f32::NEG_INFINITY);
    let mut scores = [nothing; REGISTERS];
    for (number, scores) in scores.iter_mut().enumerate() {
        let from = number * S::LANES;
        let columns = short_list.columns[from..from + S::LANES].as_ptr();
        let values = short_list.values[from..from + S::LANES].as_ptr();
        // SAFETY: there is a vector of each.
        let (some, _) = unsafe { ColumnScores(words).score(simd, columns, values) };
        *scores = simd.select(simd.first_lanes(short_list.length.saturating_sub(from)), some, nothing);
    }
    pick_largest(simd, scores, &NUMBERS, k, &mut short_list.best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::kernel::Kernel;
    use crate::shard::{Code, Column};

    #[test]
    fn vectors_of_columns_equal_those_of_one_code_after_the_other() {
        for kernel in Kernel::available() {
            match kernel {
                Kernel::Scalar => {}
                Kernel::Avx2(simd) => check_columns(simd),
                Kernel::Avx512(simd) => check_columns(simd),
                Kernel::Avx512Gathers(simd) => check_columns(simd),
            }
        }
    }

    fn check_columns<S: Simd>(simd: S) {
        for (labels, different) in [(70_000, 70_000), (3_000_000, 1_200_000), (20_000_000, 3_000_000)] {
            let coding = ColumnCoding::with_distinct(labels, different);
            let last = coding.code(Column(labels as u32 - 1)).0;
            for from in (0..=last - GROUP as u16).step_by(5) {
                let codes: [u32; GROUP] = std::array::from_fn(|lane| u32::from(from) + lane as u32);
                let offsets = codes.map(|code| code % 2);
                let mut found = [0; GROUP];
                // SAFETY: no vector is longer than a group.
                unsafe {
                    let (codes, offsets) = (simd.load_ints(codes.as_ptr()), simd.load_ints(offsets.as_ptr()));
                    simd.store_ints(found.as_mut_ptr(), columns(simd, coding, codes, offsets));
                }
                for lane in 0..S::LANES {
                    let wanted = coding.column(Code(codes[lane] as u16), offsets[lane] as u16).0;
                    assert_eq!(found[lane], wanted, "{labels} labels, codes from {from}");
                }
            }
        }
    }
}
