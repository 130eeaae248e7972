//! Numbers for evaluating formulas: plain `f64`, and `f64` with exact partial derivatives.

/// Arithmetic of the formula language.
///
/// Derivatives are exact, with one exception: those that are unbounded at 0 (of square roots, and of powers below 1) are taken
/// at `epsilon` for smaller arguments, so that gradients stay finite.
pub trait Number: Copy {
    fn from_f64(value: f64) -> Self;
    fn value(self) -> f64;
    fn add(self, rhs: Self) -> Self;
    fn sub(self, rhs: Self) -> Self;
    fn mul(self, rhs: Self) -> Self;
    fn neg(self) -> Self;
    /// `self / (rhs + epsilon)`.
    fn div(self, rhs: Self, epsilon: f64) -> Self;
    fn sqrt(self, epsilon: f64) -> Self;
    fn ln(self) -> Self;
    fn exp(self) -> Self;
    /// Raises to a constant, non-negative power.
    fn powf(self, exponent: f64, epsilon: f64) -> Self;

    /// The smaller number, or the first of two equal ones.
    #[inline(always)]
    fn min(self, rhs: Self) -> Self {
        if rhs.value() < self.value() || rhs.value().is_nan() { rhs } else { self }
    }

    /// The greater number, or the first of two equal ones.
    #[inline(always)]
    fn max(self, rhs: Self) -> Self {
        if rhs.value() > self.value() || rhs.value().is_nan() { rhs } else { self }
    }

    /// The absolute value. Its derivative at 0 is 0, the subgradient of least norm.
    #[inline(always)]
    fn abs(self) -> Self {
        match self.value() {
            value if value < 0.0 => self.neg(),
            0.0 => Self::from_f64(0.0),
            _ => self,
        }
    }
}

/// Rounding error of a difference of cells. A root of such a negative number is 0, not NaN.
const ROUNDING_ERROR: f64 = 1e-12;

#[inline(always)]
fn clamp_rounding_error(value: f64) -> f64 {
    if value < 0.0 && value > -ROUNDING_ERROR { 0.0 } else { value }
}

impl Number for f64 {
    #[inline(always)]
    fn from_f64(value: f64) -> f64 {
        value
    }
    #[inline(always)]
    fn value(self) -> f64 {
        self
    }
    #[inline(always)]
    fn add(self, rhs: f64) -> f64 {
        self + rhs
    }
    #[inline(always)]
    fn sub(self, rhs: f64) -> f64 {
        self - rhs
    }
    #[inline(always)]
    fn mul(self, rhs: f64) -> f64 {
        self * rhs
    }
    #[inline(always)]
    fn neg(self) -> f64 {
        -self
    }
    #[inline(always)]
    fn div(self, rhs: f64, epsilon: f64) -> f64 {
        self / (rhs + epsilon)
    }
    #[inline(always)]
    fn sqrt(self, _: f64) -> f64 {
        f64::sqrt(clamp_rounding_error(self))
    }
    #[inline(always)]
    fn ln(self) -> f64 {
        f64::ln(self)
    }
    #[inline(always)]
    fn exp(self) -> f64 {
        f64::exp(self)
    }
    #[inline(always)]
    fn powf(self, exponent: f64, _: f64) -> f64 {
        if exponent == 2.0 {
            self * self
        } else if exponent.fract() == 0.0 {
            f64::powf(self, exponent)
        } else {
            f64::powf(clamp_rounding_error(self), exponent)
        }
    }
}

/// A value and its partial derivatives with respect to `N` variables: forward automatic differentiation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<const N: usize> {
    pub value: f64,
    pub partials: [f64; N],
}

impl<const N: usize> Dual<N> {
    pub fn variable(value: f64, index: usize) -> Dual<N> {
        let mut partials = [0.0; N];
        partials[index] = 1.0;
        Dual { value, partials }
    }

    #[inline(always)]
    fn chain(self, value: f64, derivative: f64) -> Dual<N> {
        Dual { value, partials: self.partials.map(|partial| chain_product(derivative, partial)) }
    }

    #[inline(always)]
    fn zip(self, rhs: Dual<N>, value: f64, combine: impl Fn(f64, f64) -> f64) -> Dual<N> {
        Dual { value, partials: std::array::from_fn(|i| combine(self.partials[i], rhs.partials[i])) }
    }
}

/// A product of the chain rule. It is 0 if the partial derivative is, even if the factor is infinite.
#[inline(always)]
fn chain_product(factor: f64, partial: f64) -> f64 {
    if partial == 0.0 { 0.0 } else { factor * partial }
}

impl<const N: usize> Number for Dual<N> {
    #[inline(always)]
    fn from_f64(value: f64) -> Dual<N> {
        Dual { value, partials: [0.0; N] }
    }
    #[inline(always)]
    fn value(self) -> f64 {
        self.value
    }
    #[inline(always)]
    fn add(self, rhs: Dual<N>) -> Dual<N> {
        self.zip(rhs, self.value + rhs.value, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, rhs: Dual<N>) -> Dual<N> {
        self.zip(rhs, self.value - rhs.value, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, rhs: Dual<N>) -> Dual<N> {
        self.zip(rhs, self.value * rhs.value, |a, b| {
            chain_product(rhs.value, a) + chain_product(self.value, b)
        })
    }
    #[inline(always)]
    fn neg(self) -> Dual<N> {
        self.chain(-self.value, -1.0)
    }
    #[inline(always)]
    fn div(self, rhs: Dual<N>, epsilon: f64) -> Dual<N> {
        let under = rhs.value + epsilon;
        let value = self.value / under;
        self.zip(rhs, value, |a, b| {
            let numerator = a - chain_product(value, b);
            if numerator == 0.0 { 0.0 } else { numerator / under }
        })
    }
    #[inline(always)]
    fn sqrt(self, epsilon: f64) -> Dual<N> {
        let derivative = 0.5 / f64::sqrt(self.value.max(epsilon));
        self.chain(Number::sqrt(self.value, epsilon), derivative)
    }
    #[inline(always)]
    fn ln(self) -> Dual<N> {
        self.chain(f64::ln(self.value), 1.0 / self.value)
    }
    #[inline(always)]
    fn exp(self) -> Dual<N> {
        let value = f64::exp(self.value);
        self.chain(value, value)
    }
    #[inline(always)]
    fn powf(self, exponent: f64, epsilon: f64) -> Dual<N> {
        let base = if exponent < 1.0 { self.value.max(epsilon) } else { self.value };
        let derivative =
            if exponent == 0.0 { 0.0 } else { exponent * Number::powf(base, exponent - 1.0, epsilon) };
        self.chain(Number::powf(self.value, exponent, epsilon), derivative)
    }
}
