//! A bound formula as straight-line code over registers of labels.
//!
//! Each instruction fills one register from registers before it, so a formula is walked once for many labels. What
//! occurs twice in a formula, such as the `2*tp` of F1, is one instruction.

use super::super::number::Number;
use super::bound_tree::{Fold, Node, Unary};
use super::register::Register;
use super::value_range::ValueRange;

#[derive(Clone, Debug)]
pub(in crate::measure) struct Program {
    /// The first registers, which the caller fills.
    leaves: usize,
    /// Instruction `i` fills register `leaves + i`.
    instructions: Vec<Instruction>,
    /// The register with the values of the formula.
    result: usize,
}

/// Operands are numbers of registers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Instruction {
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
        let mut program = Program { leaves, instructions: Vec::new(), result: 0 };
        program.result = program.compile(node);
        program
    }

    /// The register that will hold the value of `node`.
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

    /// The register of an instruction, which is a new one only if no instruction before does the same.
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

    /// The values that the formula can have for leaves in these ranges, when all instructions keep to one.
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

    /// Columns for [`Program::run`], to be used again and again: the constants are in place.
    pub(in crate::measure) fn registers<C: Register>(&self) -> Vec<C> {
        let leaves = (0..self.leaves).map(|_| 0.0);
        let instructions = self.instructions.iter().map(|instruction| match instruction {
            Instruction::Constant(bits) => f64::from_bits(*bits),
            _ => 0.0,
        });
        leaves.chain(instructions).map(|value| C::filled(C::Number::from_f64(value))).collect()
    }

    /// The values of the formula for the leaves in the first registers.
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
    /// The value for one set of leaves.
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
        // No metric that is 0 where nothing is found is made of these.
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

/// Always inlined, so that it is compiled for the instructions of its caller. The registers are arguments of a
/// function, by which they are known not to overlap: otherwise the loop is not vectorised.
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
