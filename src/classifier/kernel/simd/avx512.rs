//! AVX-512: sixteen lanes.

use std::arch::x86_64::*;

use super::short_list::columns;
use super::{Avx2, Simd, Words, gather_timing};
use crate::classifier::kernel::shared_codes::ShortList;
use crate::classifier::kernel::{GROUP, Kernel};
use crate::shard::{Offsets, Row};

/// Proof that this processor has the instructions.
///
/// With `GATHERS`, words are looked up by gather instructions, otherwise one by one: see [`gather_timing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx512<const GATHERS: bool>(Avx2);

/// The kernels with and without gather instructions, the faster one first.
pub fn detect_avx512() -> Option<[Kernel; 2]> {
    let avx2 = Avx2::detect()?;
    let detected = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    detected.then(|| {
        let (gathers, loads) = (Avx512::<true>(avx2), Avx512::<false>(avx2));
        let mut kernels = [Kernel::Avx512Gathers(gathers), Kernel::Avx512(loads)];
        if !gather_timing::gathers_are_faster(gathers, loads) {
            kernels.reverse();
        }
        kernels
    })
}

impl<const GATHERS: bool> Avx512<GATHERS> {
    methods! {
        fn join(self, low: __m256, high: __m256) -> __m512 {
            _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high)
        }
        /// The lower and the upper halves of sixteen words.
        fn halves(self, low: __m512i, high: __m512i) -> (__m512, __m512) {
            let (low, high) = (_mm512_castsi512_ps(low), _mm512_castsi512_ps(high));
            let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            let odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
            (_mm512_permutex2var_ps(low, even, high), _mm512_permutex2var_ps(low, odd, high))
        }
        /// Writes `numbers` behind the first `found` lanes.
        fn append(self, first: __m512i, found: usize, numbers: __m512i) -> __m512i {
            _mm512_mask_expand_epi32(first, (u64::from(u16::MAX) << found.min(GROUP)) as u16, numbers)
        }
        fn low_bits(self, numbers: __m512i, mask: u32) -> __m512i {
            _mm512_and_si512(numbers, _mm512_set1_epi32(mask as i32))
        }
    }

    methods! {
        unsafe fn gather_words(self, words: *const u64, places: __m512i) -> (__m512, __m512) {
            let low = _mm512_i32gather_epi64::<8>(_mm512_castsi512_si256(places), words.cast());
            let high = _mm512_i32gather_epi64::<8>(_mm512_extracti64x4_epi64::<1>(places), words.cast());
            self.halves(low, high)
        }
    }

    /// The number of scores from `least` on, and the positions of the first sixteen of them, with 0 behind the found ones. They
    /// stay in a register, because a vector cannot be read right after it was written in pieces.
    #[inline(always)]
    fn find_first(self, scores: &[f32], least: f32) -> (usize, __m512i) {
        let least = self.splat(least);
        let mut numbers = self.lane_numbers();
        let (mut found, mut first) = (0, self.splat_int(0));
        for group in scores.chunks_exact(GROUP) {
            // SAFETY: a group is a vector.
            let mask = self.at_least(unsafe { self.load(group.as_ptr()) }, least);
            first = self.append(first, found, self.compress(mask, numbers));
            found += mask.count_ones() as usize;
            numbers = self.add(numbers, self.splat_int(GROUP as u32));
        }
        (found, first)
    }

    /// Makes the entries at the first positions the short list, whose length is set.
    #[inline(always)]
    fn gather_at(self, row: Row<'_>, positions: __m512i, short_list: &mut ShortList) {
        assert!(!row.is_empty() && row.len() <= i32::MAX as usize, "gather instructions take signed numbers");
        let (codes, values) = row.padded();
        let positions = self.min_int(positions, self.splat_int(row.len() as u32 - 1));
        // SAFETY: the processor has the instructions. Each gather reads 4 bytes from an entry of the row on, which is followed by
        // 16 others.
        let (codes, offsets, values) = unsafe {
            let offsets = match row.padded_offsets() {
                Offsets::None => unreachable!("bounds are of shared codes"),
                Offsets::Bytes(offsets) => {
                    self.low_bits(_mm512_i32gather_epi32::<1>(positions, offsets.as_ptr().cast()), 0xff)
                }
                Offsets::Words(offsets) => {
                    self.low_bits(_mm512_i32gather_epi32::<2>(positions, offsets.as_ptr().cast()), 0xffff)
                }
            };
            let codes = self.low_bits(_mm512_i32gather_epi32::<2>(positions, codes.as_ptr().cast()), 0xffff);
            (codes, offsets, _mm512_i32gather_ps::<4>(positions, values.as_ptr()))
        };
        let columns = columns(self, row.coding(), codes, offsets);
        let columns = self.or_zero(self.first_lanes(short_list.length), columns);
        // SAFETY: a short list has space for sixteen of each.
        unsafe {
            self.store_ints(short_list.positions.as_mut_ptr(), positions);
            self.store_ints(short_list.columns.as_mut_ptr(), columns);
            self.store(short_list.values.as_mut_ptr(), values);
        }
    }
}

impl<const GATHERS: bool> Simd for Avx512<GATHERS> {
    type Floats = __m512;
    type Ints = __m512i;
    type Mask = u16;
    const LANES: usize = GROUP;
    const GATHERS: bool = GATHERS;

    #[inline(always)]
    fn run<R>(self, job: impl FnOnce() -> R) -> R {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma,popcnt")]
        fn run_job<R>(job: impl FnOnce() -> R) -> R {
            job()
        }
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { run_job(job) }
    }

    #[inline(always)]
    fn narrow(self) -> Avx2 {
        self.0
    }

    #[inline(always)]
    fn first_lanes(self, count: usize) -> u16 {
        ((1u32 << count.min(GROUP)) - 1) as u16
    }

    #[inline(always)]
    fn bits(self, mask: u16) -> u32 {
        mask.into()
    }

    methods! {
        fn splat(self, number: f32) -> __m512 { _mm512_set1_ps(number) }
        fn splat_int(self, number: u32) -> __m512i { _mm512_set1_epi32(number as i32) }
        fn lane_numbers(self) -> __m512i {
            _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
        }

        fn multiply_add(self, a: __m512, b: __m512, c: __m512) -> __m512 { _mm512_fmadd_ps(a, b, c) }
        fn min(self, a: __m512, b: __m512) -> __m512 { _mm512_min_ps(a, b) }
        fn max(self, a: __m512, b: __m512) -> __m512 { _mm512_max_ps(a, b) }
        fn at_least(self, a: __m512, b: __m512) -> u16 { _mm512_cmp_ps_mask::<_CMP_GE_OQ>(a, b) }
        fn greater(self, a: __m512, b: __m512) -> u16 { _mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b) }
        fn select(self, mask: u16, yes: __m512, no: __m512) -> __m512 { _mm512_mask_mov_ps(no, mask, yes) }
        fn smallest(self, numbers: __m512) -> f32 { _mm512_reduce_min_ps(numbers) }

        fn add(self, a: __m512i, b: __m512i) -> __m512i { _mm512_add_epi32(a, b) }
        fn subtract(self, a: __m512i, b: __m512i) -> __m512i { _mm512_sub_epi32(a, b) }
        fn min_int(self, a: __m512i, b: __m512i) -> __m512i { _mm512_min_epu32(a, b) }
        fn max_int(self, a: __m512i, b: __m512i) -> __m512i { _mm512_max_epu32(a, b) }
        fn shift_left(self, numbers: __m512i, bits: u32) -> __m512i {
            _mm512_sll_epi32(numbers, _mm_cvtsi32_si128(bits as i32))
        }
        fn less(self, a: __m512i, b: __m512i) -> u16 { _mm512_cmplt_epi32_mask(a, b) }
        fn all_at_most(self, numbers: __m512i, limit: u32) -> bool {
            _mm512_cmple_epu32_mask(numbers, _mm512_set1_epi32(limit as i32)) == u16::MAX
        }
        fn or_zero(self, mask: u16, numbers: __m512i) -> __m512i { _mm512_maskz_mov_epi32(mask, numbers) }
        fn count_in(self, counts: __m512i, mask: u16) -> __m512i {
            _mm512_mask_add_epi32(counts, mask, counts, _mm512_set1_epi32(1))
        }
        // In a register: the instruction that compresses into memory is slow on some processors.
        fn compress(self, mask: u16, numbers: __m512i) -> __m512i { _mm512_maskz_compress_epi32(mask, numbers) }
        fn unpack_halves(self, both: __m512) -> (__m512, __m512) {
            let slopes = _mm512_and_ps(both, _mm512_castsi512_ps(_mm512_set1_epi32(0xffff_0000_u32 as i32)));
            let intercepts = _mm512_slli_epi32::<16>(_mm512_castps_si512(both));
            (slopes, _mm512_castsi512_ps(intercepts))
        }
        // Into all caches: with the hint for a single use, some entries are evicted before their turn (measured on Sapphire
        // Rapids).
        fn prefetch_stream(self, from: *const u8) -> () { _mm_prefetch::<_MM_HINT_T0>(from.cast()) }
    }

    methods! {
        unsafe fn load(self, from: *const f32) -> __m512 { _mm512_loadu_ps(from) }
        unsafe fn load_ints(self, from: *const u32) -> __m512i { _mm512_loadu_si512(from.cast()) }
        unsafe fn store(self, to: *mut f32, numbers: __m512) -> () { _mm512_storeu_ps(to, numbers) }
        unsafe fn store_ints(self, to: *mut u32, numbers: __m512i) -> () {
            _mm512_storeu_si512(to.cast(), numbers)
        }
        unsafe fn look_up(self, words: &Words, codes: *const u16) -> (__m512, __m512) {
            if GATHERS {
                let places = _mm512_cvtepu16_epi32(_mm256_loadu_si256(codes.cast()));
                return self.gather_words(words.as_ptr(), places);
            }
            let first = self.0.look_up(words, codes);
            let second = self.0.look_up(words, codes.add(Avx2::LANES));
            (self.join(first.0, second.0), self.join(first.1, second.1))
        }
        unsafe fn look_up_columns(self, words: &[u64], columns: *const u32) -> (__m512, __m512) {
            assert!(words.len() <= i32::MAX as usize, "gather instructions take signed numbers");
            self.gather_words(words.as_ptr(), self.load_ints(columns))
        }
    }

    #[inline(always)]
    fn gather_first(self, row: Row<'_>, bounds: &[f32], least: f32, short_list: &mut ShortList) -> bool {
        if !GATHERS {
            return false;
        }
        let (found, positions) = self.find_first(bounds, least);
        if found > GROUP {
            return false;
        }
        short_list.length = found;
        self.gather_at(row, positions, short_list);
        true
    }
}
