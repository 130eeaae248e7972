//! Evaluation of a bound formula on many labels at once.
//!
//! Each operation is a loop over `L` lanes, so the compiler turns the `f64` ones into vector instructions
//! and the tree is walked once for `L` labels. A frame of the recursion holds one array of lanes at most:
//! the depth of the tree times its size must fit the stack of a rayon thread.

use super::super::number::Number;
use super::node::{Fold, Node, Unary};

impl Node {
    /// The value for one set of leaves.
    pub(in crate::measure) fn scalar<T: Number>(&self, leaves: &[T]) -> T {
        let lanes: Vec<[T; 1]> = leaves.iter().map(|&leaf| [leaf]).collect();
        let mut out = [T::from_f64(0.0)];
        self.eval(&lanes, &mut out);
        out[0]
    }

    /// The values for `L` sets of leaves; `leaves[i][lane]` is leaf `i` of a lane.
    pub(in crate::measure) fn eval<T: Number, const L: usize>(&self, leaves: &[[T; L]], out: &mut [T; L]) {
        match self {
            Node::Constant(value) => out.fill(T::from_f64(*value)),
            Node::Leaf(index) => out.copy_from_slice(&leaves[*index]),
            Node::Unary(operation, inner) => {
                inner.eval(leaves, out);
                apply(*operation, out);
            }
            Node::Quotient(over, under, epsilon) => {
                over.eval(leaves, out);
                let epsilon = *epsilon;
                under.combine(leaves, out, |x, y| x.div(y, epsilon));
            }
            Node::Fold(operation, terms) => {
                let Some((first, rest)) = terms.split_first() else { return };
                first.eval(leaves, out);
                for term in rest {
                    fold(*operation, term, leaves, out);
                }
            }
        }
    }

    #[inline(never)]
    fn combine<T: Number, const L: usize>(
        &self,
        leaves: &[[T; L]],
        out: &mut [T; L],
        operation: impl Fn(T, T) -> T,
    ) {
        if let Node::Leaf(index) = self {
            return each(out, &leaves[*index], operation);
        }
        let mut other = [T::from_f64(0.0); L];
        self.eval(leaves, &mut other);
        each(out, &other, operation);
    }
}

#[inline(always)]
fn each<T: Number, const L: usize>(out: &mut [T; L], other: &[T; L], operation: impl Fn(T, T) -> T) {
    for (x, &y) in out.iter_mut().zip(other) {
        *x = operation(*x, y);
    }
}

fn fold<T: Number, const L: usize>(operation: Fold, term: &Node, leaves: &[[T; L]], out: &mut [T; L]) {
    match (operation, term) {
        (Fold::Sum, Node::Unary(Unary::Negate, inner)) => inner.combine(leaves, out, T::sub),
        (Fold::Sum, _) => term.combine(leaves, out, T::add),
        (Fold::Product, _) => term.combine(leaves, out, T::mul),
        (Fold::Least, _) => term.combine(leaves, out, T::min),
        (Fold::Greatest, _) => term.combine(leaves, out, T::max),
        (Fold::Harmonic { epsilon }, _) => {
            let two = T::from_f64(2.0);
            term.combine(leaves, out, |x, y| two.mul(x).mul(y).div(x.add(y), epsilon));
        }
    }
}

fn apply<T: Number, const L: usize>(operation: Unary, out: &mut [T; L]) {
    match operation {
        Unary::Negate => out.iter_mut().for_each(|x| *x = x.neg()),
        Unary::Sqrt { epsilon } => out.iter_mut().for_each(|x| *x = x.sqrt(epsilon)),
        Unary::Power { exponent, epsilon } => out.iter_mut().for_each(|x| *x = x.powf(exponent, epsilon)),
        Unary::Log { epsilon } => {
            let epsilon = T::from_f64(epsilon);
            out.iter_mut().for_each(|x| *x = x.add(epsilon).ln());
        }
        Unary::Exp => out.iter_mut().for_each(|x| *x = x.exp()),
        Unary::Abs => out.iter_mut().for_each(|x| *x = x.abs()),
    }
}
