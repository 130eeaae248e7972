//! Balanced spherical k-means: clusters of labels with similar vectors, of equal size (as in Parabel, Prabhu et al.
//! 2018).

use rayon::prelude::*;

use super::label_vectors::LabelVectors;
use super::training_set::normalise;
use crate::random::RandomSequence;

/// Rounds after which clusters hardly change.
const MAX_ROUNDS: usize = 20;

/// Reorders ascending `labels` into clusters of [`sizes`], ascending within each. The result depends only on the labels
/// and on `random`.
pub(super) fn cluster(
    mut labels: Vec<u32>,
    parts: usize,
    vectors: &LabelVectors,
    mut random: RandomSequence,
) -> Vec<u32> {
    let sizes = sizes(labels.len(), parts);
    let mut centres: Vec<Vec<f32>> = draw_distinct(labels.len(), parts, &mut random)
        .into_iter()
        .map(|at| centre(&[labels[at]], vectors))
        .collect();
    let mut before = f64::NEG_INFINITY;
    for _ in 0..MAX_ROUNDS {
        let similarities: Vec<f32> = labels
            .par_iter()
            .with_min_len(16)
            .flat_map_iter(|&label| {
                let (columns, values) = vectors.of(label);
                centres.iter().map(move |centre| dot(columns, values, centre))
            })
            .collect();
        let assigned = assign(&similarities, parts, &sizes);
        let total: f64 =
            assigned.iter().enumerate().map(|(at, &part)| f64::from(similarities[at * parts + part])).sum();
        let mut clusters: Vec<Vec<u32>> = vec![Vec::new(); parts];
        labels.iter().zip(&assigned).for_each(|(&label, &part)| clusters[part].push(label));
        // Sums depend on their order, which is that of the labels.
        clusters.iter_mut().for_each(|cluster| cluster.sort_unstable());
        centres = clusters.par_iter().map(|cluster| centre(cluster, vectors)).collect();
        labels = clusters.concat();
        if total - before <= 1e-4 * labels.len() as f64 {
            break;
        }
        before = total;
    }
    labels
}

/// Returns the sizes of `parts` parts of `count`: they differ by at most one, the larger ones first.
pub(super) fn sizes(count: usize, parts: usize) -> Vec<usize> {
    (0..parts).map(|part| count / parts + usize::from(part < count % parts)).collect()
}

/// Draws distinct indices below `count`.
fn draw_distinct(count: usize, draws: usize, random: &mut RandomSequence) -> Vec<usize> {
    let mut drawn = Vec::new();
    while drawn.len() < draws {
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

fn centre(labels: &[u32], vectors: &LabelVectors) -> Vec<f32> {
    let mut centre = vec![0.0; vectors.width];
    for &label in labels {
        let (columns, values) = vectors.of(label);
        columns.iter().zip(values).for_each(|(&column, value)| centre[column as usize] += value);
    }
    normalise(&mut centre);
    centre
}

/// Assigns each label to the most similar cluster with free capacity. Labels with the largest difference between their
/// best and second best cluster choose first.
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
