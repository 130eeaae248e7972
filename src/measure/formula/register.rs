//! Registers: operands of formulas for many labels side by side.

use super::super::number::{Dual, Number};

/// A number for each of a fixed number of lanes. Operations are loops over lanes, which the compiler vectorises.
pub(in crate::measure) trait Register {
    type Number: Number;
    const LANES: usize;

    fn filled(number: Self::Number) -> Self;
    fn get(&self, lane: usize) -> Self::Number;
    fn set(&mut self, lane: usize, number: Self::Number);
}

impl<T: Number, const L: usize> Register for [T; L] {
    type Number = T;
    const LANES: usize = L;

    fn filled(number: T) -> [T; L] {
        [number; L]
    }

    #[inline(always)]
    fn get(&self, lane: usize) -> T {
        self[lane]
    }

    #[inline(always)]
    fn set(&mut self, lane: usize, number: T) {
        self[lane] = number;
    }
}

/// Numbers with four partial derivatives, in separate arrays so that loops over them are vectorised.
#[derive(Clone, Debug)]
pub(in crate::measure) struct DualRegister<const L: usize> {
    pub values: [f64; L],
    pub partials: [[f64; L]; 4],
}

impl<const L: usize> Register for DualRegister<L> {
    type Number = Dual<4>;
    const LANES: usize = L;

    fn filled(number: Dual<4>) -> DualRegister<L> {
        DualRegister { values: [number.value; L], partials: number.partials.map(|partial| [partial; L]) }
    }

    #[inline(always)]
    fn get(&self, lane: usize) -> Dual<4> {
        let [a, b, c, d] = &self.partials;
        Dual { value: self.values[lane], partials: [a[lane], b[lane], c[lane], d[lane]] }
    }

    #[inline(always)]
    fn set(&mut self, lane: usize, number: Dual<4>) {
        self.values[lane] = number.value;
        let [a, b, c, d] = &mut self.partials;
        (a[lane], b[lane], c[lane], d[lane]) = number.partials.into();
    }
}
