//! The formula language: syntax, meaning and error messages.

use proptest::prelude::*;

use super::syntax::Expr;
use super::*;

/// The value of a formula whose only aggregation is `sum( )` over a single label.
fn value(formula: &str) -> f64 {
    let cells = [0.1, 0.2, 0.3, 0.4];
    let formula = parse(formula).unwrap_or_else(|error| panic!("{error}"));
    let bound = |expr: &Expr| lower(expr, 3.0, 0.0);
    let values: Vec<f64> = formula.aggregations.iter().map(|a| bound(&a.body).evaluate(&cells)).collect();
    bound(&formula.outer).evaluate(&values)
}

/// The error of a formula and the column of the caret in the last line of its message.
fn fault(formula: &str) -> (FormulaErrorKind, usize) {
    let error = parse(formula).expect_err(formula);
    let message = error.to_string();
    let lines: Vec<&str> = message.lines().collect();
    let caret = lines[lines.len() - 1].chars().count() - 3;
    assert_eq!(caret, error.column(), "{message}");
    assert!(lines[lines.len() - 1].ends_with('^'), "{message}");
    (error.kind().clone(), error.column())
}

fn unknown(name: &str, suggestion: Option<&str>) -> FormulaErrorKind {
    FormulaErrorKind::UnknownName { name: name.to_string(), suggestion: suggestion.map(str::to_string) }
}

#[test]
fn operators_bind_as_in_arithmetic() {
    for (formula, expected) in [
        ("sum(tp+fp*fn)", 0.1 + 0.2 * 0.3),
        ("sum(tp-fp-fn)", 0.1 - 0.2 - 0.3),
        ("sum(tp/fp/fn)", 0.1 / 0.2 / 0.3),
        ("sum(tp/fp*fn)", 0.1 / 0.2 * 0.3),
        ("sum(tp/(fp*fn))", 0.1 / (0.2 * 0.3)),
        ("sum(-tp^2)", -0.01),
        ("sum((-tp)^2)", 0.01),
        ("sum(tp^2^3)", 0.1f64.powi(8)),
        ("sum(tp^-1)", 10.0),
        ("sum(2*-tp)", -0.2),
        ("sum(tp)*1e-3", 1e-4),
        ("sum(tp)*2E+1", 2.0),
        ("sum(tp)+.5", 0.6),
        ("sum(tp)+k", 3.1),
        ("sum(tp^k)", 0.001),
    ] {
        assert!((value(formula) - expected).abs() < 1e-14, "{formula} is {}", value(formula));
    }
}

#[test]
fn functions_have_their_usual_values() {
    for (formula, expected) in [
        ("sum(sqrt(tn))", 0.4f64.sqrt()),
        ("sum(log(tn))", 0.4f64.ln()),
        ("sum(exp(tn))", 0.4f64.exp()),
        ("sum(abs(tp-tn))", 0.3),
        ("sum(min(fn, tp, tn))", 0.1),
        ("sum(max(fn, tn, tp))", 0.4),
        ("sum(mean(tp, fp, tn))", 0.7 / 3.0),
        ("sum(gmean(tp, tn))", 0.2),
        ("sum(gmean(tp, fp, tn))", 0.008f64.cbrt()),
        ("sum(hmean(tp, tn))", 2.0 * 0.04 / 0.5),
        ("sum(hmean(tp, fp, tn))", 3.0 / (10.0 + 5.0 + 2.5)),
        ("sum(tp)*hmean(1, 3)", 0.15),
        ("sum(tp)*log(exp(2))", 0.2),
    ] {
        assert!((value(formula) - expected).abs() < 1e-14, "{formula} is {}", value(formula));
    }
}

#[test]
fn a_hyphen_joins_words_only_to_a_known_name() {
    assert!((value("sum(tp-fp)") + 0.1).abs() < 1e-15);
    assert!((value("sum(recall-tp)") - (0.25 - 0.1)).abs() < 1e-15);
    assert_eq!(parse("1-macro-f1").unwrap(), parse("1 - macro(f1)").unwrap());
    assert_eq!(parse("macro-f1-macro-recall").unwrap(), parse("macro(f1) - macro(recall)").unwrap());
    assert_eq!(parse("micro-balanced-accuracy").unwrap(), parse("micro(balanced-accuracy)").unwrap());
    assert_eq!(parse("macro-f1-1").unwrap(), parse("macro-f1 - 1").unwrap());
}

#[test]
fn gmean_and_hmean_are_functions_only_when_called() {
    assert_eq!(parse("macro(hmean)").unwrap(), parse("macro(hmean(recall, specificity))").unwrap());
    assert_eq!(parse("macro(gmean)").unwrap(), parse("macro-gmean").unwrap());
    assert_eq!(fault("gmean").0, FormulaErrorKind::BinaryOutside { name: "gmean".into() });
}

#[test]
fn names_stand_for_their_formulas() {
    assert_eq!(parse("coverage").unwrap(), parse("macro(tp/tp)").unwrap());
    assert_eq!(parse("instance-precision").unwrap(), parse("sum(tp)/k").unwrap());
    assert_eq!(parse("macro-fbeta(2)").unwrap(), parse("macro(fbeta(2))").unwrap());
    assert!((value("sum(fbeta(2))") - 0.5 / (0.5 + 4.0 * 0.3 + 0.2)).abs() < 1e-15);
    assert!((value("sum(fbeta(1/2))") - 0.125 / (0.125 + 0.25 * 0.3 + 0.2)).abs() < 1e-15);
}

#[test]
fn equal_aggregations_are_kept_once() {
    let formula = parse("macro-f1 + macro(f1)*macro-recall").unwrap();
    assert_eq!(formula.aggregations.len(), 2);
}

#[test]
fn a_constant_denominator_is_exact_and_another_gets_epsilon() {
    let formula = parse("sum(tp/2) / k").unwrap();
    let bound = |expr: &Expr| lower(expr, 3.0, 0.5);
    assert_eq!(bound(&formula.aggregations[0].body).evaluate(&[0.1, 0.0, 0.0, 0.0]), 0.1 / 2.0);
    assert_eq!(bound(&formula.outer).evaluate(&[0.3]), 0.3 / 3.0);
    let formula = parse("sum(tp/fp)").unwrap();
    assert_eq!(bound(&formula.aggregations[0].body).evaluate(&[0.1, 0.2, 0.0, 0.0]), 0.1 / 0.7);
}

#[test]
fn misspelt_names_get_a_suggestion_and_a_caret() {
    for (formula, name, suggestion, column) in [
        ("makro-f1", "makro-f1", "macro-f1", 0),
        ("0.5*macro-recal", "macro-recal", "macro-recall", 4),
        ("macro(tp/(tp+fpp))", "fpp", "fp", 13),
        ("macro(Recall)", "Recall", "recall", 6),
        ("macro-F1", "macro-F1", "macro-f1", 0),
        ("macro(squrt(tp))", "squrt", "sqrt", 6),
        ("instance-precison + macro-f1", "instance-precison", "instance-precision", 0),
    ] {
        assert_eq!(fault(formula), (unknown(name, Some(suggestion)), column), "{formula}");
    }
    assert_eq!(fault("macro(zebra-crossing)"), (unknown("zebra", None), 6));
    assert_eq!(fault("macro-zebracrossing"), (unknown("macro-zebracrossing", None), 0));
    assert_eq!(fault("B*macro-f1"), (unknown("B", None), 0));
}

#[test]
fn errors_are_located() {
    let end = |expected| FormulaErrorKind::UnexpectedEnd { expected };
    let found = |expected, found: &str| FormulaErrorKind::Unexpected { expected, found: found.to_string() };
    let operand = "a number, a name or `(`";
    for (formula, expected, column) in [
        ("", FormulaErrorKind::Empty, 0),
        (" \t ", FormulaErrorKind::Empty, 0),
        ("macro(tp", FormulaErrorKind::Unclosed, 5),
        ("2*(macro-f1+(1", FormulaErrorKind::Unclosed, 12),
        ("macro-f1 +", end(operand), 10),
        ("macro-f1 * * 2", found(operand, "*"), 11),
        ("macro-f1)", found("an operator or the end", ")"), 8),
        ("macro(2tp)", found("an operator or `)`", "tp"), 7),
        ("macro", end("`(`"), 5),
        ("macro f1", found("`(`", "f1"), 6),
        ("macro-fbeta", end("`(`"), 11),
        ("macro(tp, fp)", found("`)`, since an aggregation takes one formula", ","), 8),
        ("1 + tp", FormulaErrorKind::CellOutside { name: "tp".into() }, 4),
        ("2*recall", FormulaErrorKind::BinaryOutside { name: "recall".into() }, 2),
        ("macro(tp+micro(fp))", FormulaErrorKind::Nested { name: "micro".into() }, 9),
        ("macro(macro-f1)", FormulaErrorKind::Nested { name: "macro-f1".into() }, 6),
        ("macro(coverage)", FormulaErrorKind::Nested { name: "coverage".into() }, 6),
        ("1+sum(2*k)", FormulaErrorKind::NothingToAggregate { name: "sum".into() }, 2),
        (" 1 + k", FormulaErrorKind::Constant, 1),
        ("2^macro-f1", FormulaErrorKind::NotConstant { what: "an exponent" }, 2),
        ("macro(fbeta(tp))", FormulaErrorKind::NotConstant { what: "the parameter of fbeta" }, 12),
        ("macro-f1/(1-1)", FormulaErrorKind::DivisionByZero, 9),
        (
            "macro(sqrt(tp, fp))",
            FormulaErrorKind::Arguments { name: "sqrt", expected: "one argument", found: 2 },
            6,
        ),
        (
            "min(macro-f1)",
            FormulaErrorKind::Arguments { name: "min", expected: "two arguments or more", found: 1 },
            0,
        ),
        (
            "macro-f1 \u{2212} 1",
            FormulaErrorKind::UnexpectedCharacter { found: '\u{2212}', hint: "; write `-`" },
            9,
        ),
        // Columns count characters, not bytes.
        ("macro-f1 + größe", unknown("größe", None), 11),
        ("(\u{3000}macro-f1 + ?", FormulaErrorKind::UnexpectedCharacter { found: '?', hint: "" }, 13),
        ("macro-f1*1e999", found("a number", "1e999"), 9),
        ("macro-f1 + .", found("a number", "."), 11),
    ] {
        assert_eq!(fault(formula), (expected, column), "{formula}");
    }
}

#[test]
fn a_message_shows_the_formula_and_a_caret() {
    let message = parse("1 +\ttp").unwrap_err().to_string();
    let expected = "`tp` is a cell of one label and means nothing outside an aggregation; \
                    write macro(tp/...) or micro(tp/...)\n  1 + tp\n      ^";
    assert_eq!(message, expected);
}

#[test]
fn nesting_stops_at_the_limit() {
    let nested = |levels: usize| format!("{}macro-f1{}", "(".repeat(levels), ")".repeat(levels));
    assert!(parse(&nested(60)).is_ok());
    assert_eq!(fault(&nested(65)), (FormulaErrorKind::TooDeep, 65));
    assert_eq!(fault(&"-".repeat(100_000)).0, FormulaErrorKind::TooDeep);
    assert_eq!(fault(&"(".repeat(100_000)).0, FormulaErrorKind::TooDeep);
    assert_eq!(fault(&format!("macro-f1{}", "^2".repeat(100_000))).0, FormulaErrorKind::TooDeep);
    assert_eq!(fault(&format!("macro-f1{}", "*2/macro-f1".repeat(10_000))), (FormulaErrorKind::TooDeep, 0));
    // A long sum is not deep.
    assert!(parse(&format!("macro-f1{}", "+macro-f1".repeat(10_000))).is_ok());
    assert!(parse(&format!("macro(tp{})", "*2*tp".repeat(10_000))).is_ok());
}

#[test]
fn every_example_and_every_name_parses_and_is_in_the_help() {
    let help = catalogue_help();
    for example in EXAMPLES {
        assert!(parse(example).is_ok(), "{example}");
        assert!(help.lines().any(|line| line.trim() == *example), "{example}");
    }
    for entry in LABEL_MEASURES {
        let call = if entry.parameter { "(2)" } else { "" };
        for prefix in ["macro-", "micro-"] {
            assert!(parse(&format!("{prefix}{}{call}", entry.name)).is_ok(), "{}", entry.name);
        }
    }
    let defines = |name: &str| help.lines().any(|line| line.split([' ', '(']).any(|word| word == name));
    for name in catalogue::names().filter(|name| !name.starts_with("micro-")) {
        assert!(defines(&name) || defines(&format!("macro-{name}")), "{name} is missing in\n{help}");
    }
    assert!(help.contains("micro-NAME"));
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,60}") {
        if let Err(error) = parse(&text) {
            prop_assert!(error.column() <= text.chars().count());
            prop_assert!(error.to_string().ends_with('^'));
        }
    }

    #[test]
    fn no_arrangement_of_tokens_makes_the_parser_panic(
        tokens in prop::collection::vec(prop::sample::select(vec![
            "macro(", "micro-f1", "sum(", "gmean-labels(", "fbeta(", "hmean(", "gmean", "tp", "fn", "k", "B",
            "(", ")", ",", "+", "-", "*", "/", "^", "2", "0", "1e-3", "coverage", " ", "\t", "é", "sqrt(", "-f1",
        ]), 0..25)
    ) {
        let text = tokens.concat();
        match parse(&text) {
            Ok(formula) => {
                lower(&formula.outer, 1.0, 1e-9);
            }
            Err(error) => prop_assert!(error.column() <= text.chars().count()),
        }
    }
}
