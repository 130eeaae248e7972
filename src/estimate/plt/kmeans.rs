//! Balanced k-means: parts of the same size, each of labels that look alike.

use rayon::prelude::*;

use super::representations::{Representations, normalise};
use crate::random::RandomSequence;

/// Rounds after which parts hardly change any more.
const MAX_ROUNDS: usize = 20;

/// Brings `labels` into an order in which parts of [`sizes`] are alike. The labels come in ascending order; what comes
/// out depends on them and on `random` alone. In each part they ascend again.
pub(super) fn cluster(
    labels: &mut [u32],
    parts: usize,
    representations: &Representations,
    mut random: RandomSequence,
) {
    let sizes = sizes(labels.len(), parts);
    let mut centres: Vec<Vec<f32>> = draw_distinct(labels.len(), parts, &mut random)
        .into_iter()
        .map(|at| centre(&[labels[at]], representations))
        .collect();
    let mut before = f64::NEG_INFINITY;
    for _ in 0..MAX_ROUNDS {
        let similarities: Vec<f32> = labels
            .par_iter()
            .with_min_len(16)
            .flat_map_iter(|&label| {
                let (columns, values) = representations.of(label);
                centres.iter().map(move |centre| dot(columns, values, centre))
            })
            .collect();
        let assigned = assign(&similarities, parts, &sizes);
        let total: f64 =
            assigned.iter().enumerate().map(|(at, &part)| f64::from(similarities[at * parts + part])).sum();
        let mut divided: Vec<Vec<u32>> = vec![Vec::new(); parts];
        // Sums depend on their order: it is that of the labels.
        labels.iter().zip(&assigned).for_each(|(&label, &part)| divided[part].push(label));
        divided.iter_mut().for_each(|part| part.sort_unstable());
        centres = divided.par_iter().map(|part| centre(part, representations)).collect();
        labels.iter_mut().zip(divided.concat()).for_each(|(to, label)| *to = label);
        if total - before <= 1e-4 * labels.len() as f64 {
            break;
        }
        before = total;
    }
}

/// The sizes of `parts` parts of `count`: they differ by one at most, and the larger ones come first.
pub(super) fn sizes(count: usize, parts: usize) -> Vec<usize> {
    (0..parts).map(|part| count / parts + usize::from(part < count % parts)).collect()
}

/// Different places of a list.
fn draw_distinct(count: usize, parts: usize, random: &mut RandomSequence) -> Vec<usize> {
    let mut drawn = Vec::new();
    while drawn.len() < parts {
        let at = (random.next_uniform() * count as f64) as usize;
        if !drawn.contains(&at) {
            drawn.push(at);
        }
    }
    drawn
}

fn dot(columns: &[u32], values: &[f32], dense: &[f32]) -> f32 {
    columns.iter().zip(values).map(|(&column, &value)| value * dense[column as usize]).sum()
}

fn centre(labels: &[u32], representations: &Representations) -> Vec<f32> {
    let mut centre = vec![0.0; representations.width];
    for &label in labels {
        let (columns, values) = representations.of(label);
        columns.iter().zip(values).for_each(|(&column, value)| centre[column as usize] += value);
    }
    normalise(&mut centre);
    centre
}

/// Gives each label a part that has capacity. Those for which it matters most choose first.
fn assign(similarities: &[f32], parts: usize, sizes: &[usize]) -> Vec<usize> {
    let count = similarities.len() / parts;
    let of = |label: usize| &similarities[label * parts..(label + 1) * parts];
    let preference = |label: usize| {
        let (mut best, mut second) = (f32::NEG_INFINITY, f32::NEG_INFINITY);
        for &similarity in of(label) {
            if similarity > best {
                (best, second) = (similarity, best);
            } else if similarity > second {
                second = similarity;
            }
        }
        best - second
    };
    let mut order: Vec<(f32, usize)> = (0..count).map(|label| (preference(label), label)).collect();
    order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut capacity = sizes.to_vec();
    let mut assigned = vec![0; count];
    for (_, label) in order {
        let similar = of(label);
        let free = (0..parts).filter(|&part| capacity[part] > 0);
        let best = free.reduce(|best, part| if similar[part] > similar[best] { part } else { best });
        assigned[label] = best.expect("the sizes add up to the number of labels");
        capacity[assigned[label]] -= 1;
    }
    assigned
}
