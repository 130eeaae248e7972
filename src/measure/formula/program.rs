//! Bound formulas as straight-line code over registers of many labels.
//!
//! Each instruction fills one register from earlier ones. A term that occurs twice, such as the `2*tp` of F1, is one instruction.

use super::super::number::Number;
use super::bound_tree::{Fold, Node, Unary};
use super::register::Register;
use super::value_range::ValueRange;

#[derive(Clone, Debug)]
pub(in crate::measure) struct Program {
    /// The number of first registers, which the caller fills.
    leaves: usize,
    /// Instruction `i` fills register `leaves + i`.
    instructions: Vec<Instruction>,
    /// The register with the values of the formula.
    result: usize,
}

/// An instruction whose operands are numbers of registers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Instruction {
    /// The bits of a constant, so that 0 and -0 differ.
    Constant(u64),
    Unary(Unary, usize),
    Binary(Binary, usize, usize),
}

/// An operation on two operands. The quotient is `x / (y + epsilon)`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Binary {
    Fold(Fold),
    Difference,
    Quotient { epsilon: f64 },
}

impl Program {
    pub(in crate::measure) fn new(node: &Node, leaves: usize) -> Program {
        let mut program = Program { leaves, instructions: Vec::new(), result: 0 };
        program.result = program.compile(node);
        program
    }

    /// Returns the register for the value of `node`.
    fn compile(&mut self, node: &Node) -> usize {
        let instruction = match node {
            Node::Leaf(index) => return *index,
            Node::Constant(value) => Instruction::Constant(value.to_bits()),
            Node::Unary(operation, inner) => Instruction::Unary(*operation, self.compile(inner)),
            Node::Quotient(over, under, epsilon) => {
                let over = self.compile(over);
                Instruction::Binary(Binary::Quotient { epsilon: *epsilon }, over, self.compile(under))
            }
            Node::Fold(operation, terms) => {
                let mut folded = self.compile(&terms[0]);
                for term in &terms[1..] {
                    let (operation, term) = match (operation, term) {
                        (Fold::Sum, Node::Unary(Unary::Negate, inner)) => (Binary::Difference, &**inner),
                        _ => (Binary::Fold(*operation), term),
                    };
                    let instruction = Instruction::Binary(operation, folded, self.compile(term));
                    folded = self.push(instruction);
                }
                return folded;
            }
        };
        self.push(instruction)
    }

    /// Returns the register of an instruction, which is added unless an equal one exists.
    fn push(&mut self, instruction: Instruction) -> usize {
        let found = self.instructions.iter().position(|&other| other == instruction);
        let index = found.unwrap_or_else(|| {
            self.instructions.push(instruction);
            self.instructions.len() - 1
        });
        self.leaves + index
    }

    /// Whether the formula depends on this leaf.
    pub(in crate::measure) fn uses(&self, leaf: usize) -> bool {
        let operand = |instruction: &Instruction| match *instruction {
            Instruction::Constant(_) => false,
            Instruction::Unary(_, x) => x == leaf,
            Instruction::Binary(_, x, y) => x == leaf || y == leaf,
        };
        self.result == leaf || self.instructions.iter().any(operand)
    }

    /// The range of the formula for leaves in these ranges, if it is known.
    pub(in crate::measure) fn range(&self, leaves: &[ValueRange]) -> Option<ValueRange> {
        let mut ranges = leaves.to_vec();
        for &instruction in &self.instructions {
            ranges.push(match instruction {
                Instruction::Constant(bits) => ValueRange::new(f64::from_bits(bits), f64::from_bits(bits))?,
                Instruction::Unary(operation, x) => unary_range(operation, ranges[x])?,
                Instruction::Binary(operation, x, y) => binary_range(operation, ranges[x], ranges[y])?,
            });
        }
        Some(ranges[self.result])
    }

    /// Reusable registers for [`Program::run`], with the constants in place.
    pub(in crate::measure) fn registers<C: Register>(&self) -> Vec<C> {
        let leaves = (0..self.leaves).map(|_| 0.0);
        let instructions = self.instructions.iter().map(|instruction| match instruction {
            Instruction::Constant(bits) => f64::from_bits(*bits),
            _ => 0.0,
        });
        leaves.chain(instructions).map(|value| C::filled(C::Number::from_f64(value))).collect()
    }

    /// Evaluates the formula for the leaves in the first registers.
    #[inline(always)]
    pub(in crate::measure) fn run<'a, C: Register>(&self, registers: &'a mut [C]) -> &'a C {
        for (register, &instruction) in (self.leaves..).zip(&self.instructions) {
            let (before, rest) = registers.split_at_mut(register);
            match instruction {
                Instruction::Constant(_) => {}
                Instruction::Unary(operation, x) => apply_unary(operation, &before[x], &mut rest[0]),
                Instruction::Binary(operation, x, y) => {
                    apply_binary(operation, &before[x], &before[y], &mut rest[0])
                }
            }
        }
        &registers[self.result]
    }
}

impl Node {
    pub(in crate::measure) fn evaluate<T: Number>(&self, leaves: &[T]) -> T {
        let program = Program::new(self, leaves.len());
        let mut registers: Vec<[T; 1]> = program.registers();
        for (register, &leaf) in registers.iter_mut().zip(leaves) {
            *register = [leaf];
        }
        program.run(&mut registers)[0]
    }
}

#[inline(always)]
fn apply_unary<C: Register>(operation: Unary, x: &C, out: &mut C) {
    match operation {
        Unary::Negate => map_lanes(x, x, out, |x, _| x.neg()),
        Unary::Sqrt { epsilon } => map_lanes(x, x, out, |x, _| x.sqrt(epsilon)),
        Unary::Power { exponent, epsilon } => map_lanes(x, x, out, |x, _| x.powf(exponent, epsilon)),
        Unary::Log { epsilon } => map_lanes(x, x, out, |x, _| x.add(C::Number::from_f64(epsilon)).ln()),
        Unary::Exp => map_lanes(x, x, out, |x, _| x.exp()),
        Unary::Abs => map_lanes(x, x, out, |x, _| x.abs()),
    }
}

#[inline(always)]
fn apply_binary<C: Register>(operation: Binary, x: &C, y: &C, out: &mut C) {
    match operation {
        Binary::Fold(Fold::Sum) => map_lanes(x, y, out, |x, y| x.add(y)),
        Binary::Fold(Fold::Product) => map_lanes(x, y, out, |x, y| x.mul(y)),
        Binary::Fold(Fold::Min) => map_lanes(x, y, out, |x, y| x.min(y)),
        Binary::Fold(Fold::Max) => map_lanes(x, y, out, |x, y| x.max(y)),
        Binary::Fold(Fold::Harmonic { epsilon }) => {
            let two = C::Number::from_f64(2.0);
            map_lanes(x, y, out, |x, y| two.mul(x).mul(y).div(x.add(y), epsilon))
        }
        Binary::Difference => map_lanes(x, y, out, |x, y| x.sub(y)),
        Binary::Quotient { epsilon } => map_lanes(x, y, out, |x, y| x.div(y, epsilon)),
    }
}

fn unary_range(operation: Unary, x: ValueRange) -> Option<ValueRange> {
    match operation {
        Unary::Negate => x.neg(),
        Unary::Sqrt { .. } => x.sqrt(),
        Unary::Power { exponent, .. } => x.power(exponent),
        Unary::Abs => x.max(x.neg()?),
        // Not needed for metrics that are 0 without true positives.
        Unary::Log { .. } | Unary::Exp => None,
    }
}

fn binary_range(operation: Binary, x: ValueRange, y: ValueRange) -> Option<ValueRange> {
    match operation {
        Binary::Fold(Fold::Sum) => x.add(y),
        Binary::Fold(Fold::Product) => x.mul(y),
        Binary::Fold(Fold::Min) => x.min(y),
        Binary::Fold(Fold::Max) => x.max(y),
        Binary::Fold(Fold::Harmonic { epsilon }) => x.add(x)?.mul(y)?.div(x.add(y)?, epsilon),
        Binary::Difference => x.add(y.neg()?),
        Binary::Quotient { epsilon } => x.div(y, epsilon),
    }
}

/// Applies an operation to every lane. As arguments of a function, registers are known not to overlap, without which the loop
/// would not be vectorised.
#[inline(always)]
pub(in crate::measure) fn map_lanes<C: Register>(
    x: &C,
    y: &C,
    out: &mut C,
    operation: impl Fn(C::Number, C::Number) -> C::Number,
) {
    for lane in 0..C::LANES {
        out.set(lane, operation(x.get(lane), y.get(lane)));
    }
}
