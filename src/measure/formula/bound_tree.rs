//! A formula bound to a budget and an epsilon: constants folded, functions lowered to a few operations.

use super::syntax::{Expr, Function};

/// A tree to evaluate. Each operation carries its epsilon, which is 0 if it must be exact.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::measure) enum Node {
    Constant(f64),
    Leaf(usize),
    Unary(Unary, Box<Node>),
    /// Folded from the left; never empty.
    Fold(Fold, Vec<Node>),
    Quotient(Box<Node>, Box<Node>, f64),
}

/// An operation on one operand. Exponents are not negative; negative powers are quotients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::measure) enum Unary {
    Negate,
    Sqrt { epsilon: f64 },
    Power { exponent: f64, epsilon: f64 },
    Log { epsilon: f64 },
    Exp,
    Abs,
}

/// An operation on a list of terms. The harmonic mean `2xy / (x + y + epsilon)` takes two; as a formula, it would contain x and
/// y twice, so that nested ones would grow exponentially.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::measure) enum Fold {
    Sum,
    Product,
    Min,
    Max,
    Harmonic { epsilon: f64 },
}

impl Node {
    fn is_constant(&self) -> bool {
        matches!(self, Node::Constant(_))
    }

    /// Replaces a node by its value if all its parts are constants.
    fn folded(self) -> Node {
        let constant = match &self {
            Node::Constant(_) | Node::Leaf(_) => false,
            Node::Unary(_, inner) => inner.is_constant(),
            Node::Fold(_, terms) => terms.iter().all(Node::is_constant),
            Node::Quotient(over, under, _) => over.is_constant() && under.is_constant(),
        };
        if constant { Node::Constant(self.evaluate::<f64>(&[])) } else { self }
    }
}

/// Binds an expression to a budget and an epsilon.
pub(in crate::measure) fn lower(expr: &Expr, budget: f64, epsilon: f64) -> Node {
    let one = |expr: &Expr| lower(expr, budget, epsilon);
    let all = |terms: &[Expr]| terms.iter().map(one).collect::<Vec<_>>();
    let node = match expr {
        Expr::Number(number) => Node::Constant(*number),
        Expr::Budget => Node::Constant(budget),
        Expr::Leaf(index) => Node::Leaf(*index),
        Expr::Negate(inner) => unary(Unary::Negate, one(inner)),
        Expr::Sum(terms) => Node::Fold(Fold::Sum, all(terms)),
        Expr::Product(terms) => Node::Fold(Fold::Product, all(terms)),
        Expr::Quotient(over, under) => quotient(one(over), one(under), epsilon),
        Expr::Power(base, exponent) => power(one(base), &one(exponent), epsilon),
        Expr::Call(function, arguments) => call(*function, all(arguments), epsilon),
    };
    node.folded()
}

fn unary(operation: Unary, inner: Node) -> Node {
    Node::Unary(operation, Box::new(inner))
}

/// `x / (y + epsilon)`, or `x / y` for a constant y.
fn quotient(over: Node, under: Node, epsilon: f64) -> Node {
    let epsilon = if under.is_constant() { 0.0 } else { epsilon };
    Node::Quotient(Box::new(over), Box::new(under), epsilon)
}

fn power(base: Node, exponent: &Node, epsilon: f64) -> Node {
    // The parser accepts constants only.
    let exponent = if let Node::Constant(exponent) = exponent { *exponent } else { f64::NAN };
    let positive = unary(Unary::Power { exponent: exponent.abs(), epsilon }, base).folded();
    if exponent < 0.0 { quotient(Node::Constant(1.0), positive, epsilon) } else { positive }
}

fn call(function: Function, mut arguments: Vec<Node>, epsilon: f64) -> Node {
    let count = arguments.len() as f64;
    let constant = arguments.iter().all(Node::is_constant);
    let exact = if constant { 0.0 } else { epsilon };
    match function {
        Function::Min => Node::Fold(Fold::Min, arguments),
        Function::Max => Node::Fold(Fold::Max, arguments),
        Function::Mean => quotient(Node::Fold(Fold::Sum, arguments).folded(), Node::Constant(count), epsilon),
        Function::GeometricMean => {
            let root = match count {
                2.0 => Unary::Sqrt { epsilon },
                _ => Unary::Power { exponent: 1.0 / count, epsilon },
            };
            unary(root, Node::Fold(Fold::Product, arguments).folded())
        }
        Function::HarmonicMean if count == 2.0 => Node::Fold(Fold::Harmonic { epsilon: exact }, arguments),
        Function::HarmonicMean => {
            let inverse = |node: Node| quotient(Node::Constant(1.0), node, epsilon).folded();
            let inverses = Node::Fold(Fold::Sum, arguments.into_iter().map(inverse).collect()).folded();
            // Inverses of non-negative numbers do not sum to 0, so this quotient needs no epsilon.
            Node::Quotient(Box::new(Node::Constant(count)), Box::new(inverses), 0.0)
        }
        Function::Sqrt | Function::Log | Function::Exp | Function::Abs => {
            let operation = match function {
                Function::Sqrt => Unary::Sqrt { epsilon },
                Function::Log => Unary::Log { epsilon: exact },
                Function::Exp => Unary::Exp,
                _ => Unary::Abs,
            };
            // The parser has checked that there is one argument.
            unary(operation, arguments.pop().unwrap_or(Node::Constant(f64::NAN)))
        }
    }
}
