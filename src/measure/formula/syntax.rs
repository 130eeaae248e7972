//! The syntax tree of a formula, before the budget and epsilon are known.

/// An expression, whose leaves depend on its level; see [`super`].
#[derive(Clone, Debug, PartialEq)]
pub(in crate::measure) enum Expr {
    Number(f64),
    /// `k`
    Budget,
    /// The number of a cell inside an aggregation, and of an aggregation outside.
    Leaf(usize),
    Negate(Box<Expr>),
    /// A list of any length, one level deep.
    Sum(Vec<Expr>),
    Product(Vec<Expr>),
    Quotient(Box<Expr>, Box<Expr>),
    Power(Box<Expr>, Box<Expr>),
    Call(Function, Vec<Expr>),
}

impl Expr {
    /// Whether it contains neither a cell nor an aggregation.
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

/// The way to combine the values of a binary formula for all labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::measure) enum AggregationKind {
    /// The mean over labels (Equation 3).
    Macro,
    /// The formula on mean cells.
    Micro,
    Sum,
    GeometricMean,
    HarmonicMean,
    Minimum,
}

/// An aggregation over labels and its binary formula.
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
