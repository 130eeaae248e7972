//! Rows that an estimator does not learn from, so that they can say how good it is.

use crate::error::{Result, usage};
use crate::load::{Examples, RowDistribution};
use crate::sparse::{Csr, CsrBuilder, RowsView};
use crate::split::{Fractions, Method, Split};
use crate::world::World;

/// Rows with features and labels; rank 0 has them.
#[derive(Default)]
pub struct CalibrationRows {
    /// How many; on all ranks.
    pub rows: u64,
    pub examples: Option<(Csr, Csr)>,
}

/// Holds out a share of the rows, which only the seed decides: the same for any number of ranks. What is left is numbered
/// anew. Collective.
///
/// # Panics
/// If the examples have no labels.
pub fn hold_out(
    world: &World,
    examples: Examples,
    held: RowDistribution,
    share: f64,
    seed: u64,
) -> Result<(Examples, CalibrationRows)> {
    let rows = examples.total_rows;
    let sizes = Fractions::new(vec![1.0 - share, share]).and_then(|fractions| {
        let sizes = fractions.sizes(rows);
        let none = |_| {
            usage(format!(
                "--calibrate-share {share} of {rows} rows leaves none to learn from, or none to hold out"
            ))
        };
        sizes.or_else(none).map(|sizes| (fractions, sizes))
    });
    let (fractions, sizes) = world.agree(sizes)?;
    let parts = Split { fractions, seed, method: Method::Plain }.assign_rows(rows, None, &sizes);
    let Examples { rows: range, features, labels, .. } = examples;
    let labels = labels.expect("what is learnt from has labels");
    let mine = &parts[range.start as usize..range.end as usize];
    let before = parts[..range.start as usize].iter().filter(|&&part| part == 0).count() as u64;
    let taken = |matrix: &Csr, part: u8| select_rows(matrix, |row| mine[row] == part);
    let out = (taken(&features, 1), taken(&labels, 1));
    let examples = match held {
        RowDistribution::Replicated => world.is_root().then_some(out),
        RowDistribution::Split => gather_rows(world, &out.0).zip(gather_rows(world, &out.1)),
    };
    let left = (taken(&features, 0), taken(&labels, 0));
    let range = before..before + left.0.rows() as u64;
    let left = Examples { rows: range, total_rows: sizes[0], features: left.0, labels: Some(left.1) };
    Ok((left, CalibrationRows { rows: sizes[1], examples }))
}

/// Some rows of a matrix.
fn select_rows(matrix: &Csr, wanted: impl Fn(usize) -> bool) -> Csr {
    let (all, mut selected) = (RowsView::from(matrix), CsrBuilder::default());
    for row in (0..matrix.rows()).filter(|&row| wanted(row)) {
        let (columns, values) = all.row(row);
        selected.push_row(columns, values);
    }
    selected.finish(matrix.cols())
}

/// The rows of all ranks, in the order of ranks, on rank 0. Collective.
fn gather_rows(world: &World, matrix: &Csr) -> Option<Csr> {
    let starts = RowsView::from(matrix).starts;
    let lengths: Vec<u64> = starts.windows(2).map(|pair| (pair[1] - pair[0]) as u64).collect();
    let lengths = world.gather(&lengths);
    let columns = world.gather(matrix.indices());
    let values = world.gather(matrix.data());
    let lengths = lengths?.concat();
    let ends = std::iter::once(0).chain(lengths.iter().scan(0, |end, &length| {
        *end += length as usize;
        Some(*end)
    }));
    Some(Csr::new((lengths.len(), matrix.cols()), ends.collect(), columns?.concat(), values?.concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row i has the feature i, and the label i % 3.
    fn examples(rows: usize) -> Examples {
        let starts: Vec<usize> = (0..=rows).collect();
        let numbers = (0..rows as u32).collect();
        let features = Csr::new((rows, rows), starts.clone(), numbers, vec![1.0; rows]);
        let labels = (0..rows as u32).map(|row| row % 3).collect();
        let labels = Csr::new((rows, 3), starts, labels, vec![1.0; rows]);
        Examples { rows: 0..rows as u64, total_rows: rows as u64, features, labels: Some(labels) }
    }

    #[test]
    fn every_row_is_learnt_from_or_held_out() {
        for held in [RowDistribution::Replicated, RowDistribution::Split] {
            let (left, out) = hold_out(&World::alone(), examples(50), held, 0.2, 9).unwrap();
            assert_eq!((left.total_rows, out.rows), (40, 10));
            assert_eq!(left.rows, 0..40);
            let (features, labels) = out.examples.unwrap();
            let mut seen = left.features.indices().to_vec();
            seen.extend_from_slice(features.indices());
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..50));
            for (features, labels) in [(&left.features, left.labels.as_ref().unwrap()), (&features, &labels)]
            {
                let expected: Vec<u32> = features.indices().iter().map(|row| row % 3).collect();
                assert_eq!(labels.indices(), expected);
            }
        }
    }

    #[test]
    fn the_seed_decides_which() {
        let held_out = |seed| {
            let (_, out) =
                hold_out(&World::alone(), examples(50), RowDistribution::Replicated, 0.2, seed).unwrap();
            out.examples.unwrap().0.indices().to_vec()
        };
        assert_eq!(held_out(1), held_out(1));
        assert_ne!(held_out(1), held_out(2));
    }
}
