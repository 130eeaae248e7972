//! All names of the formula language, in tables for the lexer, the parser and the help text.

use super::syntax::{AggregationKind, Function};

/// A name for a formula.
#[derive(Debug, PartialEq)]
pub(in crate::measure) struct NamedFormula {
    pub name: &'static str,
    /// Whether the name takes a constant, named `B` in the formula.
    pub parameter: bool,
    pub formula: &'static str,
    pub about: &'static str,
}

const fn named_formula(name: &'static str, formula: &'static str, about: &'static str) -> NamedFormula {
    NamedFormula { name, parameter: false, formula, about }
}

/// Measures of one label: those of Table 1, and their parts.
pub(in crate::measure) const LABEL_MEASURES: &[NamedFormula] = &[
    named_formula("accuracy", "tp+tn", "rows that are right"),
    named_formula("precision", "tp/(tp+fp)", "predictions that are right"),
    named_formula("recall", "tp/(tp+fn)", "positives that are found"),
    named_formula("specificity", "tn/(tn+fp)", "negatives that are left alone"),
    named_formula("f1", "2*tp/(2*tp+fp+fn)", "harmonic mean of precision and recall"),
    NamedFormula {
        name: "fbeta",
        parameter: true,
        formula: "(1+B^2)*tp/((1+B^2)*tp+B^2*fn+fp)",
        about: "F-measure in which recall counts B times as much as precision",
    },
    named_formula("jaccard", "tp/(tp+fp+fn)", "intersection over union"),
    named_formula("balanced-accuracy", "0.5*tp/(tp+fn)+0.5*tn/(tn+fp)", "mean of recall and specificity"),
    named_formula("gmean", "sqrt(tp/(tp+fn)*(tn/(tn+fp)))", "geometric mean of recall and specificity"),
    named_formula("hmean", "hmean(tp/(tp+fn), tn/(tn+fp))", "harmonic mean of recall and specificity"),
    named_formula(
        "auc",
        "(2*tp*tn+tp*fp+fn*tn)/(2*(tp+fn)*(fp+tn))",
        "area under the curve of the one threshold",
    ),
];

/// Measures of all labels together.
pub(in crate::measure) const GLOBAL_MEASURES: &[NamedFormula] = &[
    named_formula("instance-precision", "sum(tp)/k", "precision at k, averaged over rows"),
    named_formula("coverage", "macro(tp/tp)", "labels that are right at least once (smoothed by epsilon)"),
];

pub(super) const CELLS: [&str; 4] = ["tp", "fp", "fn", "tn"];

const AGGREGATIONS: &[(&str, AggregationKind, &str)] = &[
    ("macro", AggregationKind::Macro, "mean over labels"),
    ("micro", AggregationKind::Micro, "the formula of the mean cells"),
    ("sum", AggregationKind::Sum, "sum over labels"),
    ("gmean-labels", AggregationKind::GeometricMean, "geometric mean over labels"),
    ("hmean-labels", AggregationKind::HarmonicMean, "harmonic mean over labels"),
    ("min-labels", AggregationKind::Minimum, "the worst label"),
];

const FUNCTIONS: &[(&str, Function, &str)] = &[
    ("sqrt", Function::Sqrt, "sqrt(x), square root"),
    ("log", Function::Log, "log(x), natural logarithm of x + epsilon"),
    ("exp", Function::Exp, "exp(x)"),
    ("abs", Function::Abs, "abs(x)"),
    ("min", Function::Min, "min(x, y, ...)"),
    ("max", Function::Max, "max(x, y, ...)"),
    ("mean", Function::Mean, "mean(x, y, ...), arithmetic"),
    ("gmean", Function::GeometricMean, "gmean(x, y, ...), geometric mean"),
    ("hmean", Function::HarmonicMean, "hmean(x, y, ...), harmonic mean"),
];

pub(in crate::measure) const EXAMPLES: &[&str] = &[
    "macro-f1",
    "macro-fbeta(2)",
    "0.3*instance-precision + 0.7*macro-f1",
    "hmean(macro-precision, macro-recall)",
    "macro(2*tp/(2*tp+fp+fn))",
    "gmean-labels(recall)",
    "min(macro-recall, micro-precision)",
];

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Definition {
    Cell(usize),
    Budget,
    Function(Function, &'static str),
    Aggregation(AggregationKind, &'static str),
    LabelMeasure(&'static NamedFormula),
    GlobalMeasure(&'static NamedFormula),
    Averaged(AggregationKind, &'static NamedFormula),
}

/// Looks up a name. `gmean` and `hmean` are functions if called, and measures of one label otherwise.
pub(super) fn lookup(name: &str, called: bool) -> Option<Definition> {
    let function = || FUNCTIONS.iter().find(|f| f.0 == name).map(|f| Definition::Function(f.1, f.0));
    let binary = || find(LABEL_MEASURES, name).map(Definition::LabelMeasure);
    if name == "k" {
        return Some(Definition::Budget);
    }
    if let Some(cell) = CELLS.iter().position(|&cell| cell == name) {
        return Some(Definition::Cell(cell));
    }
    if let Some(aggregation) = AGGREGATIONS.iter().find(|a| a.0 == name) {
        return Some(Definition::Aggregation(aggregation.1, aggregation.0));
    }
    if let Some(whole) = find(GLOBAL_MEASURES, name) {
        return Some(Definition::GlobalMeasure(whole));
    }
    for (prefix, kind) in [("macro-", AggregationKind::Macro), ("micro-", AggregationKind::Micro)] {
        if let Some(measure) = name.strip_prefix(prefix).and_then(|rest| find(LABEL_MEASURES, rest)) {
            return Some(Definition::Averaged(kind, measure));
        }
    }
    if called { function().or_else(binary) } else { binary().or_else(function) }
}

fn find(table: &'static [NamedFormula], name: &str) -> Option<&'static NamedFormula> {
    table.iter().find(|entry| entry.name == name)
}

/// All names, for suggestions.
pub(super) fn names() -> impl Iterator<Item = String> {
    let averaged =
        LABEL_MEASURES.iter().flat_map(|e| [format!("macro-{}", e.name), format!("micro-{}", e.name)]);
    let plain = CELLS.iter().copied().chain(["k"]);
    let plain = plain.chain(LABEL_MEASURES.iter().chain(GLOBAL_MEASURES).map(|e| e.name));
    let plain = plain.chain(AGGREGATIONS.iter().map(|a| a.0)).chain(FUNCTIONS.iter().map(|f| f.0));
    averaged.chain(plain.map(str::to_string))
}

/// The text of `macrok fit --metric help`.
pub fn catalogue_help() -> String {
    let call = |prefix: &str, e: &NamedFormula| {
        (format!("{prefix}{}{}", e.name, if e.parameter { "(B)" } else { "" }), e.formula, e.about)
    };
    [
        "A metric is a name below, or any formula of them.\n".to_string(),
        section(
            "Measures of one label, averaged (micro-NAME for the mean cells)",
            LABEL_MEASURES.iter().map(|e| call("macro-", e)).collect(),
        ),
        section("Measures of all labels", GLOBAL_MEASURES.iter().map(|e| call("", e)).collect()),
        section(
            "Aggregations over labels; inside, tp fp fn tn (fractions of the rows) and the names of one label",
            AGGREGATIONS.iter().map(|a| (format!("{}(f)", a.0), a.2, "")).collect(),
        ),
        section(
            "Functions, besides + - * / and ^ with a constant exponent",
            FUNCTIONS.iter().map(|f| (f.0.to_string(), f.2, "")).collect(),
        ),
        "\nThe number k is the budget. A quotient x/y is x/(y + epsilon) unless y is a constant.\n".to_string(),
        section("Examples", EXAMPLES.iter().map(|example| (example.to_string(), "", "")).collect()),
    ]
    .concat()
}

fn section(title: &str, rows: Vec<(String, &str, &str)>) -> String {
    let first = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
    let second = rows.iter().map(|row| row.1.len()).max().unwrap_or(0);
    let lines = rows.iter().map(|(name, formula, about)| {
        let line = format!("  {name:first$}  {formula:second$}  {about}");
        format!("{}\n", line.trim_end())
    });
    format!("\n{title}\n{}", lines.collect::<String>())
}
