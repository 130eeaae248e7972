//! A recursive descent parser.

use super::bound_tree::{Node, lower};
use super::catalogue::{CELLS, Definition, NamedFormula, lookup};
use super::error::{FormulaErrorKind, MAX_DEPTH};
use super::lexer::{ParseResult, PlacedToken, Token, tokens};
use super::syntax::{Aggregation, AggregationKind, Expr, Formula, Function};

/// The name of the parameter in formulas of the catalogue.
pub(super) const PARAMETER: &str = "B";

pub(super) fn parse(text: &str) -> ParseResult<Formula> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        next: 0,
        end: text.chars().count(),
        in_aggregation: false,
        depth: 0,
        parameter: None,
        aggregations: Vec::new(),
    };
    let Some(&(_, start)) = parser.tokens.first() else {
        return Err((FormulaErrorKind::Empty, 0));
    };
    let outer = parser.sum()?.expr;
    parser.expect_end()?;
    if outer.is_constant() {
        return Err((FormulaErrorKind::Constant, start));
    }
    Ok(Formula { aggregations: parser.aggregations, outer })
}

/// An expression, the height of its tree, and its start.
struct Parsed {
    expr: Expr,
    height: usize,
    at: usize,
}

struct Parser {
    tokens: Vec<PlacedToken>,
    next: usize,
    /// The place of missing tokens, behind the last character.
    end: usize,
    /// Whether cells are in scope.
    in_aggregation: bool,
    depth: usize,
    parameter: Option<Expr>,
    aggregations: Vec<Aggregation>,
}

impl Parser {
    fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |&(_, at)| at)
    }

    fn peek(&self) -> Option<char> {
        match self.tokens.get(self.next) {
            Some(&(Token::Symbol(symbol), _)) => Some(symbol),
            _ => None,
        }
    }

    fn accept(&mut self, symbol: char) -> bool {
        let found = self.peek() == Some(symbol);
        self.next += usize::from(found);
        found
    }

    /// The error that the next token is not the expected one.
    fn unexpected<T>(&self, expected: &'static str) -> ParseResult<T> {
        let fault = match self.tokens.get(self.next) {
            None => FormulaErrorKind::UnexpectedEnd { expected },
            Some((Token::Number(number), _)) => {
                FormulaErrorKind::Unexpected { expected, found: number.to_string() }
            }
            Some((Token::Name(name), _)) => FormulaErrorKind::Unexpected { expected, found: name.clone() },
            Some((Token::Symbol(symbol), _)) => {
                FormulaErrorKind::Unexpected { expected, found: symbol.to_string() }
            }
        };
        Err((fault, self.at()))
    }

    fn expect_end(&self) -> ParseResult<()> {
        if self.next == self.tokens.len() { Ok(()) } else { self.unexpected("an operator or the end") }
    }

    fn sum(&mut self) -> ParseResult<Parsed> {
        let mut left = self.product()?;
        while let Some(sign @ ('+' | '-')) = self.peek() {
            self.next += 1;
            let right = self.product()?;
            let (term, height) = match sign {
                '+' => (right.expr, right.height),
                _ => (Expr::Negate(Box::new(right.expr)), right.height + 1),
            };
            left = append(left, Parsed { expr: term, height, at: right.at }, Expr::Sum)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> ParseResult<Parsed> {
        let mut left = self.unary()?;
        while let Some(sign @ ('*' | '/')) = self.peek() {
            self.next += 1;
            let right = self.unary()?;
            left = if sign == '*' {
                append(left, right, Expr::Product)?
            } else {
                // The budget is unknown here. As NaN it is not zero.
                if lower(&right.expr, f64::NAN, 0.0) == Node::Constant(0.0) {
                    return Err((FormulaErrorKind::DivisionByZero, right.at));
                }
                let height = left.height.max(right.height) + 1;
                limit_height(Expr::Quotient(Box::new(left.expr), Box::new(right.expr)), height, left.at)?
            };
        }
        Ok(left)
    }

    /// Counts the depth, because all nesting passes through here.
    fn unary(&mut self) -> ParseResult<Parsed> {
        let at = self.at();
        if self.depth > MAX_DEPTH {
            return Err((FormulaErrorKind::TooDeep, at));
        }
        self.depth += 1;
        let parsed = if self.accept('-') {
            let inner = self.unary()?;
            limit_height(Expr::Negate(Box::new(inner.expr)), inner.height + 1, at)
        } else {
            self.power()
        };
        self.depth -= 1;
        parsed
    }

    fn power(&mut self) -> ParseResult<Parsed> {
        let base = self.primary()?;
        if !self.accept('^') {
            return Ok(base);
        }
        let exponent = self.unary()?;
        if !exponent.expr.is_constant() {
            return Err((FormulaErrorKind::NotConstant { what: "an exponent" }, exponent.at));
        }
        let height = base.height.max(exponent.height) + 1;
        limit_height(Expr::Power(Box::new(base.expr), Box::new(exponent.expr)), height, base.at)
    }

    fn primary(&mut self) -> ParseResult<Parsed> {
        let at = self.at();
        match self.tokens.get(self.next).cloned() {
            Some((Token::Number(number), _)) => {
                self.next += 1;
                limit_height(Expr::Number(number), 1, at)
            }
            Some((Token::Name(name), _)) => {
                self.next += 1;
                self.resolve_name(&name, at)
            }
            Some((Token::Symbol('('), _)) => {
                self.next += 1;
                let inner = self.sum()?;
                self.expect_close(at)?;
                Ok(Parsed { at, ..inner })
            }
            _ => self.unexpected("a number, a name or `(`"),
        }
    }

    fn expect_open(&mut self) -> ParseResult<usize> {
        let at = self.at();
        if self.accept('(') { Ok(at) } else { self.unexpected("`(`") }
    }

    /// Closes the parenthesis opened at `open`.
    fn expect_close(&mut self, open: usize) -> ParseResult<()> {
        if self.accept(')') {
            Ok(())
        } else if self.next == self.tokens.len() {
            Err((FormulaErrorKind::Unclosed, open))
        } else {
            self.unexpected("an operator or `)`")
        }
    }

    fn resolve_name(&mut self, name: &str, at: usize) -> ParseResult<Parsed> {
        if let (PARAMETER, Some(value)) = (name, &self.parameter) {
            return limit_height(value.clone(), 1, at);
        }
        match lookup(name, self.peek() == Some('(')) {
            None => Err((FormulaErrorKind::UnknownName { name: name.to_string(), suggestion: None }, at)),
            Some(Definition::Budget) => limit_height(Expr::Budget, 1, at),
            Some(Definition::Cell(cell)) if self.in_aggregation => limit_height(Expr::Leaf(cell), 1, at),
            Some(Definition::Cell(cell)) => {
                Err((FormulaErrorKind::CellOutside { name: CELLS[cell].to_string() }, at))
            }
            Some(Definition::Function(function, name)) => self.call(function, name, at),
            Some(Definition::Aggregation(kind, name)) => self.aggregation(kind, name, at, |parser| {
                let open = parser.expect_open()?;
                let body = parser.sum()?;
                if parser.peek() == Some(',') {
                    return parser.unexpected("`)`, since an aggregation takes one formula");
                }
                parser.expect_close(open)?;
                Ok(body)
            }),
            Some(Definition::LabelMeasure(entry)) if self.in_aggregation => self.expand(entry, at),
            Some(Definition::LabelMeasure(entry)) => {
                Err((FormulaErrorKind::BinaryOutside { name: entry.name.to_string() }, at))
            }
            Some(Definition::Averaged(kind, entry)) => {
                self.aggregation(kind, name, at, |parser| parser.expand(entry, at))
            }
            Some(Definition::GlobalMeasure(entry)) if self.in_aggregation => {
                Err((FormulaErrorKind::Nested { name: entry.name.to_string() }, at))
            }
            Some(Definition::GlobalMeasure(entry)) => self.expand(entry, at),
        }
    }

    fn call(&mut self, function: Function, name: &'static str, at: usize) -> ParseResult<Parsed> {
        let open = self.expect_open()?;
        let mut arguments = Vec::new();
        let mut height = 0;
        loop {
            let argument = self.sum()?;
            height = height.max(argument.height);
            arguments.push(argument.expr);
            if !self.accept(',') {
                break;
            }
        }
        self.expect_close(open)?;
        use Function::{Abs, Exp, Log, Sqrt};
        let found = arguments.len();
        match (matches!(function, Sqrt | Log | Exp | Abs), found) {
            (true, 2..) => Err((FormulaErrorKind::Arguments { name, expected: "one argument", found }, at)),
            (false, 1) => {
                Err((FormulaErrorKind::Arguments { name, expected: "two arguments or more", found }, at))
            }
            _ => limit_height(Expr::Call(function, arguments), height + 1, at),
        }
    }

    fn aggregation(
        &mut self,
        kind: AggregationKind,
        name: &str,
        at: usize,
        body: impl FnOnce(&mut Parser) -> ParseResult<Parsed>,
    ) -> ParseResult<Parsed> {
        if self.in_aggregation {
            return Err((FormulaErrorKind::Nested { name: name.to_string() }, at));
        }
        self.in_aggregation = true;
        let body = body(self)?.expr;
        self.in_aggregation = false;
        if body.is_constant() {
            return Err((FormulaErrorKind::NothingToAggregate { name: name.to_string() }, at));
        }
        let aggregation = Aggregation { kind, body };
        // Repeated aggregations are evaluated once.
        let known = self.aggregations.iter().position(|other| *other == aggregation);
        let index = known.unwrap_or_else(|| {
            self.aggregations.push(aggregation);
            self.aggregations.len() - 1
        });
        limit_height(Expr::Leaf(index), 1, at)
    }

    /// Parses the formula of a name.
    fn expand(&mut self, entry: &'static NamedFormula, at: usize) -> ParseResult<Parsed> {
        let parameter = if entry.parameter { Some(self.constant_argument()?) } else { None };
        // The only possible error is the depth. It is shown at the name.
        let place = |(fault, _)| (fault, at);
        let tokens = tokens(entry.formula).map_err(place)?;
        let outside = (std::mem::replace(&mut self.tokens, tokens), self.next, self.parameter.take());
        (self.next, self.parameter) = (0, parameter);
        let parsed = self.sum().map_err(place)?;
        (self.tokens, self.next, self.parameter) = outside;
        Ok(Parsed { at, ..parsed })
    }

    fn constant_argument(&mut self) -> ParseResult<Expr> {
        let open = self.expect_open()?;
        let argument = self.sum()?;
        self.expect_close(open)?;
        if argument.expr.is_constant() {
            Ok(argument.expr)
        } else {
            Err((FormulaErrorKind::NotConstant { what: "the parameter of fbeta" }, argument.at))
        }
    }
}

/// Limits the height of the tree, because chains of quotients are deep without parentheses.
fn limit_height(expr: Expr, height: usize, at: usize) -> ParseResult<Parsed> {
    if height > MAX_DEPTH { Err((FormulaErrorKind::TooDeep, at)) } else { Ok(Parsed { expr, height, at }) }
}

/// Adds a term to a sum or a product, which stays one list.
fn append(left: Parsed, term: Parsed, list: fn(Vec<Expr>) -> Expr) -> ParseResult<Parsed> {
    let same = std::mem::discriminant(&left.expr) == std::mem::discriminant(&list(Vec::new()));
    match left.expr {
        Expr::Sum(mut terms) | Expr::Product(mut terms) if same => {
            terms.push(term.expr);
            limit_height(list(terms), left.height.max(term.height + 1), left.at)
        }
        first => limit_height(list(vec![first, term.expr]), left.height.max(term.height) + 1, left.at),
    }
}
