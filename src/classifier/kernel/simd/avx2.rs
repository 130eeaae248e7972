//! AVX2 and FMA: eight lanes.
//!
//! Words are looked up by plain 64-bit loads: on the processors tried, gather instructions are slower.

use std::arch::x86_64::*;

use super::{Simd, Words};

/// Proof that this processor has the instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx2(());

impl Avx2 {
    pub fn detect() -> Option<Avx2> {
        (is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("popcnt"))
        .then_some(Avx2(()))
    }

    methods! {
        pub fn pack(self, numbers: [f32; 8]) -> __m256 {
            let [a, b, c, d, e, f, g, h] = numbers;
            _mm256_setr_ps(a, b, c, d, e, f, g, h)
        }
        pub fn pack_ints(self, numbers: [u32; 8]) -> __m256i {
            let [a, b, c, d, e, f, g, h] = numbers.map(|number| number as i32);
            _mm256_setr_epi32(a, b, c, d, e, f, g, h)
        }
    }

    /// The lower and the upper halves of eight words.
    ///
    /// # Safety
    /// The words can be read.
    #[inline(always)]
    unsafe fn halves(self, [a, b, c, d, e, f, g, h]: [*const u64; 8]) -> (__m256, __m256) {
        // SAFETY: the processor has the instructions, and the caller promises the words.
        unsafe {
            macro_rules! two {
                ($first:ident, $second:ident) => {
                    _mm_loadh_pd(_mm_castsi128_pd(_mm_loadl_epi64($first.cast())), $second.cast())
                };
            }
            let outer = _mm256_castpd_ps(_mm256_set_m128d(two!(e, f), two!(a, b)));
            let inner = _mm256_castpd_ps(_mm256_set_m128d(two!(g, h), two!(c, d)));
            (_mm256_shuffle_ps::<0x88>(outer, inner), _mm256_shuffle_ps::<0xdd>(outer, inner))
        }
    }
}

/// The set bits of every byte, lowest first.
static BITS: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut at) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][at] = bit;
                at += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

impl Simd for Avx2 {
    type Floats = __m256;
    type Ints = __m256i;
    type Mask = __m256;
    const LANES: usize = 8;
    const GATHERS: bool = false;

    #[inline(always)]
    fn run<R>(self, job: impl FnOnce() -> R) -> R {
        #[target_feature(enable = "avx2,fma,popcnt")]
        fn run_job<R>(job: impl FnOnce() -> R) -> R {
            job()
        }
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { run_job(job) }
    }

    #[inline(always)]
    fn narrow(self) -> Avx2 {
        self
    }

    methods! {
        fn splat(self, number: f32) -> __m256 { _mm256_set1_ps(number) }
        fn splat_int(self, number: u32) -> __m256i { _mm256_set1_epi32(number as i32) }
        fn lane_numbers(self) -> __m256i { _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7) }
        fn first_lanes(self, count: usize) -> __m256 {
            let (count, lanes) = (_mm256_set1_epi32(count as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
            _mm256_castsi256_ps(_mm256_cmpgt_epi32(count, lanes))
        }
        fn bits(self, mask: __m256) -> u32 { _mm256_movemask_ps(mask) as u32 }

        fn multiply_add(self, a: __m256, b: __m256, c: __m256) -> __m256 { _mm256_fmadd_ps(a, b, c) }
        fn min(self, a: __m256, b: __m256) -> __m256 { _mm256_min_ps(a, b) }
        fn max(self, a: __m256, b: __m256) -> __m256 { _mm256_max_ps(a, b) }
        fn at_least(self, a: __m256, b: __m256) -> __m256 { _mm256_cmp_ps::<_CMP_GE_OQ>(a, b) }
        fn greater(self, a: __m256, b: __m256) -> __m256 { _mm256_cmp_ps::<_CMP_GT_OQ>(a, b) }
        fn select(self, mask: __m256, yes: __m256, no: __m256) -> __m256 { _mm256_blendv_ps(no, yes, mask) }
        fn smallest(self, numbers: __m256) -> f32 {
            let four = _mm_min_ps(_mm256_castps256_ps128(numbers), _mm256_extractf128_ps::<1>(numbers));
            let two = _mm_min_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_min_ss(two, _mm_shuffle_ps::<1>(two, two)))
        }

        fn add(self, a: __m256i, b: __m256i) -> __m256i { _mm256_add_epi32(a, b) }
        fn subtract(self, a: __m256i, b: __m256i) -> __m256i { _mm256_sub_epi32(a, b) }
        fn min_int(self, a: __m256i, b: __m256i) -> __m256i { _mm256_min_epu32(a, b) }
        fn max_int(self, a: __m256i, b: __m256i) -> __m256i { _mm256_max_epu32(a, b) }
        fn shift_left(self, numbers: __m256i, bits: u32) -> __m256i {
            _mm256_sll_epi32(numbers, _mm_cvtsi32_si128(bits as i32))
        }
        fn less(self, a: __m256i, b: __m256i) -> __m256 { _mm256_castsi256_ps(_mm256_cmpgt_epi32(b, a)) }
        fn or_zero(self, mask: __m256, numbers: __m256i) -> __m256i {
            _mm256_and_si256(_mm256_castps_si256(mask), numbers)
        }
        // Lanes of the mask are -1.
        fn count_in(self, counts: __m256i, mask: __m256) -> __m256i {
            _mm256_sub_epi32(counts, _mm256_castps_si256(mask))
        }
        fn compress(self, mask: __m256, numbers: __m256i) -> __m256i {
            let lanes = BITS.as_ptr().add(_mm256_movemask_ps(mask) as usize);
            _mm256_permutevar8x32_epi32(numbers, _mm256_cvtepu8_epi32(_mm_loadl_epi64(lanes.cast())))
        }
        fn all_at_most(self, numbers: __m256i, limit: u32) -> bool {
            let within = _mm256_min_epu32(numbers, _mm256_set1_epi32(limit as i32));
            _mm256_movemask_epi8(_mm256_cmpeq_epi32(within, numbers)) == -1
        }
        // Past the caches, which coefficients need.
        fn prefetch_stream(self, from: *const u8) -> () { _mm_prefetch::<_MM_HINT_NTA>(from.cast()) }
        fn unpack_halves(self, both: __m256) -> (__m256, __m256) {
            let slopes = _mm256_and_ps(both, _mm256_castsi256_ps(_mm256_set1_epi32(0xffff_0000_u32 as i32)));
            let intercepts = _mm256_slli_epi32::<16>(_mm256_castps_si256(both));
            (slopes, _mm256_castsi256_ps(intercepts))
        }
    }

    methods! {
        unsafe fn load(self, from: *const f32) -> __m256 { _mm256_loadu_ps(from) }
        unsafe fn load_ints(self, from: *const u32) -> __m256i { _mm256_loadu_si256(from.cast()) }
        unsafe fn store(self, to: *mut f32, numbers: __m256) -> () { _mm256_storeu_ps(to, numbers) }
        unsafe fn store_ints(self, to: *mut u32, numbers: __m256i) -> () { _mm256_storeu_si256(to.cast(), numbers) }
    }

    /// Codes are read one by one, as volatile: the compiler would read a vector and take it apart, which costs more.
    #[inline(always)]
    unsafe fn look_up(self, words: &Words, codes: *const u16) -> (__m256, __m256) {
        let mut places = [words.as_ptr(); 8];
        for (lane, place) in places.iter_mut().enumerate() {
            // SAFETY: the caller promises eight codes, and every code has a word.
            *place = unsafe { place.add(codes.add(lane).read_volatile().into()) };
        }
        // SAFETY: as above.
        unsafe { self.halves(places) }
    }

    #[inline(always)]
    unsafe fn look_up_columns(self, words: &[u64], columns: *const u32) -> (__m256, __m256) {
        let mut places = [words.as_ptr(); 8];
        for (lane, place) in places.iter_mut().enumerate() {
            // SAFETY: the caller promises eight columns that have words.
            *place = unsafe { place.add(*columns.add(lane) as usize) };
        }
        // SAFETY: as above.
        unsafe { self.halves(places) }
    }
}
