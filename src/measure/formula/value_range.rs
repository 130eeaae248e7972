//! Interval arithmetic, for the possible values of formulas.

/// The numbers from `low` to `high`, both finite. Operations return `None` if nothing is known of the result.
///
/// Rounding is monotone, so computed ends also bound rounded results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::measure) struct ValueRange {
    pub low: f64,
    pub high: f64,
}

impl ValueRange {
    pub(in crate::measure) const ZERO: ValueRange = ValueRange { low: 0.0, high: 0.0 };

    pub(in crate::measure) fn new(low: f64, high: f64) -> Option<ValueRange> {
        (low.is_finite() && high.is_finite() && low <= high).then_some(ValueRange { low, high })
    }

    pub(in crate::measure) fn is_zero(self) -> bool {
        self.low == 0.0 && self.high == 0.0
    }

    pub(super) fn neg(self) -> Option<ValueRange> {
        ValueRange::new(-self.high, -self.low)
    }

    pub(super) fn add(self, rhs: ValueRange) -> Option<ValueRange> {
        ValueRange::new(self.low + rhs.low, self.high + rhs.high)
    }

    pub(super) fn mul(self, rhs: ValueRange) -> Option<ValueRange> {
        self.corners(rhs, |x, y| x * y)
    }

    /// `self / (rhs + epsilon)`, if the denominator is positive.
    pub(super) fn div(self, rhs: ValueRange, epsilon: f64) -> Option<ValueRange> {
        let under = rhs.add(ValueRange::new(epsilon, epsilon)?)?;
        (under.low > 0.0).then(|| self.corners(under, |x, y| x / y)).flatten()
    }

    pub(super) fn min(self, rhs: ValueRange) -> Option<ValueRange> {
        ValueRange::new(self.low.min(rhs.low), self.high.min(rhs.high))
    }

    pub(super) fn max(self, rhs: ValueRange) -> Option<ValueRange> {
        ValueRange::new(self.low.max(rhs.low), self.high.max(rhs.high))
    }

    pub(super) fn sqrt(self) -> Option<ValueRange> {
        ValueRange::new(self.low.sqrt(), self.high.sqrt())
    }

    /// A positive power. Libraries need not compute monotone powers, so the ends are generous.
    pub(super) fn power(self, exponent: f64) -> Option<ValueRange> {
        match self {
            _ if exponent <= 0.0 || self.low < 0.0 => None,
            _ if self.is_zero() => Some(ValueRange::ZERO),
            _ => ValueRange::new(0.0, 2.0 * self.high.powf(exponent).max(1.0)),
        }
    }

    fn corners(self, rhs: ValueRange, operation: fn(f64, f64) -> f64) -> Option<ValueRange> {
        let corners =
            [(self.low, rhs.low), (self.low, rhs.high), (self.high, rhs.low), (self.high, rhs.high)]
                .map(|(x, y)| operation(x, y));
        let [first, rest @ ..] = corners;
        ValueRange::new(rest.into_iter().fold(first, f64::min), rest.into_iter().fold(first, f64::max))
    }
}
