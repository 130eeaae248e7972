//! Those entries of a row that could be among the best, where columns share codes and there are at most sixteen.

use std::arch::x86_64::*;

use super::find::lane_numbers;
use super::largest::pick_largest;
use super::score::score_sixteen;
use crate::classifier::kernel::LANES;
use crate::classifier::kernel::shared_codes::ShortList;
use crate::shard::{ColumnCoding, Offsets, Row};

/// The first lanes.
fn first_lanes(lanes: usize) -> u16 {
    u16::MAX >> (LANES - lanes.min(LANES))
}

/// Makes `short_list` the entries at the first of these positions, at least one.
///
/// # Panics
/// When the row is empty.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) fn gather(row: Row<'_>, positions: __m512i, short_list: &mut ShortList) {
    assert!(!row.is_empty() && row.len() <= i32::MAX as usize, "entries are looked up by signed numbers");
    let (codes, values) = row.padded();
    let positions = _mm512_min_epu32(positions, _mm512_set1_epi32(row.len() as i32 - 1));
    // SAFETY: each reads 4 bytes from an entry of the row on, and `row` has seen that 16 entries follow it.
    let (codes, offsets, values) = unsafe {
        let offsets = match row.padded_offsets() {
            Offsets::None => unreachable!("bounds are of codes that columns share"),
            Offsets::Bytes(offsets) => {
                low_bits::<0xff>(_mm512_i32gather_epi32::<1>(positions, offsets.as_ptr().cast()))
            }
            Offsets::Words(offsets) => {
                low_bits::<0xffff>(_mm512_i32gather_epi32::<2>(positions, offsets.as_ptr().cast()))
            }
        };
        let codes = low_bits::<0xffff>(_mm512_i32gather_epi32::<2>(positions, codes.as_ptr().cast()));
        (codes, offsets, _mm512_i32gather_ps::<4>(positions, values.as_ptr()))
    };
    let columns =
        _mm512_maskz_mov_epi32(first_lanes(short_list.length), columns(row.coding(), codes, offsets));
    // SAFETY: there is space for sixteen of each.
    unsafe {
        _mm512_storeu_si512(short_list.positions.as_mut_ptr().cast(), positions);
        _mm512_storeu_si512(short_list.columns.as_mut_ptr().cast(), columns);
        _mm512_storeu_ps(short_list.values.as_mut_ptr(), values);
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
fn low_bits<const BITS: i32>(numbers: __m512i) -> __m512i {
    _mm512_and_si512(numbers, _mm512_set1_epi32(BITS))
}

/// [`ColumnCoding::column`] of sixteen codes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
fn columns(coding: ColumnCoding, codes: __m512i, offsets: __m512i) -> __m512i {
    let all = |number: u32| _mm512_set1_epi32(number as i32);
    let by = |bits: u32| _mm_cvtsi32_si128(bits as i32);
    let [own, small_groups, small, large] = coding.layout();
    let (own, small_groups) = (all(own), all(small_groups));
    let behind = _mm512_sub_epi32(_mm512_max_epu32(codes, own), own);
    let in_small = _mm512_sll_epi32(_mm512_min_epu32(behind, small_groups), by(small));
    let behind = _mm512_sub_epi32(_mm512_max_epu32(behind, small_groups), small_groups);
    let in_large = _mm512_sll_epi32(behind, by(large));
    _mm512_add_epi32(
        _mm512_add_epi32(_mm512_min_epu32(codes, own), offsets),
        _mm512_add_epi32(in_small, in_large),
    )
}

/// Picks the best `k`. Returns the smallest of their scores, or nothing where another is too close.
///
/// # Panics
/// When a column has no word, or there are too many words.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
#[inline]
pub(super) fn pick(words: &[u64], short_list: &mut ShortList, k: usize) -> Option<f32> {
    assert!(words.len() <= i32::MAX as usize, "columns are looked up by signed numbers");
    let last = _mm512_set1_epi32((words.len() - 1) as i32);
    // SAFETY: sixteen of each; every column has been seen to be below the number of words.
    let scores = unsafe {
        let columns = _mm512_loadu_si512(short_list.columns.as_ptr().cast());
        assert!(_mm512_cmple_epu32_mask(columns, last) == u16::MAX, "every column has coefficients");
        score_sixteen(words, columns, _mm512_loadu_ps(short_list.values.as_ptr()))
    };
    let scores =
        _mm512_mask_mov_ps(_mm512_set1_ps(f32::NEG_INFINITY), first_lanes(short_list.length), scores);
    pick_largest(scores, lane_numbers(), k, &mut short_list.best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::kernel::avx512::Avx512;
    use crate::shard::{Code, Column};

    #[test]
    fn sixteen_columns_are_those_of_one_code_after_the_other() {
        if Avx512::detect().is_none() {
            return;
        }
        for (labels, different) in [(70_000, 70_000), (3_000_000, 1_200_000), (20_000_000, 3_000_000)] {
            let coding = ColumnCoding::with_distinct(labels, different);
            let last = coding.code(Column(labels as u32 - 1)).0;
            for from in (0..=last - 16).step_by(5) {
                let codes: [u32; 16] = std::array::from_fn(|lane| u32::from(from) + lane as u32);
                let offsets = codes.map(|code| code % 2);
                let mut found = [0u32; 16];
                // SAFETY: the processor has the instructions, and sixteen numbers fit.
                unsafe {
                    let load = |numbers: &[u32; 16]| _mm512_loadu_si512(numbers.as_ptr().cast());
                    let sixteen = columns(coding, load(&codes), load(&offsets));
                    _mm512_storeu_si512(found.as_mut_ptr().cast(), sixteen);
                }
                let wanted: [u32; 16] =
                    std::array::from_fn(|at| coding.column(Code(codes[at] as u16), offsets[at] as u16).0);
                assert_eq!(found, wanted, "{labels} labels, codes from {from}");
            }
        }
    }
}
