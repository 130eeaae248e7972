//! Those entries of a row that could be among the best, where columns share codes.

use std::arch::x86_64::*;

use super::largest::pick_largest;
use super::score::score_eight;
use crate::classifier::kernel::shared_codes::ShortList;
use crate::classifier::kernel::{LANES, MAX_SHORT_LIST};
use crate::shard::{ColumnCoding, Offsets, Row};

/// Makes `short_list` the entries at the first positions.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
pub(super) fn gather(row: Row<'_>, positions: &[u32], short_list: &mut ShortList) {
    match row.offsets() {
        Offsets::None => unreachable!("bounds are of codes that columns share"),
        Offsets::Bytes(offsets) => gather_with(row, offsets, positions, short_list),
        Offsets::Words(offsets) => gather_with(row, offsets, positions, short_list),
    }
}

#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
fn gather_with<R: Copy + Into<i32>>(
    row: Row<'_>,
    offsets: &[R],
    positions: &[u32],
    short_list: &mut ShortList,
) {
    let (codes, values) = (row.codes(), row.values());
    assert!(
        codes.len() == values.len() && codes.len() == offsets.len() && !codes.is_empty(),
        "of all as many"
    );
    let last = codes.len() as u32 - 1;
    let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for from in (0..short_list.padded_length()).step_by(8) {
        let positions: &[u32; 8] = positions[from..from + 8].try_into().expect("eight positions");
        // One after the other, as in `pick_top_k`. Those behind what was found may be of a longer row.
        let at: [usize; 8] = std::array::from_fn(|lane| positions[lane].min(last) as usize);
        // SAFETY: no position is behind the last entry, and there are as many of all.
        let (code, offset, value) = unsafe {
            let code = |lane: usize| i32::from(*codes.get_unchecked(at[lane]));
            let offset = |lane: usize| (*offsets.get_unchecked(at[lane])).into();
            let value = |lane: usize| values.get_unchecked(at[lane]).to_bits() as i32;
            (eight(code), eight(offset), eight(value))
        };
        let inside = _mm256_cmpgt_epi32(_mm256_set1_epi32(short_list.length as i32 - from as i32), lanes);
        let columns = _mm256_and_si256(columns(row.coding(), code, offset), inside);
        let (positions, values) = (eight(|lane| at[lane] as i32), value);
        // SAFETY: there is space for eight of each.
        unsafe {
            _mm256_storeu_si256(short_list.positions[from..from + 8].as_mut_ptr().cast(), positions);
            _mm256_storeu_si256(short_list.columns[from..from + 8].as_mut_ptr().cast(), columns);
            _mm256_storeu_si256(short_list.values[from..from + 8].as_mut_ptr().cast(), values);
        }
    }
}

#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
fn eight(number: impl Fn(usize) -> i32) -> __m256i {
    _mm256_setr_epi32(number(0), number(1), number(2), number(3), number(4), number(5), number(6), number(7))
}

/// [`ColumnCoding::column`] of eight codes.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
fn columns(coding: ColumnCoding, codes: __m256i, offsets: __m256i) -> __m256i {
    let all = |number: u32| _mm256_set1_epi32(number as i32);
    let by = |bits: u32| _mm_cvtsi32_si128(bits as i32);
    let [own, small_groups, small, large] = coding.layout();
    let (own, small_groups) = (all(own), all(small_groups));
    let behind = _mm256_sub_epi32(_mm256_max_epu32(codes, own), own);
    let in_small = _mm256_sll_epi32(_mm256_min_epu32(behind, small_groups), by(small));
    let behind = _mm256_sub_epi32(_mm256_max_epu32(behind, small_groups), small_groups);
    let in_large = _mm256_sll_epi32(behind, by(large));
    _mm256_add_epi32(
        _mm256_add_epi32(_mm256_min_epu32(codes, own), offsets),
        _mm256_add_epi32(in_small, in_large),
    )
}

/// The numbers of candidates.
static NUMBERS: [u32; MAX_SHORT_LIST] = {
    let mut numbers = [0; MAX_SHORT_LIST];
    let mut at = 0;
    while at < MAX_SHORT_LIST {
        numbers[at] = at as u32;
        at += 1;
    }
    numbers
};

/// Picks the best `k`. Returns the smallest of their scores, or nothing where another is too close.
#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
pub(super) fn pick(words: &[u64], short_list: &mut ShortList, k: usize) -> Option<f32> {
    if short_list.padded_length() == LANES {
        pick_with::<2>(words, short_list, k)
    } else {
        pick_with::<4>(words, short_list, k)
    }
}

#[target_feature(enable = "avx2,fma,popcnt")]
#[inline]
fn pick_with<const REGISTERS: usize>(words: &[u64], short_list: &mut ShortList, k: usize) -> Option<f32> {
    let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let last = _mm256_set1_epi32((words.len() - 1) as u32 as i32);
    let scores: [__m256; REGISTERS] = std::array::from_fn(|register| {
        let from = 8 * register;
        let columns: &[u32; 8] = short_list.columns[from..from + 8].try_into().expect("eight columns");
        // SAFETY: eight of each; every column has been seen to be below the number of words.
        let eight = unsafe {
            let wide = _mm256_loadu_si256(columns.as_ptr().cast());
            let allowed = _mm256_cmpeq_epi32(_mm256_min_epu32(wide, last), wide);
            assert!(_mm256_movemask_epi8(allowed) == -1, "every column has coefficients");
            let places = columns.map(|column| words.as_ptr().add(column as usize));
            score_eight(places, _mm256_loadu_ps(short_list.values[from..from + 8].as_ptr()))
        };
        let count = _mm256_set1_epi32(short_list.length as i32 - from as i32);
        let inside = _mm256_castsi256_ps(_mm256_cmpgt_epi32(count, lanes));
        _mm256_blendv_ps(_mm256_set1_ps(f32::NEG_INFINITY), eight, inside)
    });
    pick_largest(scores, &NUMBERS, k, &mut short_list.best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::kernel::avx2::Avx2;
    use crate::shard::{Code, Column};

    #[test]
    fn eight_columns_are_those_of_one_code_after_the_other() {
        if Avx2::detect().is_none() {
            return;
        }
        for (labels, different) in [(70_000, 70_000), (3_000_000, 1_200_000), (20_000_000, 3_000_000)] {
            let coding = ColumnCoding::with_distinct(labels, different);
            let last = coding.code(Column(labels as u32 - 1)).0;
            for first in (0..=last - 8).step_by(5) {
                let codes: [u16; 8] = std::array::from_fn(|lane| first + lane as u16);
                let offsets = codes.map(|code| code % 2);
                let mut found = [0u32; 8];
                // SAFETY: the processor has the instructions, and eight numbers fit.
                unsafe {
                    let eight = columns(coding, eight(|at| codes[at].into()), eight(|at| offsets[at].into()));
                    _mm256_storeu_si256(found.as_mut_ptr().cast(), eight);
                }
                let wanted: [u32; 8] =
                    std::array::from_fn(|at| coding.column(Code(codes[at]), offsets[at]).0);
                assert_eq!(found, wanted, "{labels} labels, codes from {first}");
            }
        }
    }
}
