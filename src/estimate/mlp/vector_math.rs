//! Exponentials and logarithms that a compiler can turn into vectors, with the same bits on every processor: only
//! additions, multiplications, divisions and square roots, which IEEE 754 rounds in one way, and never fused.

/// `e^x` to about 2e-7 of its value, for all x that are not NaN; 0 and infinity are never reached.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // Adding it rounds to a whole number, in the low bits.
    const ROUND: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    // ln 2 in two parts, of which the first has few bits: the product is exact.
    let rest = x - whole * 0.693_359_4 - whole * -2.121_944_4e-4;
    let mut series = 1.987_569_1e-4f32;
    for next in [1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5e-1] {
        series = series * rest + next;
    }
    let power = (shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127)) << 23;
    (series * rest * rest + rest + 1.0) * f32::from_bits(power)
}

/// The natural logarithm of `1 + y` for y in [0, 1].
#[inline(always)]
pub(super) fn ln_1p(y: f32) -> f32 {
    // With s = y / (2 + y), ln(1 + y) = 2 artanh(s), and s is at most 1/3.
    let s = y / (2.0 + y);
    let square = s * s;
    let mut series = 0.125f32;
    for next in [0.142_857_15, 0.2, 0.333_333_34] {
        series = series * square + next;
    }
    2.0 * (s + s * square * series)
}

/// A probability and two logarithms of one logit.
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

/// `1 / (1 + e^-z)`
#[inline(always)]
pub(super) fn sigmoid(z: f32) -> f32 {
    let small = exp(-z.abs());
    let large = 1.0 / (1.0 + small);
    if z >= 0.0 { large } else { small * large }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the value found, against the one in double precision.
    fn error(found: f32, wanted: f64) -> f64 {
        (f64::from(found) - wanted).abs() / wanted.abs().max(1e-30)
    }

    #[test]
    fn exponentials_and_logarithms_are_right_to_single_precision() {
        for step in -870_000..=870_000 {
            let x = step as f32 * 1e-4;
            assert!(error(exp(x), f64::from(x).exp()) < 4e-7, "exp {x}: {}", exp(x));
        }
        for step in 0..=100_000 {
            let y = step as f32 * 1e-5;
            let wanted = f64::from(y).ln_1p();
            assert!((f64::from(ln_1p(y)) - wanted).abs() <= 2e-6 * wanted, "ln {y}: {} {wanted}", ln_1p(y));
        }
    }

    #[test]
    fn a_probability_and_its_rest_stay_meaningful_at_the_ends() {
        for z in [-200.0f32, -80.0, -20.0, -1.0, 0.0, 1.0, 20.0, 80.0, 200.0] {
            let found = LogitTerms::of(z);
            let wide = f64::from(z);
            let clamped = wide.clamp(-87.0, 87.0);
            assert!(error(found.p, 1.0 / (1.0 + (-clamped).exp())) < 1e-6, "{z} {found:?}");
            assert!(error(found.q, 1.0 / (1.0 + clamped.exp())) < 1e-6, "{z} {found:?}");
            assert!(
                (f64::from(found.cost_p) - ((-wide.abs()).exp().ln_1p() + (-wide).max(0.0))).abs() < 1e-4
            );
            assert!((f64::from(found.cost_q) - ((-wide.abs()).exp().ln_1p() + wide.max(0.0))).abs() < 1e-4);
            assert_eq!(found.p, sigmoid(z));
        }
    }
}
