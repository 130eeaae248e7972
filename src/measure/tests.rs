//! Values, gradients and properties of metrics on confusion tensors.

use std::sync::Arc;

use proptest::prelude::*;
use twofloat::TwoFloat;

use super::aggregate::Aggregate;
use super::formula::{AggregationKind, EXAMPLES, GLOBAL_MEASURES, LABEL_MEASURES, lower};
use super::number::{Dual, Number};
use super::*;

const EPSILON: f64 = 1e-9;

fn bind(formula: &str) -> Objective {
    Metric::parse(formula).unwrap_or_else(|error| panic!("{error}")).bind(3, EPSILON)
}

/// A tensor with all cells well inside (0, 1), different for every label and seed.
fn tensor(labels: usize, seed: u64) -> ConfusionTensor {
    let draw = |j: usize, salt: u64| {
        let bits = (j as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ (seed * 4 + salt).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (bits.wrapping_mul(0x94d0_49bb_1331_11eb) >> 40) as f64 / (1u64 << 24) as f64
    };
    let positives: Arc<[f64]> = (0..labels).map(|j| 0.05 + 0.4 * draw(j, 0)).collect();
    let hits = (0..labels).map(|j| positives[j] * (0.1 + 0.8 * draw(j, 1 + 2 * (seed % 2)))).collect();
    let alarms = (0..labels).map(|j| 0.02 + 0.4 * draw(j, 2)).collect();
    ConfusionTensor::from_fractions(hits, alarms, positives)
}

/// All names of the catalogue, averaged both ways, and all examples.
fn formulas() -> Vec<String> {
    let call =
        |e: &formula::NamedFormula| if e.parameter { format!("{}(2)", e.name) } else { e.name.to_string() };
    let mut all: Vec<String> = LABEL_MEASURES
        .iter()
        .flat_map(|e| [format!("macro-{}", call(e)), format!("micro-{}", call(e))])
        .collect();
    all.extend(GLOBAL_MEASURES.iter().map(|e| e.name.to_string()));
    all.extend(EXAMPLES.iter().map(|example| example.to_string()));
    all
}

/// Formulas with functions and aggregations that no name uses.
const UNUSUAL: &[&str] = &[
    "hmean-labels(f1)",
    "min-labels(recall)",
    "gmean-labels(hmean(precision, recall, specificity))",
    "macro(gmean(tp, fn, tn)) * exp(-macro-recall)",
    "log(macro-recall) - abs(micro-precision - 1)^1.5",
    "max(macro-f1, 0.1) / (2 - sum(tp)/k)^3",
    "sqrt(macro-recall)*macro(tp^0.3)*macro((1+tn)^-2)",
    "mean(macro-f1, micro-f1, 0.5)^2 - macro(tp*fp)/7",
];

impl Number for TwoFloat {
    fn from_f64(value: f64) -> TwoFloat {
        TwoFloat::from(value)
    }
    fn value(self) -> f64 {
        self.hi()
    }
    fn add(self, rhs: TwoFloat) -> TwoFloat {
        self + rhs
    }
    fn sub(self, rhs: TwoFloat) -> TwoFloat {
        self - rhs
    }
    fn mul(self, rhs: TwoFloat) -> TwoFloat {
        self * rhs
    }
    fn neg(self) -> TwoFloat {
        -self
    }
    fn div(self, rhs: TwoFloat, epsilon: f64) -> TwoFloat {
        // The library's quotient has some 19 correct digits; one correction makes it 32.
        let under = rhs + epsilon;
        let guess = self / under;
        guess + (self - guess * under) / under
    }
    fn sqrt(self, _: f64) -> TwoFloat {
        TwoFloat::sqrt(self)
    }
    fn ln(self) -> TwoFloat {
        // One step of Newton from the f64 logarithm doubles its digits.
        let guess = TwoFloat::from(self.hi().ln());
        guess + self * Number::exp(-guess) - 1.0
    }
    fn exp(self) -> TwoFloat {
        // The library's function has only 17 correct digits. The series near 0, squared repeatedly, has about 29.
        const HALVINGS: i32 = 8;
        let small = self * 0.5f64.powi(HALVINGS);
        let one = TwoFloat::from(1.0);
        let series =
            (1..=20).rev().fold(one, |tail, n| one + Number::div(small * tail, f64::from(n).into(), 0.0));
        (0..HALVINGS).fold(series, |power, _| power * power)
    }
    fn powf(self, exponent: f64, _: f64) -> TwoFloat {
        if exponent.fract() == 0.0 {
            self.powi(exponent as i32)
        } else {
            Number::exp(Number::ln(self) * exponent)
        }
    }
}

/// The metric by its definition, label by label, in any arithmetic.
fn by_definition<T: Number>(objective: &Objective, cells: &[[T; 4]]) -> T {
    let aggregate = |a: &Aggregate| {
        let count = cells.len() as f64;
        let constant = T::from_f64;
        let sum = |terms: &mut dyn Iterator<Item = T>| terms.fold(constant(0.0), T::add);
        let body = lower(&a.formula, a.budget, a.epsilon);
        let mut values = cells.iter().map(|cells| body.evaluate(cells));
        match a.kind {
            AggregationKind::Macro => sum(&mut values).div(constant(count), 0.0),
            AggregationKind::Sum => sum(&mut values),
            AggregationKind::Minimum => values.reduce(T::min).unwrap(),
            AggregationKind::GeometricMean => {
                let logs = &mut values.map(|f| f.add(constant(a.epsilon)).ln());
                sum(logs).div(constant(count), 0.0).exp()
            }
            AggregationKind::HarmonicMean => {
                constant(count).div(sum(&mut values.map(|f| constant(1.0).div(f, a.epsilon))), 0.0)
            }
            AggregationKind::Micro => {
                let mean = |i: usize| sum(&mut cells.iter().map(|cells| cells[i])).div(constant(count), 0.0);
                // Epsilon is meant for sums over labels, and these are means.
                let body = lower(&a.formula, a.budget, a.epsilon / count);
                body.evaluate(&[mean(0), mean(1), mean(2), mean(3)])
            }
        }
    };
    objective.outer.evaluate(&objective.aggregates.iter().map(aggregate).collect::<Vec<T>>())
}

/// The derivatives with respect to the cells of label `j`, by central differences in 32 digits.
fn differences(objective: &Objective, tensor: &ConfusionTensor, j: usize) -> [f64; 4] {
    const STEP: f64 = 1e-14;
    let cells: Vec<[TwoFloat; 4]> =
        (0..tensor.labels()).map(|j| tensor.cells(j).map(TwoFloat::from)).collect();
    std::array::from_fn(|cell| {
        let shifted = |step: f64| {
            let mut cells = cells.clone();
            cells[j][cell] += step;
            by_definition(objective, &cells)
        };
        let rise: TwoFloat = shifted(STEP) - shifted(-STEP);
        f64::from(rise / (2.0 * STEP))
    })
}

fn assert_gradient_matches(formula: &str, tensor: &ConfusionTensor) {
    let objective = bind(formula);
    let gradient = objective.gradient(tensor).unwrap_or_else(|error| panic!("{error}"));
    for j in 0..tensor.labels() {
        let [tp, fp, miss, tn] = differences(&objective, tensor, j);
        let scale = tp.abs() + fp.abs() + miss.abs() + tn.abs();
        let expected = (tp + tn - fp - miss, fp - tn);
        let found = (gradient.slopes[j], gradient.intercepts[j]);
        let wrong = (found.0 - expected.0).abs().max((found.1 - expected.1).abs());
        // The slope of `coverage` is the difference of two rounded numbers near 1.
        assert!(wrong <= 1e-9 * scale + 1e-15, "{formula}, label {j}: {found:?} is not {expected:?}");
    }
}

#[test]
fn gradients_are_exact() {
    for formula in formulas().iter().map(String::as_str).chain(UNUSUAL.iter().copied()) {
        for seed in 0..3 {
            assert_gradient_matches(formula, &tensor(7, seed));
        }
    }
}

#[test]
fn gradients_are_exact_for_labels_without_true_positives() {
    let mut corner = tensor(5, 1);
    corner.true_positives[2] = 0.0;
    corner.false_positives[2] = 0.0;
    for formula in [
        "macro-f1",
        "macro-recall",
        "coverage",
        "macro-precision",
        "hmean(macro-precision, macro-recall)",
        "gmean-labels(recall)",
    ] {
        assert_gradient_matches(formula, &corner);
    }
}

#[test]
fn values_agree_with_the_definition_across_blocks() {
    for formula in formulas().iter().map(String::as_str).chain(UNUSUAL.iter().copied()) {
        for labels in [1, 63, 64, 65, 512, 513, 1100] {
            let (objective, tensor) = (bind(formula), tensor(labels, 5));
            let cells: Vec<[f64; 4]> = (0..labels).map(|j| tensor.cells(j)).collect();
            let expected = by_definition(&objective, &cells);
            let found = objective.value(&tensor);
            assert!(
                (found - expected).abs() <= 1e-12 * (1.0 + expected.abs()),
                "{formula}: {found} is not {expected}"
            );
            assert_eq!(objective.gradient(&tensor).unwrap().value.to_bits(), found.to_bits(), "{formula}");
        }
    }
}

proptest! {
    #[test]
    fn names_are_the_formulas_of_table_1(a in 0.01..1.0f64, b in 0.01..1.0f64, c in 0.01..1.0f64, d in 0.01..1.0f64) {
        let whole = a + b + c + d;
        let (tp, fp, miss, tn) = (a / whole, b / whole, c / whole, d / whole);
        let (recall, specificity) = (tp / (tp + miss), tn / (tn + fp));
        let tensor = ConfusionTensor::from_fractions(vec![tp], vec![fp], vec![tp + miss].into());
        for (name, expected) in [
            ("accuracy", tp + tn),
            ("precision", tp / (tp + fp)),
            ("recall", recall),
            ("specificity", specificity),
            ("f1", 2.0 * tp / (2.0 * tp + fp + miss)),
            ("fbeta(1)", 2.0 * tp / (2.0 * tp + fp + miss)),
            ("fbeta(2)", 5.0 * tp / (5.0 * tp + 4.0 * miss + fp)),
            ("jaccard", tp / (tp + fp + miss)),
            ("balanced-accuracy", tp / (2.0 * (tp + miss)) + tn / (2.0 * (tn + fp))),
            ("gmean", (tp * tn / ((tp + miss) * (tn + fp))).sqrt()),
            ("hmean", 2.0 * recall * specificity / (recall + specificity)),
            ("auc", (2.0 * tp * tn + tp * fp + miss * tn) / (2.0 * (tp + miss) * (fp + tn))),
        ] {
            for average in ["macro", "micro"] {
                let found = Metric::parse(&format!("{average}-{name}")).unwrap().bind(1, 0.0).value(&tensor);
                prop_assert!((found - expected).abs() < 1e-12, "{average}-{name}: {found} is not {expected}");
            }
        }
    }

    #[test]
    fn the_ends_of_a_segment_are_exact(alpha in 0.0..1.0f64, seed in 0u64..50) {
        let (from, to) = (tensor(150, 2 * seed), tensor(150, 2 * seed));
        let mut to = to;
        to.true_positives.iter_mut().for_each(|hits| *hits *= 0.7);
        to.false_positives.iter_mut().rev().zip(&from.false_positives).for_each(|(mine, other)| *mine = other * 0.9);
        for formula in ["macro-f1", "0.3*instance-precision + 0.7*macro-jaccard", "gmean-labels(recall)"] {
            let objective = bind(formula);
            prop_assert_eq!(objective.value_between(&from, &to, 0.0).to_bits(), objective.value(&from).to_bits());
            prop_assert_eq!(objective.value_between(&from, &to, 1.0).to_bits(), objective.value(&to).to_bits());
            let mut mixed = from.clone();
            mixed.mix(&to, alpha);
            prop_assert_eq!(objective.value_between(&from, &to, alpha).to_bits(), objective.value(&mixed).to_bits());
        }
    }

    #[test]
    fn the_directional_derivative_is_that_of_the_segment(seed in 0u64..50) {
        let (from, mut to) = (tensor(40, 2 * seed), tensor(40, 2 * seed));
        to.true_positives.iter_mut().for_each(|hits| *hits *= 0.6);
        to.false_positives.iter_mut().for_each(|alarms| *alarms *= 0.8);
        for formula in ["macro-f1", "micro-precision * macro-recall", "macro-balanced-accuracy"] {
            let objective = bind(formula);
            let slope = objective.gradient(&from).unwrap().directional_derivative(&from, &to);
            // The error is of second order in the step, which leaves about eight correct digits.
            let (ahead, behind) = (objective.value_between(&from, &to, 1e-5), objective.value_between(&from, &to, -1e-5));
            let expected = (ahead - behind) / 2e-5;
            prop_assert!((slope - expected).abs() < 1e-7 * (1.0 + expected.abs()), "{formula}: {slope} is not {expected}");
        }
    }
}

/// Two tensors of the same data that agree in some labels.
fn segments(labels: usize) -> (ConfusionTensor, ConfusionTensor) {
    let (from, mut to) = (tensor(labels, 6), tensor(labels, 6));
    to.true_positives.iter_mut().step_by(3).for_each(|hits| *hits *= 0.4);
    to.false_positives.iter_mut().step_by(2).for_each(|alarms| *alarms *= 0.3);
    to.true_positives.iter_mut().step_by(5).for_each(|hits| *hits = 0.0);
    (from, to)
}

fn with_threads<R: Send>(threads: usize, job: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(job)
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn many_step_sizes_give_the_bits_of_each_alone() {
    let sizes = [0.0, 1.0, 1e-3, 0.3, 0.3, 0.999, -0.1, 0.5];
    for labels in [0, 1, 63, 64, 65, 511, 512, 513, 1100] {
        let (from, to) = segments(labels);
        for formula in formulas().iter().map(String::as_str).chain(UNUSUAL.iter().copied()) {
            let objective = bind(formula);
            let mixed = |size: &f64| {
                let mut mixed = from.clone();
                mixed.mix(&to, *size);
                objective.value(&mixed)
            };
            let alone: Vec<f64> =
                sizes.iter().map(|&size| objective.value_between(&from, &to, size)).collect();
            let together = Segment::new(&objective, &from, &to).values(&sizes);
            assert_eq!(bits(&together), bits(&alone), "{formula}, {labels} labels");
            let mixed: Vec<f64> = sizes.iter().map(mixed).collect();
            assert_eq!(bits(&together), bits(&mixed), "{formula}, {labels} labels");
            assert_eq!(Segment::new(&objective, &from, &to).values(&[]), Vec::<f64>::new());
        }
    }
}

#[test]
fn many_step_sizes_give_the_same_bits_on_any_number_of_threads() {
    let sizes = [0.0, 0.25, 0.6, 1.0];
    // Enough labels for threads at one size, and at four sizes only.
    for labels in [label_blocks::PARALLEL_FROM + 1, label_blocks::PARALLEL_FROM / 4 + 513] {
        let (from, to) = segments(labels);
        for formula in formulas().iter().map(String::as_str).chain(UNUSUAL.iter().copied()) {
            let objective = bind(formula);
            let alone: Vec<f64> =
                with_threads(1, || sizes.map(|size| objective.value_between(&from, &to, size)).into());
            for threads in [1, 3] {
                let together = with_threads(threads, || Segment::new(&objective, &from, &to).values(&sizes));
                assert_eq!(bits(&together), bits(&alone), "{formula}, {labels} labels, {threads} threads");
            }
        }
    }
}

/// The order of additions depends on the labels only, from which the other properties follow.
#[test]
fn sums_over_labels_are_taken_by_lane_then_block() {
    for labels in [1, 64, 100, 512, 1300, label_blocks::PARALLEL_FROM + 700] {
        let (from, _) = segments(labels);
        for formula in
            ["sum(2*tp/(2*tp+fp+fn))", "sum(tn)", "sum(gmean)", "sum(hmean(tp, fn, 0.1))", "sum(auc)"]
        {
            let objective = bind(formula);
            let body = lower(&objective.aggregates[0].formula, 3.0, EPSILON);
            let block = |start: usize| {
                let mut lanes = [0.0; label_blocks::LANES];
                for label in start..labels.min(start + label_blocks::BLOCK_LABELS) {
                    lanes[label % label_blocks::LANES] += body.evaluate(&from.cells(label));
                }
                lanes.iter().sum::<f64>()
            };
            let expected =
                (0..labels).step_by(label_blocks::BLOCK_LABELS).map(block).reduce(|a, b| a + b).unwrap();
            assert_eq!(objective.value(&from).to_bits(), expected.to_bits(), "{formula}, {labels} labels");
        }
    }
}

#[test]
fn gradients_have_the_bits_of_one_label_alone() {
    let (from, _) = segments(700);
    for formula in
        LABEL_MEASURES.iter().filter(|entry| !entry.parameter).map(|entry| format!("sum({})", entry.name))
    {
        let objective = bind(&formula);
        let body = lower(&objective.aggregates[0].formula, 3.0, EPSILON);
        let gradient = objective.gradient(&from).unwrap();
        for j in 0..700 {
            let cells = from.cells(j);
            let leaves: [Dual<4>; 4] = std::array::from_fn(|i| Dual::variable(cells[i], i));
            // Adding 0, as at the start of a sum, loses the sign of a zero.
            let [tp, fp, miss, tn] = body.evaluate(&leaves).partials.map(|partial| 0.0 + partial);
            let expected = [tp + tn - fp - miss, fp - tn];
            assert_eq!(
                bits(&[gradient.slopes[j], gradient.intercepts[j]]),
                bits(&expected),
                "{formula}, {j}"
            );
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let (from, to) = (tensor(100_000, 3), tensor(100_000, 4));
    let run = |threads: usize| {
        with_threads(threads, || {
            let formulas = [
                "0.3*instance-precision + 0.7*macro-f1",
                "micro-gmean",
                "hmean-labels(recall)",
                "min-labels(f1)",
            ];
            let mut bits = Vec::new();
            for objective in formulas.map(bind) {
                let gradient = objective.gradient(&from).unwrap();
                bits.push(objective.value_between(&from, &to, 0.3).to_bits());
                bits.push(gradient.directional_derivative(&from, &to).to_bits());
                bits.extend(gradient.slopes.iter().chain(&gradient.intercepts).map(|gain| gain.to_bits()));
            }
            bits
        })
    };
    assert!(run(1) == run(4), "results differ between 1 and 4 threads");
}

#[test]
fn the_deepest_formulas_fit_the_stack_of_a_thread() {
    let nested =
        |levels: usize| format!("macro({}tp{})", "hmean(fp, fn, ".repeat(levels), ")".repeat(levels));
    let quotients = format!("macro(tp{})", "/(1+fp)".repeat(60));
    let tensor = tensor(40_000, 0);
    for formula in
        [nested(60), quotients, format!("macro({}tp{})", "sqrt(hmean(tp, ".repeat(30), "))".repeat(30))]
    {
        assert!(bind(&formula).gradient(&tensor).is_ok(), "{formula}");
    }
}

#[test]
fn fractions_come_from_exact_integers() {
    let counts = ConfusionCounts { true_positives: vec![3, 0, 1 << 52], predicted: vec![5, 2, 1 << 12] };
    let population = Population { rows: 10_000, unit: 1 << 40, positives: vec![4, 0, 1 << 53] };
    let tensor = ConfusionTensor::new(&counts, &population);
    let whole = 10_000.0 * (1u64 << 40) as f64;
    assert_eq!(tensor.labels(), 3);
    assert_eq!(tensor.false_positives[0], ((5u64 << 40) - 3) as f64 / whole);
    assert_eq!(tensor.false_positives[1], 2.0 / 10_000.0);
    assert_eq!(tensor.false_positives[2], 0.0);
    assert_eq!(tensor.positives(), [4.0 / whole, 0.0, (1u64 << 53) as f64 / whole]);
    assert_eq!(tensor.cells(0)[2], tensor.positives()[0] - tensor.true_positives[0]);
    assert!((tensor.cells(0).iter().sum::<f64>() - 1.0).abs() < 1e-15);
}

#[test]
fn plain_labels_count_instances() {
    let counts = ConfusionCounts { true_positives: vec![2, 0], predicted: vec![3, 1] };
    let population = Population { rows: 8, unit: 1, positives: vec![4, 0] };
    let tensor = ConfusionTensor::new(&counts, &population);
    assert_eq!(tensor.cells(0), [0.25, 0.125, 0.25, 0.375]);
    assert_eq!(tensor.cells(1), [0.0, 0.125, 0.0, 0.875]);
    assert_eq!(ConfusionTensor::new(&ConfusionCounts::new(2), &population).cells(0), [0.0, 0.0, 0.5, 0.5]);
}

#[test]
fn a_weighted_sum_is_a_chain_of_mixtures() {
    let parts = [tensor(9, 0), tensor(9, 2), tensor(9, 4)];
    let mut chain = parts[0].clone();
    chain.mix(&parts[1], 0.5);
    chain.mix(&parts[2], 0.2);
    let sum = ConfusionTensor::scaled_sum(&[(0.4, &parts[0]), (0.4, &parts[1]), (0.2, &parts[2])]);
    for j in 0..9 {
        assert!((sum.true_positives[j] - chain.true_positives[j]).abs() < 1e-15);
        assert!((sum.false_positives[j] - chain.false_positives[j]).abs() < 1e-15);
    }
}

#[test]
fn a_label_without_positives_earns_nothing() {
    let positives: Arc<[f64]> = vec![0.2, 0.0].into();
    let tensor = ConfusionTensor::from_fractions(vec![0.1, 0.0], vec![0.1, 0.3], positives);
    let recall = bind("macro-recall").gradient(&tensor).unwrap();
    assert!(recall.slopes[0] > 0.0);
    assert_eq!((recall.slopes[1], recall.intercepts[1]), (0.0, 0.0));
    // Its false positives still cost something.
    let accuracy = bind("macro-accuracy").gradient(&tensor).unwrap();
    assert_eq!((accuracy.slopes[1], accuracy.intercepts[1]), (0.0, -0.5));
}

#[test]
fn the_worst_label_alone_has_a_gradient_and_ties_go_to_the_first() {
    let positives: Arc<[f64]> = vec![0.2, 0.4, 0.4].into();
    let tensor = ConfusionTensor::from_fractions(vec![0.1, 0.1, 0.1], vec![0.1; 3], positives);
    let gradient = bind("min-labels(recall)").gradient(&tensor).unwrap();
    assert!(gradient.slopes[1] > 2.0, "{gradient:?}");
    assert_eq!((gradient.slopes[0], gradient.slopes[2]), (0.0, 0.0));
}

#[test]
fn an_infinite_gradient_names_the_label() {
    let positives: Arc<[f64]> = vec![0.2, 0.2].into();
    let tensor = ConfusionTensor::from_fractions(vec![0.1, 0.0], vec![0.1, 0.0], positives);
    let objective = Metric::parse("macro(tp^0.5)").unwrap().bind(1, 0.0);
    let error = objective.gradient(&tensor).unwrap_err();
    assert!(matches!(error, MeasureError::Gradient { label: 1, cells: [0.0, 0.0, 0.2, 0.8], .. }), "{error}");
    let error = bind("log(macro-f1 - 2)").gradient(&tensor).unwrap_err();
    assert!(matches!(error, MeasureError::Value { value, .. } if value.is_nan()), "{error}");
}

#[test]
fn unbounded_derivatives_are_capped_and_values_are_not() {
    let epsilon = 1e-8;
    let zero = Dual::<1>::variable(0.0, 0);
    assert_eq!(zero.sqrt(epsilon), Dual { value: 0.0, partials: [0.5 / epsilon.sqrt()] });
    assert_eq!(zero.powf(0.25, epsilon).value, 0.0);
    assert!((zero.powf(0.25, epsilon).partials[0] - 0.25 * epsilon.powf(-0.75)).abs() < 1.0);
    assert_eq!(Dual::<1>::variable(-1e-13, 0).sqrt(epsilon).value, 0.0);
    assert!(Dual::<1>::variable(-1e-3, 0).sqrt(epsilon).value.is_nan());
    // Constants have derivative 0, even if the factor of the chain rule is infinite.
    let constant = Dual::<1>::from_f64(0.0);
    assert_eq!(constant.ln().partials, [0.0]);
    assert_eq!(constant.sqrt(0.0).partials, [0.0]);
    assert_eq!(Dual::<1>::from_f64(1.0).div(constant, 0.0).partials, [0.0]);
}

#[test]
fn measures_of_the_catalogue_are_monotone() {
    for formula in formulas() {
        for k in [1, 3, 50] {
            let objective = Metric::parse(&formula).unwrap().bind(k, EPSILON);
            assert_eq!(monotone::warnings(&objective), Vec::<String>::new(), "{formula} at {k}");
        }
    }
}

#[test]
fn formulas_that_reward_mistakes_are_named() {
    let warnings = monotone::warnings(&bind("macro(fp)"));
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("false positive becomes a true negative"), "{}", warnings[0]);
    let warnings = monotone::warnings(&bind("0.1*macro-f1 - macro-recall"));
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("false negative becomes a true positive"), "{}", warnings[0]);
    assert_eq!(monotone::warnings(&bind("macro(fp+fn)")).len(), 2);
    let warnings = monotone::warnings(&bind("log(macro-f1 - 2)"));
    assert!(warnings[0].contains("the value is NaN"), "{}", warnings[0]);
}

/// Two long-tailed tensors: most labels have no true positive, some in one of the two only.
fn long_tailed(labels: usize) -> (ConfusionTensor, ConfusionTensor) {
    let (mut from, mut to) = (tensor(labels, 1), tensor(labels, 3));
    for label in 0..labels {
        if label % 5 < 3 {
            from.true_positives[label] = 0.0;
        }
        if label % 7 < 5 {
            to.true_positives[label] = 0.0;
        }
        if label % 11 == 0 {
            (from.false_positives[label], to.false_positives[label]) = (0.0, 0.0);
        }
    }
    (from, to)
}

#[test]
fn a_search_that_skips_inactive_labels_keeps_every_bit() {
    let sizes = [0.0, 1e-3, 0.3, 0.5, 1.0];
    // Reused for more and for fewer labels.
    let mut space = SegmentBuffers::default();
    for labels in [1, 63, 512, 9001, 4096] {
        let (from, to) = long_tailed(labels);
        for formula in formulas().iter().map(String::as_str).chain(UNUSUAL.iter().copied()) {
            let objective = bind(formula);
            let (skipping, all) = (
                objective.segment(&from, &to, &mut space).values(&sizes),
                Segment::new(&objective, &from, &to).values(&sizes),
            );
            assert_eq!(bits(&skipping), bits(&all), "{formula}, {labels} labels");
        }
    }
}

#[test]
fn a_search_that_skips_inactive_labels_shows_nan() {
    let (mut from, to) = long_tailed(1000);
    (from.true_positives[5], from.false_positives[5]) = (0.0, f64::NAN);
    let mut space = SegmentBuffers::default();
    assert!(bind("macro-f1").segment(&from, &to, &mut space).values(&[0.5])[0].is_nan());
}

#[test]
fn labels_without_true_positives_are_skipped_only_if_they_are_zero() {
    for (formula, skips) in [
        ("macro-f1", true),
        ("macro-precision", true),
        ("macro-recall", true),
        ("macro-gmean", true),
        ("macro-hmean", true),
        ("instance-precision", true),
        ("macro-accuracy", false),
        ("macro-auc", false),
        ("micro-f1", false),
        ("gmean-labels(f1)", false),
        ("macro(tp / (fp - fn))", false),
        ("macro(log(1 + tp))", false),
    ] {
        assert_eq!(bind(formula).aggregates[0].zero_without_true_positives, skips, "{formula}");
    }
}

#[test]
fn no_bit_depends_on_the_instructions_of_the_processor() {
    let (from, to) = long_tailed(1111);
    for formula in formulas().iter().map(String::as_str).chain(UNUSUAL.iter().copied()) {
        let fast = bind(formula);
        let plain = Objective { arch: pulp::Arch::Scalar, ..fast.clone() };
        let numbers = |objective: &Objective| {
            let mut space = SegmentBuffers::default();
            let mut numbers = objective.segment(&from, &to, &mut space).values(&[0.0, 0.1, 0.7]);
            numbers.extend([objective.value(&from), objective.value_between(&from, &to, 0.4)]);
            if let Ok(gradient) = objective.gradient(&from) {
                numbers.extend(gradient.slopes.iter().chain(&gradient.intercepts));
                let again = objective
                    .gradient(&to)
                    .and_then(|old| objective.gradient_reusing(&from, None, Some(old)));
                assert_eq!(again.as_ref().ok(), Some(&gradient), "{formula}");
                let known = objective.gradient_reusing(&from, Some(objective.value(&from)), again.ok());
                assert_eq!(known.ok(), Some(gradient), "{formula}");
            }
            bits(&numbers)
        };
        assert_eq!(numbers(&fast), numbers(&plain), "{formula}");
    }
}

#[test]
fn a_known_value_is_reused_for_a_single_mean_or_sum() {
    let tensor = tensor(1111, 5);
    let value = |formula: &str| bind(formula).gradient_reusing(&tensor, Some(0.125), None).unwrap().value;
    assert_eq!(value("macro-f1"), 0.125);
    for formula in ["2*macro-f1", "micro-f1", "gmean-labels(recall)", "macro-f1 + macro-recall"] {
        assert_eq!(value(formula), bind(formula).value(&tensor), "{formula}");
    }
}

/// A tensor with additional labels in between that are predicted but have no positives, and the places of the original labels.
fn with_unseen(seen: &ConfusionTensor) -> (ConfusionTensor, Vec<usize>) {
    let labels = 2 * seen.labels();
    let places: Vec<usize> = (0..seen.labels()).map(|label| 2 * label).collect();
    let (mut hits, mut alarms, mut positives) = (vec![0.0; labels], vec![0.0; labels], vec![0.0; labels]);
    for (label, &place) in places.iter().enumerate() {
        hits[place] = seen.true_positives[label];
        alarms[place] = seen.false_positives[label];
        positives[place] = seen.positives()[label];
        alarms[place + 1] = [0.0, 0.03, 1.0, 0.4][label % 4];
    }
    (ConfusionTensor::from_fractions(hits, alarms, positives.into()), places)
}

#[test]
fn omitting_labels_without_positives_changes_no_value() {
    let seen = tensor(700, 3);
    let (all, places) = with_unseen(&seen);
    let formulas: Vec<String> = formulas().into_iter().chain(UNUSUAL.iter().map(|f| f.to_string())).collect();
    for formula in formulas {
        let objective = bind(&formula);
        if !objective.ignores_labels_without_positives() {
            continue;
        }
        let fewer = bind(&formula).omitting_labels(700);
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-13 * b.abs();
        assert!(close(fewer.value(&seen), objective.value(&all)), "{formula}");
        let (found, wanted) = (fewer.gradient(&seen).unwrap(), objective.gradient(&all).unwrap());
        for (label, &place) in places.iter().enumerate() {
            // Differences of large derivatives can be small.
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-13 * wanted.largest;
            assert!(near(found.slopes[label], wanted.slopes[place]), "{formula}, label {label}");
            assert!(near(found.intercepts[label], wanted.intercepts[place]), "{formula}, label {label}");
            assert_eq!((wanted.slopes[place + 1], wanted.intercepts[place + 1]), (0.0, 0.0), "{formula}");
        }
        let known = fewer.gradient_reusing(&seen, Some(found.value), None).unwrap();
        assert_eq!(known, found, "{formula}");
    }
}

#[test]
fn metrics_that_depend_on_unseen_labels_do_not_ignore_them() {
    for formula in
        ["macro-f1", "macro-precision", "macro-recall", "macro-jaccard", "macro-fbeta(2)", "coverage"]
    {
        assert!(bind(formula).ignores_labels_without_positives(), "{formula}");
    }
    for formula in [
        "macro-accuracy",
        "macro-balanced-accuracy",
        "micro-f1",
        "0.5*macro-f1 + 0.5*micro-precision",
        "gmean-labels(recall)",
        "min-labels(recall)",
        "macro(-fp)",
    ] {
        assert!(!bind(formula).ignores_labels_without_positives(), "{formula}");
    }
}
