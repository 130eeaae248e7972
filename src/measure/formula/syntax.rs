//! The syntax tree of a formula, before the budget and epsilon are known.

/// An expression; what a leaf stands for depends on the level (see the module).
#[derive(Clone, Debug, PartialEq)]
pub(in crate::measure) enum Expr {
    Number(f64),
    /// The budget `k`.
    Budget,
    /// Inside an aggregation the number of a cell, outside the number of an aggregation.
    Leaf(usize),
    Negate(Box<Expr>),
    /// Lists, not pairs: a sum of a thousand terms is one level deep.
    Sum(Vec<Expr>),
    Product(Vec<Expr>),
    Quotient(Box<Expr>, Box<Expr>),
    Power(Box<Expr>, Box<Expr>),
    Call(Function, Vec<Expr>),
}

impl Expr {
    /// Whether no cell and no aggregation occurs in it.
    pub(super) fn is_constant(&self) -> bool {
        match self {
            Expr::Number(_) | Expr::Budget => true,
            Expr::Leaf(_) => false,
            Expr::Negate(inner) => inner.is_constant(),
            Expr::Sum(terms) | Expr::Product(terms) | Expr::Call(_, terms) => {
                terms.iter().all(Expr::is_constant)
            }
            Expr::Quotient(a, b) | Expr::Power(a, b) => a.is_constant() && b.is_constant(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::measure) enum Function {
    Sqrt,
    Log,
    Exp,
    Abs,
    Min,
    Max,
    Mean,
    GeometricMean,
    HarmonicMean,
}

/// How the values of one binary formula over all labels become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::measure) enum AggregationKind {
    /// The mean over labels (Equation eq:macro_averaged_metric).
    Macro,
    /// The formula of the mean cells.
    Micro,
    Sum,
    GeometricMean,
    HarmonicMean,
    Minimum,
}

/// One aggregation over labels and the binary formula inside it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::measure) struct Aggregation {
    pub kind: AggregationKind,
    pub body: Expr,
}

/// A whole metric: a formula of aggregations.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::measure) struct Formula {
    pub aggregations: Vec<Aggregation>,
    pub outer: Expr,
}
