//! Rules, mixtures and draws, compared with brute-force definitions.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::Strategy as Generate;

use super::BaselineStrategy;
use super::madow::MadowSampler;
use super::mixture::TOTAL_WEIGHT;
use super::prepared_rule::PreparedRule;
use super::select::Selector;
use super::*;
use crate::shard::{FixedPoint, LabelId, Marginals, Shard, Targets, TrueLabels};
use crate::sparse::Csr;

/// Rows of stored marginals: labels ascending, each with its value.
type Rows = Vec<BTreeMap<u32, f32>>;

fn csr(labels: usize, rows: &[BTreeMap<u32, f32>]) -> Csr {
    let mut indptr = vec![0];
    for row in rows {
        indptr.push(indptr[indptr.len() - 1] + row.len());
    }
    let indices = rows.iter().flat_map(|row| row.keys().copied()).collect();
    let values = rows.iter().flat_map(|row| row.values().copied()).collect();
    Csr::new((rows.len(), labels), indptr, indices, values)
}

fn marginals(labels: usize, rows: &[BTreeMap<u32, f32>]) -> Marginals {
    (&csr(labels, rows)).into()
}

/// Scores every label, and sorts by falling score, then by label.
fn brute_force(rule: &Rule, row: &BTreeMap<u32, f32>, labels: impl Iterator<Item = u32>) -> Vec<Pick> {
    let score = |label: u32| {
        let marginal = row.get(&label).copied().unwrap_or(0.0);
        let (slope, intercept) = (rule.slopes[label as usize], rule.intercepts[label as usize]);
        let score = f64::from(slope) * f64::from(marginal) + f64::from(intercept);
        Pick { label: LabelId(label), score, marginal }
    };
    let mut all: Vec<Pick> = labels.map(score).collect();
    all.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap().then(a.label.cmp(&b.label)));
    all
}

/// Returns the k best stored labels, filled up with the best others.
fn brute_force_support(rule: &Rule, row: &BTreeMap<u32, f32>, k: usize) -> Vec<Pick> {
    let others = (0..rule.labels() as u32).filter(|label| !row.contains_key(label));
    let mut picks = brute_force(rule, row, row.keys().copied());
    picks.extend(brute_force(rule, row, others));
    picks.truncate(k);
    picks
}

fn select(rule: &Rule, marginals: &Marginals, k: usize, candidates: Candidates) -> Vec<Vec<Pick>> {
    let prepared = PreparedRule::new(rule, k, candidates, marginals);
    // One selector for all rows, as in a pass: no row may affect the next.
    let mut selector = Selector::default();
    (0..marginals.rows()).map(|local| selector.select(&prepared, marginals.row(local)).to_vec()).collect()
}

/// Few different values, zeros of both signs included, so that many scores are equal.
fn tied() -> impl Generate<Value = f32> + Clone {
    prop::sample::select(vec![-2.0f32, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0])
}

fn tied_marginal() -> impl Generate<Value = f32> + Clone {
    prop::sample::select(vec![0.0f32, 0.25, 0.5, 1.0])
}

/// A rule, rows that are empty, short or full, and k up to the number of labels.
fn problem(
    coefficient: impl Generate<Value = f32> + Clone + 'static,
    marginal: impl Generate<Value = f32> + Clone + 'static,
) -> impl Generate<Value = (Rule, Rows, usize)> {
    (1usize..24).prop_flat_map(move |labels| {
        let coefficients = || prop::collection::vec(coefficient.clone(), labels);
        let row = prop::collection::btree_map(0..labels as u32, marginal.clone(), 0..=labels);
        let rule =
            (coefficients(), coefficients()).prop_map(|(slopes, intercepts)| Rule { slopes, intercepts });
        (rule, prop::collection::vec(row, 1..8), prop_oneof![1..=labels, Just(labels)])
    })
}

fn tied_problem() -> impl Generate<Value = (Rule, Rows, usize)> {
    problem(tied(), tied_marginal())
}

fn smooth_problem() -> impl Generate<Value = (Rule, Rows, usize)> {
    problem(-1.0f32..1.0, 0.0f32..=1.0)
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..Default::default() }
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn the_best_k_of_all_labels_are_found(
        (rule, rows, k) in prop_oneof![tied_problem(), smooth_problem()],
    ) {
        let labels = rule.labels();
        let found = select(&rule, &marginals(labels, &rows), k, Candidates::All);
        for (row, found) in rows.iter().zip(found) {
            let mut wanted = brute_force(&rule, row, 0..labels as u32);
            wanted.truncate(k);
            prop_assert_eq!(found, wanted);
        }
    }

    #[test]
    fn support_prefers_stored_labels_and_fills_up_with_others(
        (rule, rows, k) in prop_oneof![tied_problem(), smooth_problem()],
    ) {
        let found = select(&rule, &marginals(rule.labels(), &rows), k, Candidates::Support);
        for (row, found) in rows.iter().zip(found) {
            prop_assert_eq!(found, brute_force_support(&rule, row, k));
        }
    }

    #[test]
    fn scaling_coefficients_keeps_the_order(
        slopes in prop::collection::vec(-1.0f32..1.0, 1..20),
        exponent in -1000i32..1000,
        marginal in 0.0f32..=1.0,
    ) {
        // Coefficients far beyond f32, which a power of two scales back exactly.
        let scale = f64::from(exponent).exp2();
        let wide: Vec<f64> = slopes.iter().map(|&slope| f64::from(slope) * scale).collect();
        let intercepts: Vec<f64> = wide.iter().rev().copied().collect();
        let rule = Rule::affine(&wide, &intercepts);
        prop_assert!(rule.slopes.iter().chain(&rule.intercepts).all(|v| v.is_finite() && v.abs() < 2.0));
        let plain = Rule { slopes: slopes.clone(), intercepts: slopes.iter().rev().copied().collect() };
        if let Some(at) = slopes.iter().position(|&slope| slope != 0.0) {
            let factor = rule.slopes[at] / slopes[at];
            prop_assert_eq!(factor.to_bits() << 9, 0, "{} is not a power of two", factor);
            prop_assert!(rule.slopes.iter().zip(&slopes).all(|(&scaled, &slope)| scaled == slope * factor));
        }
        let row: BTreeMap<u32, f32> = (0..slopes.len() as u32).map(|label| (label, marginal)).collect();
        let order = |rule: &Rule| {
            brute_force(rule, &row, 0..slopes.len() as u32).iter().map(|pick| pick.label.0).collect::<Vec<_>>()
        };
        prop_assert_eq!(order(&rule), order(&plain));
    }

    #[test]
    fn weights_stay_a_distribution_and_rules_of_weight_zero_are_dropped(
        shares in prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0], 1..12),
    ) {
        // Rules are identified by their first slope.
        let rule = |number: usize| Rule { slopes: vec![number as f32], intercepts: vec![0.0] };
        let mut mixture = Mixture::single(rule(0), 1, Candidates::All);
        let mut wanted = vec![1.0];
        for (at, &share) in shares.iter().enumerate() {
            mixture.add(rule(at + 1), share);
            wanted.iter_mut().for_each(|weight| *weight *= 1.0 - share);
            wanted.push(share);
        }
        prop_assert!((mixture.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        prop_assert_eq!(mixture.weights.len(), mixture.rules.len());
        let kept: Vec<(f32, f64)> =
            mixture.rules.iter().map(|rule| rule.slopes[0]).zip(mixture.weights.iter().copied()).collect();
        let numbered = wanted.iter().enumerate().map(|(at, &weight)| (at as f32, weight));
        prop_assert_eq!(kept, numbered.filter(|pair| pair.1 > 0.0).collect::<Vec<_>>());
        let integer_weights = mixture.integer_weights();
        prop_assert_eq!(integer_weights.iter().sum::<u64>(), TOTAL_WEIGHT);
        for (integer_weight, weight) in integer_weights.iter().zip(&mixture.weights) {
            prop_assert!((*integer_weight as f64 / TOTAL_WEIGHT as f64 - weight).abs() < 1e-12);
        }
    }

    #[test]
    fn madow_draws_k_distinct_labels_for_any_probabilities(
        labels in 1usize..12,
        parts in prop::collection::vec((0u64..=1 << 20, any::<u64>()), 1..6),
        k in 1usize..12,
        u in 0..TOTAL_WEIGHT,
    ) {
        // A mixture of rules that each predict some k labels of a row.
        let k = k.min(labels);
        let total = parts.iter().map(|part| part.0).sum::<u64>().max(1);
        let mut left = TOTAL_WEIGHT;
        let mut sampler = MadowSampler::default();
        for (at, &(weight, order)) in parts.iter().enumerate() {
            let last = at + 1 == parts.len();
            let integer_weight = if last { left } else { (TOTAL_WEIGHT / total * weight).min(left) };
            left -= integer_weight;
            let mut shuffled: Vec<u32> = (0..labels as u32).collect();
            shuffled.sort_by_key(|&label| order.rotate_left(label * 7).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            shuffled.iter().take(k).for_each(|&label| sampler.add(LabelId(label), 0.5, integer_weight));
        }
        let picks = sampler.draw(u);
        let mut drawn: Vec<u32> = picks.iter().map(|pick| pick.label.0).collect();
        drawn.sort_unstable();
        drawn.dedup();
        prop_assert_eq!(drawn.len(), k);
        prop_assert!(picks.iter().all(|pick| pick.score > 0.0 && pick.score <= 1.0));
        prop_assert!(picks.is_sorted_by(|a, b| a.score >= b.score));
    }

    #[test]
    fn propensities_match_the_formula(
        positives in prop::collection::vec(0u64..10_000, 1..20),
        rows in 1u64..1_000_000,
        a in 0.1f64..2.0,
        b in 0.1f64..5.0,
    ) {
        let c = ((rows as f64).ln() - 1.0) * (b + 1.0).powf(a);
        for (&count, found) in positives.iter().zip(propensities(&positives, rows, a, b)) {
            prop_assert!(found > 0.0 && found <= 1.0);
            if rows >= 3 {
                let wanted = 1.0 / (1.0 + c * (-a * (count as f64 + b).ln()).exp());
                prop_assert!((found - wanted).abs() <= 1e-12 * wanted, "{} {}", found, wanted);
            }
        }
    }
}

/// Draws k labels for each row of `marginals` from the mixture: row after row, best first.
fn predict(marginals: &Marginals, first_row: u64, mixture: &Mixture, draw: DrawOptions) -> Vec<Pick> {
    let k = mixture.k;
    let mut all = vec![Pick::default(); marginals.rows() * k];
    let blocks = marginals.blocks();
    let pieces = blocks.pieces(&mut all, |row| row * k);
    fold_predictions(
        marginals,
        first_row,
        mixture,
        draw,
        || (),
        |(), block, local, picks| {
            let at = (local - blocks.rows(block).start) * k;
            pieces.with(block, |piece| piece[at..at + k].copy_from_slice(picks));
        },
    );
    drop(pieces);
    all
}

/// Returns a mixture of three rules over six labels, and rows on which they disagree.
fn mixed() -> (Mixture, Marginals) {
    let rule = |slopes: [f32; 6], intercepts: [f32; 6]| {
        Arc::new(Rule { slopes: slopes.into(), intercepts: intercepts.into() })
    };
    let mixture = Mixture {
        k: 2,
        candidates: Candidates::All,
        rules: vec![
            rule([1.0; 6], [0.0; 6]),
            rule([-1.0, -1.0, 1.0, 1.0, 2.0, 2.0], [0.5, 0.0, 0.0, 0.0, 0.1, 0.0]),
            rule([0.0, 4.0, 0.0, 4.0, 0.0, 0.0], [0.0, 0.0, 0.25, 0.0, 0.0, 0.75]),
        ],
        weights: vec![0.5, 0.3, 0.2],
    };
    let rows: Rows = vec![
        [(0, 0.9), (1, 0.8), (2, 0.1), (4, 0.3)].into(),
        [(3, 0.6), (5, 0.2)].into(),
        BTreeMap::new(),
        [(0, 0.1), (1, 0.2), (2, 0.3), (3, 0.4), (4, 0.5), (5, 0.6)].into(),
    ];
    (mixture, marginals(6, &rows))
}

/// Returns the probability of each label to be predicted for row `local`: the weight of the rules that pick it.
fn chances(mixture: &Mixture, marginals: &Marginals, local: usize) -> Vec<f64> {
    let mut chances = vec![0.0; marginals.labels()];
    for (rule, weight) in mixture.rules.iter().zip(&mixture.weights) {
        for pick in &select(rule, marginals, mixture.k, mixture.candidates)[local] {
            chances[pick.label.index()] += weight;
        }
    }
    chances
}

const DRAWS: u32 = 4000;

/// Asserts that `seen` of [`DRAWS`] is within four standard deviations for an event of probability `chance`.
#[track_caller]
fn assert_frequency(seen: u32, chance: f64, what: &str) {
    let draws = f64::from(DRAWS);
    let deviation = (draws * chance * (1.0 - chance)).sqrt();
    let off = (f64::from(seen) - draws * chance).abs();
    // A probability of 0 or 1 has no deviation, except for rounding.
    assert!(off <= 4.0 * deviation + 1e-6, "{what}: {seen} of {DRAWS}, but the probability is {chance}");
}

fn frequencies_are_chances(sampling: Sampling) {
    let (mixture, marginals) = mixed();
    let mut seen = vec![vec![0u32; marginals.labels()]; marginals.rows()];
    for draw in 0..DRAWS {
        // Half of the draws differ in the seed, half in the round: both must be independent.
        let (seed, round) = if draw % 2 == 0 { (u64::from(draw), 0) } else { (7, draw) };
        let picks = predict(&marginals, 0, &mixture, DrawOptions { sampling, seed, round });
        assert_eq!(picks.len(), marginals.rows() * mixture.k);
        for (local, picks) in picks.chunks(mixture.k).enumerate() {
            assert_ne!(picks[0].label, picks[1].label);
            picks.iter().for_each(|pick| seen[local][pick.label.index()] += 1);
        }
    }
    for (local, seen) in seen.iter().enumerate() {
        for (label, chance) in chances(&mixture, &marginals, local).into_iter().enumerate() {
            assert_frequency(seen[label], chance, &format!("{sampling:?}, row {local}, label {label}"));
        }
    }
}

#[test]
fn madow_gives_every_label_its_probability() {
    frequencies_are_chances(Sampling::Madow);
}

#[test]
fn drawing_rules_gives_every_label_its_probability() {
    frequencies_are_chances(Sampling::Rule);
}

#[test]
fn rules_are_drawn_with_their_weights() {
    // Rule j predicts label j, so a prediction identifies the rule that was drawn.
    let weights = [0.05, 0.6, 0.0625, 0.2875];
    let rule = |label: usize| {
        let mut intercepts = vec![0.0; weights.len()];
        intercepts[label] = 1.0;
        Arc::new(Rule { slopes: vec![0.0; weights.len()], intercepts })
    };
    let rules = (0..weights.len()).map(rule).collect();
    let mixture = Mixture { k: 1, candidates: Candidates::All, rules, weights: weights.to_vec() };
    let marginals = marginals(weights.len(), &vec![BTreeMap::new(); DRAWS as usize]);
    for sampling in [Sampling::Rule, Sampling::Madow] {
        let picks = predict(&marginals, 0, &mixture, DrawOptions { sampling, seed: 3, round: 0 });
        for (label, &weight) in weights.iter().enumerate() {
            let seen = picks.iter().filter(|pick| pick.label.index() == label).count();
            assert_frequency(seen as u32, weight, &format!("{sampling:?}, rule {label}"));
        }
    }
}

#[test]
fn madow_picks_k_labels_at_interval_ends() {
    // Probabilities 1, 1/2 and 1/2 for k = 2: for any u, the certain label and exactly one of the others.
    for u in [0, 1, TOTAL_WEIGHT / 2 - 1, TOTAL_WEIGHT / 2, TOTAL_WEIGHT / 2 + 1, TOTAL_WEIGHT - 1] {
        let mut sampler = MadowSampler::default();
        for label in [0, 1].map(LabelId) {
            sampler.add(label, 0.5, TOTAL_WEIGHT / 2);
        }
        for label in [0, 2].map(LabelId) {
            sampler.add(label, 0.5, TOTAL_WEIGHT / 2);
        }
        let labels: Vec<u32> = sampler.draw(u).iter().map(|pick| pick.label.0).collect();
        assert_eq!(labels.len(), 2, "u = {u}");
        assert_eq!(labels[0], 0, "the certain label comes first, u = {u}");
    }
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn predictions_do_not_depend_on_how_rows_are_split(
        lengths in prop::collection::vec(0usize..6, 4..40),
        cut in 0.0f64..=1.0,
        first_row in prop_oneof![Just(0u64), 0u64..1 << 40],
        seed: u64,
        round in 0u32..100,
        madow: bool,
    ) {
        let (mixture, _) = mixed();
        let sampling = if madow { Sampling::Madow } else { Sampling::Rule };
        let rows: Rows = lengths
            .iter()
            .enumerate()
            .map(|(row, &length)| (0..length as u32).map(|label| (label, ((row + 3 * label as usize) % 8) as f32 / 8.0)).collect())
            .collect();
        let cut = (cut * rows.len() as f64) as usize;
        let part = |range: Range<usize>| {
            let first = first_row + range.start as u64;
            predict(&marginals(6, &rows[range]), first, &mixture, DrawOptions { sampling, seed, round })
        };
        prop_assert_eq!([part(0..cut), part(cut..rows.len())].concat(), part(0..rows.len()));
    }
}

/// More rows than a block has.
const MANY: usize = 5000;

#[test]
fn predictions_do_not_depend_on_the_number_of_threads() {
    let (mixture, _) = mixed();
    let rows: Rows = (0..MANY).map(|row| [((row % 6) as u32, 0.5)].into()).collect();
    let marginals = marginals(6, &rows);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            predict(&marginals, 0, &mixture, DrawOptions { sampling: Sampling::Madow, seed: 1, round: 0 })
        })
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn counts_match_the_definition() {
    let rows: Rows = (0..MANY)
        .map(|row| {
            (0..(row % 5) as u32).map(|label| (label, ((row + label as usize) % 16) as f32 / 16.0)).collect()
        })
        .collect();
    let true_labels: Rows = (0..MANY).map(|row| [((row * 7 % 6) as u32, 1.0)].into()).collect();
    let rule =
        Rule { slopes: vec![1.0, 0.5, -1.0, 2.0, 1.0, 1.0], intercepts: vec![0.0, 0.1, 0.4, 0.0, 0.0, 0.2] };
    let mut predicted = vec![0u64; 6];
    let (mut hits, mut expected, mut positives) = (vec![0u64; 6], vec![0.0; 6], vec![0.0; 6]);
    for (row, true_labels) in rows.iter().zip(&true_labels) {
        for pick in brute_force(&rule, row, 0..6).iter().take(3) {
            let label = pick.label.index();
            predicted[label] += 1;
            hits[label] += u64::from(true_labels.contains_key(&pick.label.0));
            expected[label] += f64::from(pick.marginal);
        }
        row.iter().for_each(|(&label, &value)| positives[label as usize] += f64::from(value));
    }
    let shard = |targets| Shard {
        rows: 0..MANY as u64,
        total_rows: MANY as u64,
        marginals: marginals(6, &rows),
        targets,
    };
    let labelled = shard(Targets::Labels(TrueLabels::new(csr(6, &true_labels), &marginals(6, &rows))));
    let counts = count_predictions(&labelled, &rule, 3, Candidates::All);
    assert_eq!((counts.predicted.clone(), counts.true_positives), (predicted.clone(), hits));
    assert_eq!(count_positives(&labelled).iter().sum::<u64>(), MANY as u64);
    // Sixteenths are exact in fixed point, so expected counts are exact.
    let fixed = FixedPoint::for_terms(MANY as u64);
    let unlabelled = shard(Targets::Expected(fixed));
    let counts = count_predictions(&unlabelled, &rule, 3, Candidates::All);
    let decoded = |sums: &[u64]| sums.iter().map(|&sum| fixed.decode(sum)).collect::<Vec<_>>();
    assert_eq!(counts.predicted, predicted);
    assert_eq!(decoded(&counts.true_positives), expected);
    assert_eq!(decoded(&count_positives(&unlabelled)), positives);
}

#[test]
fn a_label_that_no_row_stores_can_win() {
    // The Python tool differs here between dense and sparse matrices.
    let rule = Rule { slopes: vec![1.0; 4], intercepts: vec![0.0, 0.0, 0.0, 2.0] };
    let marginals = marginals(4, &[[(0, 0.9), (1, 0.8)].into()]);
    let labels = |candidates| {
        select(&rule, &marginals, 2, candidates)[0].iter().map(|pick| pick.label.0).collect::<Vec<_>>()
    };
    assert_eq!(labels(Candidates::All), [3, 0]);
    assert_eq!(labels(Candidates::Support), [0, 1]);
}

#[test]
fn all_labels_are_predicted_when_k_is_the_number_of_labels() {
    let picks = select(&Rule::top_k(3), &marginals(3, &[BTreeMap::new()]), 3, Candidates::Support);
    assert_eq!(picks[0].iter().map(|pick| pick.label.0).collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
#[should_panic(expected = "cannot predict 4 of 3 labels")]
fn panics_when_k_exceeds_labels() {
    PreparedRule::new(&Rule::top_k(3), 4, Candidates::All, &marginals(3, &[]));
}

#[test]
#[should_panic(expected = "must be finite")]
fn panics_on_infinite_coefficients() {
    Rule::affine(&[1.0, f64::INFINITY], &[0.0, 0.0]);
}

const CONSTANTS: BaselineConstants = BaselineConstants { beta: 0.5, propensity_a: 0.55, propensity_b: 1.5 };

/// Returns the ratios of slopes to that of label 0, which do not depend on scaling.
fn ratios(strategy: BaselineStrategy, positives: &[u64], rows: u64) -> Vec<f64> {
    let rule = baseline_rule(strategy, positives, rows, CONSTANTS);
    assert!(rule.intercepts.iter().all(|&intercept| intercept == 0.0), "{strategy:?} has no intercepts");
    rule.slopes.iter().map(|&slope| f64::from(slope) / f64::from(rule.slopes[0])).collect()
}

#[track_caller]
fn assert_close(found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    for (a, b) in found.iter().zip(wanted) {
        assert!((a - b).abs() <= 1e-6 * b.abs().max(1e-3), "{found:?} is not {wanted:?}");
    }
}

#[test]
fn baselines_weight_labels_as_in_the_paper() {
    let (positives, rows) = ([50, 5, 1, 0], 100);
    let close = |strategy, wanted: [f64; 4]| assert_close(&ratios(strategy, &positives, rows), &wanted);
    close(BaselineStrategy::TopK, [1.0; 4]);
    close(BaselineStrategy::PowerLaw, [1.0, 10f64.sqrt(), 50f64.sqrt(), 0.0]);
    close(BaselineStrategy::Log, [1.0, 0.05f64.ln() / 0.5f64.ln(), 0.01f64.ln() / 0.5f64.ln(), 0.0]);
    close(BaselineStrategy::MacroRecall, [1.0, 10.0, 50.0, 0.0]);
    let inverse: Vec<f64> = propensities(&positives, rows, 0.55, 1.5).iter().map(|p| 1.0 / p).collect();
    close(BaselineStrategy::Propensity, [0, 1, 2, 3].map(|label| inverse[label] / inverse[0]));
}

#[test]
fn balanced_accuracy_weights_hits_and_false_positives() {
    // recall / 2 + specificity / 2: eta/(2 pi) - (1 - eta)/(2 (1 - pi)) for each label.
    let (positives, rows) = ([50, 5, 1], 100);
    let rule = baseline_rule(BaselineStrategy::MacroBalancedAccuracy, &positives, rows, CONSTANTS);
    let gain = |count: u64, eta: f64| {
        let prior = count as f64 / rows as f64;
        0.5 * eta / prior - 0.5 * (1.0 - eta) / (1.0 - prior)
    };
    let score =
        |label: usize, eta: f64| f64::from(rule.slopes[label]) * eta + f64::from(rule.intercepts[label]);
    let scale = score(0, 1.0) / gain(50, 1.0);
    for eta in [0.0, 0.3, 1.0] {
        let found: Vec<f64> = (0..3).map(|label| score(label, eta)).collect();
        let wanted: Vec<f64> = positives.iter().map(|&count| scale * gain(count, eta)).collect();
        assert_close(&found, &wanted);
    }
}

#[test]
fn baselines_are_finite_for_labels_with_no_or_only_positives() {
    let strategies = [
        BaselineStrategy::TopK,
        BaselineStrategy::PowerLaw,
        BaselineStrategy::Log,
        BaselineStrategy::Propensity,
        BaselineStrategy::MacroRecall,
        BaselineStrategy::MacroBalancedAccuracy,
    ];
    for strategy in strategies {
        for rows in [1, 2, 100] {
            let rule = baseline_rule(strategy, &[0, rows, 1], rows, CONSTANTS);
            let all = rule.slopes.iter().chain(&rule.intercepts);
            assert!(all.clone().all(|value| value.is_finite()), "{strategy:?} {rule:?}");
        }
    }
}

#[test]
fn propensities_match_python() {
    // 1 / (1 + C * exp(-A * log(n + B))), C = (log(N) - 1) * (B + 1)**A, for N = 15539.
    let found = propensities(&[1, 100], 15_539, 0.55, 1.5);
    assert_close(&found, &[0.103_615_043_147_253_74, 0.469_882_753_235_536_5]);
}

/// k times [`TOTAL_WEIGHT`] exceeds 64 bits here.
#[test]
fn madow_draws_thousands_of_labels() {
    let labels = 5000;
    let mut sampler = MadowSampler::default();
    for label in (0..2 * labels).map(LabelId) {
        sampler.add(label, 0.0, TOTAL_WEIGHT / 2);
    }
    for u in [0, 1, TOTAL_WEIGHT - 1] {
        let picks = sampler.draw(u);
        assert_eq!(picks.len(), labels as usize);
    }
}
