//! The logistic function, several numbers at a time.
//!
//! In plain arithmetic, operation by operation: any processor gives the same bits, whatever its vectors are.

/// 1 / (1 + exp(-x)), within some units in the last place; never above 1, and monotone up to rounding.
#[inline(always)]
pub(super) fn sigmoid(x: f32) -> f32 {
    // Beyond, the result is 1 or below what f32 divides well.
    let x = x.clamp(-80.0, 80.0);
    1.0 / (1.0 + exp(-x))
}

/// exp(x) for -80 <= x <= 80: 2^n times a polynomial.
#[inline(always)]
fn exp(x: f32) -> f32 {
    // Adding and taking away 1.5 * 2^23 rounds to a whole number.
    const ROUND: f32 = 12_582_912.0;
    let whole = x * std::f32::consts::LOG2_E + ROUND;
    let n = whole - ROUND;
    // ln 2 in two parts, so that the product with n is exact.
    let rest = (x - n * 0.693_359_4) + n * 2.121_944_4e-4;
    let polynomial = 1.987_569_1e-4;
    let polynomial = polynomial * rest + 1.398_199_9e-3;
    let polynomial = polynomial * rest + 8.333_452e-3;
    let polynomial = polynomial * rest + 4.166_579_6e-2;
    let polynomial = polynomial * rest + 1.666_666_5e-1;
    let polynomial = polynomial * rest + 5e-1;
    let value = polynomial * (rest * rest) + rest + 1.0;
    // The low bits of `whole` are n.
    let power = (whole.to_bits() << 23).wrapping_add(0x3f80_0000);
    value * f32::from_bits(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_logistic_function() {
        let mut worst = 0.0f64;
        for step in -80_000..=80_000 {
            let x = step as f32 / 1000.0;
            let exact = 1.0 / (1.0 + (-f64::from(x)).exp());
            worst = worst.max((f64::from(sigmoid(x)) - exact).abs() / exact);
        }
        assert!(worst < 4e-7, "relative error {worst}");
    }

    #[test]
    fn the_ends_are_probabilities() {
        assert_eq!(sigmoid(f32::INFINITY), 1.0);
        assert_eq!(sigmoid(100.0), 1.0);
        assert!(sigmoid(f32::NEG_INFINITY) > 0.0 && sigmoid(-100.0) < 1e-30);
        assert_eq!(sigmoid(0.0), 0.5);
    }
}
