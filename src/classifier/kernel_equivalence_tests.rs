//! Every kernel of this processor, compared with the scalar one and with the definition on hard rows: ties, near ties,
//! coefficients at the ends of f32, all lengths around that of a vector.

use super::kernel::{CoefficientTable, Kernel};
use super::kth_score::{from_ordinal, ordinal};
use super::prepared_rule::PreparedRule;
use super::select::{ChosenLabels, Pick, Selector};
use super::zero_labels::Place;
use super::{Candidates, Rule};
use crate::random::{Purpose, RandomSequence};
use crate::shard::{ColumnCoding, LabelId, Marginals};
use crate::sparse::Csr;

/// A distribution of coefficients and marginals.
#[derive(Clone, Copy, Debug)]
enum Distribution {
    /// Anything in [-1, 1] and [0, 1].
    Smooth,
    /// Few different numbers, hence many ties.
    Coarse,
    /// Products and sums around the middle between two singles, where rounding changes direction.
    Middles,
    /// From the smallest to the largest single.
    Wild,
    /// Sums just below and just above the largest single.
    Huge,
}

fn coefficient(random: &mut RandomSequence, draw: Distribution) -> f32 {
    let (unit, bits) = (random.next_uniform(), random.next_bits());
    match draw {
        Distribution::Smooth => (2.0 * unit - 1.0) as f32,
        Distribution::Coarse => (bits % 7) as f32 / 4.0 - 0.75,
        Distribution::Middles => {
            let near = 1.0 + (bits % 4) as f32 * f32::EPSILON;
            if bits & 64 == 0 { near } else { near * f32::EPSILON / 2.0 }
        }
        Distribution::Huge => [3e38, 2.9e38, f32::MAX, f32::MAX.next_down(), -3e38][(bits % 5) as usize],
        Distribution::Wild => {
            let wild = f32::from_bits(bits as u32);
            if wild.is_finite() { wild } else { 0.0 }
        }
    }
}

fn marginal(random: &mut RandomSequence, draw: Distribution) -> f32 {
    let (unit, bits) = (random.next_uniform(), random.next_bits());
    match draw {
        Distribution::Smooth => (unit * unit * unit) as f32,
        Distribution::Coarse => (bits % 5) as f32 / 4.0,
        Distribution::Huge => [1.0, 1.0, 0.5, 0.0][(bits % 4) as usize],
        Distribution::Middles => 1.0 - (bits % 3) as f32 * f32::EPSILON / 2.0,
        Distribution::Wild => from_ordinal((bits % (1 + ordinal(1.0) as u64)) as i64),
    }
}

struct Case {
    rule: Rule,
    marginals: Marginals,
}

/// Rows of up to `longest` entries over `labels` labels.
fn case(seed: u64, draw: Distribution, labels: usize, rows: usize, longest: usize) -> Case {
    let mut random = RandomSequence::new(seed, Purpose::SynthRow, labels as u64);
    let slopes = (0..labels).map(|_| coefficient(&mut random, draw)).collect();
    let mut intercepts: Vec<f32> = (0..labels).map(|_| coefficient(&mut random, draw)).collect();
    // In half of the cases zero labels rarely win, as in practice.
    if seed.is_multiple_of(2) {
        intercepts.iter_mut().for_each(|intercept| *intercept = -intercept.abs());
    }
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..rows {
        let length = (random.next_bits() % (longest as u64 + 1)).min(labels as u64);
        // Steps leave enough labels for the rest of the row.
        let mut label = 0;
        for left in (1..=length).rev() {
            let spare = labels as u64 - label - left;
            label += random.next_bits() % (spare / left * 2 + 1).min(spare + 1);
            indices.push(label as u32);
            values.push(marginal(&mut random, draw));
            label += 1;
        }
        indptr.push(indices.len());
    }
    let matrix = Csr::new((rows, labels), indptr, indices, values);
    Case { rule: Rule { slopes, intercepts }, marginals: (&matrix).into() }
}

/// Applies the definition to one row.
fn definition(case: &Case, local: usize, k: usize, candidates: Candidates) -> Vec<Pick> {
    let Rule { slopes, intercepts } = &case.rule;
    let pick = |label: LabelId, marginal: f32| {
        let (slope, intercept) = (slopes[label.index()], intercepts[label.index()]);
        Pick { label, marginal, score: f64::from(slope) * f64::from(marginal) + f64::from(intercept) }
    };
    let best_first = |picks: &mut Vec<Pick>| {
        picks.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap().then(a.label.cmp(&b.label)));
    };
    let stored: Vec<(LabelId, f32)> = case.marginals.labels_and_marginals(local).collect();
    let mut picks: Vec<Pick> = stored.iter().map(|&(label, marginal)| pick(label, marginal)).collect();
    let mut others: Vec<Pick> = (0..case.rule.labels() as u32)
        .map(LabelId)
        .filter(|label| stored.binary_search_by_key(label, |entry| entry.0).is_err())
        .map(|label| pick(label, 0.0))
        .collect();
    match candidates {
        Candidates::All => {
            picks.append(&mut others);
            best_first(&mut picks);
        }
        Candidates::Support => {
            best_first(&mut picks);
            best_first(&mut others);
            picks.append(&mut others);
        }
    }
    picks.truncate(k);
    picks
}

fn picks(kernel: Kernel, case: &Case, k: usize, candidates: Candidates) -> Vec<Vec<Pick>> {
    let Case { rule, marginals } = case;
    let table = CoefficientTable::new(marginals.labels(), marginals.coding());
    let prepared =
        PreparedRule::with_kernel(kernel, &rule.by_column(marginals), k, candidates, marginals, table);
    let mut ranking = Selector::default();
    let ranked = (0..marginals.rows()).map(|local| ranking.select(&prepared, marginals.row(local)).to_vec());
    let ranked: Vec<Vec<Pick>> = ranked.collect();
    // The same labels must be chosen for counting and ranked for prediction.
    let mut chosen = ChosenLabels::default();
    Selector::default().choose_batch(&prepared, marginals, 0..marginals.rows(), &mut chosen);
    let chosen = chosen_by_row(&prepared, marginals, &chosen);
    for (local, (chosen, ranked)) in chosen.into_iter().zip(&ranked).enumerate() {
        let mut wanted: Vec<(LabelId, u32)> =
            ranked.iter().map(|pick| (pick.label, pick.marginal.to_bits())).collect();
        wanted.sort_unstable();
        assert_eq!(chosen, wanted, "{} on row {local}, k = {k}", kernel.name());
    }
    ranked
}

/// Returns the labels chosen for each row with their marginals, in order.
fn chosen_by_row(
    rule: &PreparedRule<'_>,
    marginals: &Marginals,
    chosen: &ChosenLabels,
) -> Vec<Vec<(LabelId, u32)>> {
    let mut rows = vec![Vec::new(); marginals.rows()];
    let ends: Vec<usize> =
        (0..marginals.rows()).map(|local| marginals.entry_range(local..local + 1).end).collect();
    for chosen in &chosen.entries {
        let local = ends.partition_point(|&end| end <= chosen.entry.0);
        rows[local].push((marginals.label(chosen.column), marginals.value(chosen.entry).to_bits()));
    }
    for prefix in &chosen.zero_labels {
        let stored = &chosen.stored_places[prefix.stored_places.clone()];
        let taken = (0..prefix.length).map(Place).filter(|place| !stored.contains(place));
        let label = |place: Place| (rule.zero_labels.get(place).label, 0);
        rows[prefix.local].extend(taken.map(label));
    }
    rows.iter_mut().for_each(|row| row.sort_unstable());
    rows
}

const CASES: [Distribution; 5] = [
    Distribution::Smooth,
    Distribution::Coarse,
    Distribution::Middles,
    Distribution::Wild,
    Distribution::Huge,
];

#[test]
fn all_kernels_match_the_definition() {
    for draw in CASES {
        for (seed, k) in (0..).zip([1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 33, 60]) {
            let case = case(seed, draw, 90, 60, 70);
            for candidates in [Candidates::All, Candidates::Support] {
                for kernel in Kernel::available() {
                    for (local, found) in picks(kernel, &case, k, candidates).into_iter().enumerate() {
                        let wanted = definition(&case, local, k, candidates);
                        assert_eq!(found, wanted, "{} {draw:?} k = {k} row {local}", kernel.name());
                    }
                }
            }
        }
    }
}

/// With enough labels that they are renumbered, and more, that they share codes.
#[test]
fn shared_codes_change_nothing() {
    for draw in CASES {
        for labels in [ColumnCoding::CODES - 1, ColumnCoding::CODES + 1000, 3 * ColumnCoding::CODES] {
            shared_codes(draw, labels, 4);
        }
    }
    // Offsets of two bytes. One row, because the definition scores every label.
    shared_codes(Distribution::Smooth, 300 * ColumnCoding::CODES, 1);
}

fn shared_codes(draw: Distribution, labels: usize, rows: usize) {
    let case = case(rows as u64, draw, labels, rows, 300);
    assert!(case.marginals.labels_by_column().is_some());
    for k in [5, 12] {
        let wanted: Vec<Vec<Pick>> =
            (0..rows).map(|local| definition(&case, local, k, Candidates::All)).collect();
        for kernel in Kernel::available() {
            let found = picks(kernel, &case, k, Candidates::All);
            assert_eq!(found, wanted, "{} {draw:?} {labels} k {k}", kernel.name());
        }
    }
}

/// Compares kernels on many rows.
#[test]
fn all_kernels_pick_the_same_bits() {
    let [others @ .., scalar] = &Kernel::available()[..] else { return };
    let mut rows = 0;
    for round in 0..4 {
        for draw in CASES {
            for (at, k) in [1, 3, 5, 8, 10, 25].into_iter().enumerate() {
                // The first round has enough labels to share codes.
                let labels = if round == 0 { 3 * ColumnCoding::CODES } else { 3000 };
                let case = case(100 * round + at as u64, draw, labels, 5000, 60);
                let wanted = picks(*scalar, &case, k, Candidates::All);
                for kernel in others {
                    let found = picks(*kernel, &case, k, Candidates::All);
                    assert!(found == wanted, "{} and scalar differ: {draw:?}, k = {k}", kernel.name());
                    rows += found.len();
                }
            }
        }
    }
    assert!(others.is_empty() || rows >= 500_000, "{rows} rows");
}
