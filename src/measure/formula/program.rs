//! A bound formula as straight-line code over columns of labels.
//!
//! Each step fills one column from columns before it, so a formula is walked once for many labels. What
//! occurs twice in a formula, such as the `2*tp` of F1, is one step.

use super::super::number::Number;
use super::column::Column;
use super::node::{Fold, Node, Unary};
use super::range::ValueRange;

#[derive(Clone, Debug)]
pub(in crate::measure) struct Program {
    /// The first columns, which the caller fills.
    leaves: usize,
    /// Step `i` fills column `leaves + i`.
    steps: Vec<Step>,
    /// The column with the values of the formula.
    result: usize,
}

/// Operands are numbers of columns.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// By its bits, so that 0 and -0 are two constants.
    Constant(u64),
    Unary(Unary, usize),
    Binary(Binary, usize, usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Binary {
    Fold(Fold),
    Difference,
    /// `x / (y + epsilon)`.
    Quotient {
        epsilon: f64,
    },
}

impl Program {
    pub(in crate::measure) fn new(node: &Node, leaves: usize) -> Program {
        let mut program = Program { leaves, steps: Vec::new(), result: 0 };
        program.result = program.compile(node);
        program
    }

    /// The column that will hold the value of `node`.
    fn compile(&mut self, node: &Node) -> usize {
        let step = match node {
            Node::Leaf(index) => return *index,
            Node::Constant(value) => Step::Constant(value.to_bits()),
            Node::Unary(operation, inner) => Step::Unary(*operation, self.compile(inner)),
            Node::Quotient(over, under, epsilon) => {
                let over = self.compile(over);
                Step::Binary(Binary::Quotient { epsilon: *epsilon }, over, self.compile(under))
            }
            Node::Fold(operation, terms) => {
                let mut folded = self.compile(&terms[0]);
                for term in &terms[1..] {
                    let (operation, term) = match (operation, term) {
                        (Fold::Sum, Node::Unary(Unary::Negate, inner)) => (Binary::Difference, &**inner),
                        _ => (Binary::Fold(*operation), term),
                    };
                    let step = Step::Binary(operation, folded, self.compile(term));
                    folded = self.push(step);
                }
                return folded;
            }
        };
        self.push(step)
    }

    /// The column of a step, which is a new one only if no step before does the same.
    fn push(&mut self, step: Step) -> usize {
        let found = self.steps.iter().position(|&other| other == step);
        let index = found.unwrap_or_else(|| {
            self.steps.push(step);
            self.steps.len() - 1
        });
        self.leaves + index
    }

    /// Whether the formula depends on this leaf.
    pub(in crate::measure) fn uses(&self, leaf: usize) -> bool {
        let operand = |step: &Step| match *step {
            Step::Constant(_) => false,
            Step::Unary(_, x) => x == leaf,
            Step::Binary(_, x, y) => x == leaf || y == leaf,
        };
        self.result == leaf || self.steps.iter().any(operand)
    }

    /// The values that the formula can have for leaves in these ranges, when all steps keep to one.
    pub(in crate::measure) fn range(&self, leaves: &[ValueRange]) -> Option<ValueRange> {
        let mut ranges = leaves.to_vec();
        for &step in &self.steps {
            ranges.push(match step {
                Step::Constant(bits) => ValueRange::new(f64::from_bits(bits), f64::from_bits(bits))?,
                Step::Unary(operation, x) => unary_range(operation, ranges[x])?,
                Step::Binary(operation, x, y) => binary_range(operation, ranges[x], ranges[y])?,
            });
        }
        Some(ranges[self.result])
    }

    /// Columns for [`Program::run`], to be used again and again: the constants are in place.
    pub(in crate::measure) fn columns<C: Column>(&self) -> Vec<C> {
        let leaves = (0..self.leaves).map(|_| 0.0);
        let steps = self.steps.iter().map(|step| match step {
            Step::Constant(bits) => f64::from_bits(*bits),
            _ => 0.0,
        });
        leaves.chain(steps).map(|value| C::filled(C::Number::from_f64(value))).collect()
    }

    /// The values of the formula for the leaves in the first columns.
    #[inline(always)]
    pub(in crate::measure) fn run<'a, C: Column>(&self, columns: &'a mut [C]) -> &'a C {
        for (column, &step) in (self.leaves..).zip(&self.steps) {
            let (before, rest) = columns.split_at_mut(column);
            match step {
                Step::Constant(_) => {}
                Step::Unary(operation, x) => apply(operation, &before[x], &mut rest[0]),
                Step::Binary(operation, x, y) => combine(operation, &before[x], &before[y], &mut rest[0]),
            }
        }
        &columns[self.result]
    }
}

impl Node {
    /// The value for one set of leaves.
    pub(in crate::measure) fn scalar<T: Number>(&self, leaves: &[T]) -> T {
        let program = Program::new(self, leaves.len());
        let mut columns: Vec<[T; 1]> = program.columns();
        for (column, &leaf) in columns.iter_mut().zip(leaves) {
            *column = [leaf];
        }
        program.run(&mut columns)[0]
    }
}

#[inline(always)]
fn apply<C: Column>(operation: Unary, x: &C, out: &mut C) {
    match operation {
        Unary::Negate => each(x, x, out, |x, _| x.neg()),
        Unary::Sqrt { epsilon } => each(x, x, out, |x, _| x.sqrt(epsilon)),
        Unary::Power { exponent, epsilon } => each(x, x, out, |x, _| x.powf(exponent, epsilon)),
        Unary::Log { epsilon } => each(x, x, out, |x, _| x.add(C::Number::from_f64(epsilon)).ln()),
        Unary::Exp => each(x, x, out, |x, _| x.exp()),
        Unary::Abs => each(x, x, out, |x, _| x.abs()),
    }
}

#[inline(always)]
fn combine<C: Column>(operation: Binary, x: &C, y: &C, out: &mut C) {
    match operation {
        Binary::Fold(Fold::Sum) => each(x, y, out, |x, y| x.add(y)),
        Binary::Fold(Fold::Product) => each(x, y, out, |x, y| x.mul(y)),
        Binary::Fold(Fold::Least) => each(x, y, out, |x, y| x.min(y)),
        Binary::Fold(Fold::Greatest) => each(x, y, out, |x, y| x.max(y)),
        Binary::Fold(Fold::Harmonic { epsilon }) => {
            let two = C::Number::from_f64(2.0);
            each(x, y, out, |x, y| two.mul(x).mul(y).div(x.add(y), epsilon))
        }
        Binary::Difference => each(x, y, out, |x, y| x.sub(y)),
        Binary::Quotient { epsilon } => each(x, y, out, |x, y| x.div(y, epsilon)),
    }
}

fn unary_range(operation: Unary, x: ValueRange) -> Option<ValueRange> {
    match operation {
        Unary::Negate => x.neg(),
        Unary::Sqrt { .. } => x.sqrt(),
        Unary::Power { exponent, .. } => x.power(exponent),
        Unary::Abs => x.greatest(x.neg()?),
        // No metric that is 0 where nothing is found is made of these.
        Unary::Log { .. } | Unary::Exp => None,
    }
}

fn binary_range(operation: Binary, x: ValueRange, y: ValueRange) -> Option<ValueRange> {
    match operation {
        Binary::Fold(Fold::Sum) => x.add(y),
        Binary::Fold(Fold::Product) => x.mul(y),
        Binary::Fold(Fold::Least) => x.least(y),
        Binary::Fold(Fold::Greatest) => x.greatest(y),
        Binary::Fold(Fold::Harmonic { epsilon }) => x.add(x)?.mul(y)?.div(x.add(y)?, epsilon),
        Binary::Difference => x.add(y.neg()?),
        Binary::Quotient { epsilon } => x.div(y, epsilon),
    }
}

/// Always inlined, so that it is compiled for the instructions of its caller. The columns are arguments of a
/// function, by which they are known not to overlap: otherwise the loop is not vectorised.
#[inline(always)]
pub(in crate::measure) fn each<C: Column>(
    x: &C,
    y: &C,
    out: &mut C,
    operation: impl Fn(C::Number, C::Number) -> C::Number,
) {
    for lane in 0..C::LANES {
        out.set(lane, operation(x.get(lane), y.get(lane)));
    }
}
