//! Exponentials, logarithms and logistic functions that the compiler can vectorise, with the same bits on every
//! processor: they use only additions, multiplications and divisions, which IEEE 754 rounds in one way, and which are
//! never fused.
//!
//! The logistic function exists twice, because the bits of trained models depend on it: [`tree_sigmoid`] of label trees
//! and [`sigmoid`] of networks differ in the last bits. Both share the reduction and series of Cephes' `expf`.

/// Parts of `e^x = (1 + rest + rest^2 * series) * power`, for -87 <= x <= 88. `second` is the second coefficient of the
/// series.
#[inline(always)]
fn exp_parts(x: f32, second: f32) -> (f32, f32, f32) {
    // Adding 1.5 * 2^23 rounds to an integer, in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    // ln 2 in two parts, of which the first has few bits, so that its product is exact.
    let rest = x - whole * 0.693_359_4 - whole * -2.121_944_4e-4;
    let mut series = 1.987_569_1e-4f32;
    for next in [second, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5e-1] {
        series = series * rest + next;
    }
    let power = (shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127)) << 23;
    (rest, series, f32::from_bits(power))
}

/// `1 / (1 + e^-x)` of label trees, to about 4e-7 of its value; never above 1, and monotone up to rounding.
#[inline(always)]
pub(super) fn tree_sigmoid(x: f32) -> f32 {
    // The clamp keeps the result above what f32 divides accurately.
    let (rest, series, power) = exp_parts(-x.clamp(-80.0, 80.0), 1.398_199_9e-3);
    1.0 / (1.0 + (series * (rest * rest) + rest + 1.0) * power)
}

/// `e^x` to about 4e-7 of its value, for all x except NaN; never 0 or infinite.
#[inline(always)]
fn exp(x: f32) -> f32 {
    let (rest, series, power) = exp_parts(x.clamp(-87.0, 88.0), 1.398_2e-3);
    (series * rest * rest + rest + 1.0) * power
}

/// `1 / (1 + e^-z)` of networks.
#[inline(always)]
pub(super) fn sigmoid(z: f32) -> f32 {
    let small = exp(-z.abs());
    let large = 1.0 / (1.0 + small);
    if z >= 0.0 { large } else { small * large }
}

/// `ln x` for x in [0.05, 1].
#[inline(always)]
pub(super) fn ln(x: f32) -> f32 {
    let bits = x.to_bits();
    // x = 2^exponent * rest with rest in [1, 2).
    let exponent = (bits >> 23) as i32 - 127;
    let rest = f32::from_bits((bits & 0x007f_ffff) | 0x3f80_0000);
    ln_1p(rest - 1.0) + exponent as f32 * std::f32::consts::LN_2
}

/// `ln(1 + y)` for y in [0, 1].
#[inline(always)]
fn ln_1p(y: f32) -> f32 {
    // With s = y / (2 + y), ln(1 + y) = 2 artanh(s), and s is at most 1/3.
    let s = y / (2.0 + y);
    let square = s * s;
    let mut series = 0.125f32;
    for next in [0.142_857_15, 0.2, 0.333_333_34] {
        series = series * square + next;
    }
    2.0 * (s + s * square * series)
}

/// A logit's probability and logarithms.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogitTerms {
    /// `1 / (1 + e^-z)`
    pub p: f32,
    /// `1 - p`, without cancellation.
    pub q: f32,
    /// `-ln p`
    pub cost_p: f32,
    /// `-ln q`
    pub cost_q: f32,
}

impl LogitTerms {
    #[inline(always)]
    pub fn of(z: f32) -> LogitTerms {
        let small = exp(-z.abs());
        let large = 1.0 / (1.0 + small);
        let log = ln_1p(small);
        let (p, q) = if z >= 0.0 { (large, small * large) } else { (small * large, large) };
        LogitTerms { p, q, cost_p: log + (-z).max(0.0), cost_q: log + z.max(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The relative error of `found`.
    fn error(found: f32, expected: f64) -> f64 {
        (f64::from(found) - expected).abs() / expected.abs().max(1e-30)
    }

    fn exact_sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }

    #[test]
    fn both_sigmoids_are_the_logistic_function() {
        for step in -80_000..=80_000 {
            let x = step as f32 / 1000.0;
            let exact = exact_sigmoid(f64::from(x));
            for found in [tree_sigmoid(x), sigmoid(x)] {
                assert!(error(found, exact) < 5e-7, "sigmoid {x}: {found}");
            }
        }
    }

    #[test]
    fn the_tree_sigmoid_of_extreme_logits_is_a_probability() {
        assert_eq!(tree_sigmoid(f32::INFINITY), 1.0);
        assert_eq!(tree_sigmoid(100.0), 1.0);
        assert!(tree_sigmoid(f32::NEG_INFINITY) > 0.0 && tree_sigmoid(-100.0) < 1e-30);
        assert_eq!(tree_sigmoid(0.0), 0.5);
    }

    #[test]
    fn exponentials_and_logarithms_are_accurate_to_single_precision() {
        for step in -870_000..=870_000 {
            let x = step as f32 * 1e-4;
            assert!(error(exp(x), f64::from(x).exp()) < 4e-7, "exp {x}: {}", exp(x));
        }
        for step in 0..=100_000 {
            let y = step as f32 * 1e-5;
            let expected = f64::from(y).ln_1p();
            assert!(
                (f64::from(ln_1p(y)) - expected).abs() <= 2e-6 * expected,
                "ln_1p {y}: {} {expected}",
                ln_1p(y)
            );
        }
    }

    #[test]
    fn logit_terms_stay_accurate_for_extreme_logits() {
        for z in [-200.0f32, -80.0, -20.0, -1.0, 0.0, 1.0, 20.0, 80.0, 200.0] {
            let found = LogitTerms::of(z);
            let wide = f64::from(z);
            let clamped = wide.clamp(-87.0, 87.0);
            assert!(error(found.p, exact_sigmoid(clamped)) < 1e-6, "{z} {found:?}");
            assert!(error(found.q, exact_sigmoid(-clamped)) < 1e-6, "{z} {found:?}");
            let log = (-wide.abs()).exp().ln_1p();
            assert!((f64::from(found.cost_p) - (log + (-wide).max(0.0))).abs() < 1e-4);
            assert!((f64::from(found.cost_q) - (log + wide.max(0.0))).abs() < 1e-4);
            assert_eq!(found.p, sigmoid(z));
        }
    }
}
