//! Confusion tensors (Equation 1): exact integer counts, and fractions of the rows.

use std::sync::Arc;

use super::label_blocks::fill_blocks;

/// Counts of a classifier's predictions by label, over all rows.
///
/// They are integers, so that sums over threads and ranks are exact and do not depend on their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfusionCounts {
    /// In units of [`Population::unit`] per row.
    pub true_positives: Vec<u64>,
    /// In rows.
    pub predicted: Vec<u64>,
}

impl ConfusionCounts {
    /// Zero for each of `labels` labels.
    pub fn new(labels: usize) -> ConfusionCounts {
        ConfusionCounts { true_positives: vec![0; labels], predicted: vec![0; labels] }
    }
}

/// The number of rows and the positives of every label, which do not depend on a classifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Population {
    pub rows: u64,
    /// Fixed-point units per row: 1 for labels in {0, 1}, a power of two for expected labels.
    pub unit: u64,
    /// In units of `unit` per row.
    pub positives: Vec<u64>,
}

impl Population {
    /// The fraction of rows that have each label.
    ///
    /// # Panics
    /// If the population has no rows.
    pub fn fractions(&self) -> Arc<[f64]> {
        let mut fractions = vec![0.0; self.positives.len()];
        fill_fractions(&mut fractions, &self.positives, self.total_units());
        fractions.into()
    }

    /// All rows, in units.
    fn total_units(&self) -> f64 {
        assert!(self.rows > 0 && self.unit > 0, "a population has rows and a unit");
        (u128::from(self.rows) * u128::from(self.unit)) as f64
    }
}

fn fill_fractions(out: &mut [f64], counts: &[u64], whole: f64) {
    fill_blocks(out, |range, out| {
        out.iter_mut().zip(&counts[range]).for_each(|(out, &count)| *out = count as f64 / whole);
    });
}

fn fill_false_positives(out: &mut [f64], predicted: &[u64], hits: &[u64], alarms: impl Fn(u64, u64) -> f64) {
    let counts = predicted.iter().zip(hits);
    out.iter_mut().zip(counts).for_each(|(out, (&predicted, &hits))| *out = alarms(predicted, hits));
}

/// One 2x2 confusion matrix per label, its cells as fractions of the rows.
///
/// Only two cells are stored: the positives of a label are fixed by the data and the four cells sum to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfusionTensor {
    pub true_positives: Vec<f64>,
    pub false_positives: Vec<f64>,
    positives: Arc<[f64]>,
}

impl ConfusionTensor {
    /// # Panics
    /// If the lengths differ or the population has no rows.
    pub fn new(counts: &ConfusionCounts, population: &Population) -> ConfusionTensor {
        ConfusionTensor::with_positives(counts, population, population.fractions())
    }

    /// [`ConfusionTensor::new`] with known [`Population::fractions`], which all tensors of the same data share.
    ///
    /// # Panics
    /// If the lengths differ or the population has no rows.
    pub fn with_positives(
        counts: &ConfusionCounts,
        population: &Population,
        positives: Arc<[f64]>,
    ) -> ConfusionTensor {
        let labels = positives.len();
        let mut tensor = ConfusionTensor::from_fractions(vec![0.0; labels], vec![0.0; labels], positives);
        tensor.set_counts(counts, population);
        tensor
    }

    /// Sets the tensor to other counts of the same data, without allocating memory.
    ///
    /// # Panics
    /// If the lengths differ or the population has no rows.
    pub fn set_counts(&mut self, counts: &ConfusionCounts, population: &Population) {
        let labels = population.positives.len();
        assert_eq!(self.labels(), labels, "a tensor of the same labels");
        assert_eq!(counts.true_positives.len(), labels, "one true positive count per label");
        assert_eq!(counts.predicted.len(), labels, "one predicted count per label");
        let (unit, whole) = (population.unit, population.total_units());
        let narrow = population.rows.checked_mul(unit).is_some();
        fill_fractions(&mut self.true_positives, &counts.true_positives, whole);
        // The difference of integers is exact. That of fractions would be slightly off 0 if every prediction is right, and a
        // quotient by it would make the gradient huge.
        fill_blocks(&mut self.false_positives, |range, out| {
            let (predicted, hits) = (&counts.predicted[range.clone()], &counts.true_positives[range]);
            // Both round the same integer; the narrow one is several times as fast.
            if narrow && predicted.iter().fold(0, |most, &count| count.max(most)) <= population.rows {
                fill_false_positives(out, predicted, hits, |predicted, hits| {
                    debug_assert!(predicted * unit >= hits, "more true positives than predictions");
                    (predicted * unit).saturating_sub(hits) as f64 / whole
                });
            } else {
                fill_false_positives(out, predicted, hits, |predicted, hits| {
                    let wide = u128::from(predicted) * u128::from(unit);
                    debug_assert!(wide >= u128::from(hits), "more true positives than predictions");
                    wide.saturating_sub(u128::from(hits)) as f64 / whole
                });
            }
        });
    }

    /// Creates a tensor from fractions of the rows.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn from_fractions(
        true_positives: Vec<f64>,
        false_positives: Vec<f64>,
        positives: Arc<[f64]>,
    ) -> ConfusionTensor {
        assert_eq!(true_positives.len(), positives.len(), "one true positive fraction per label");
        assert_eq!(false_positives.len(), positives.len(), "one false positive fraction per label");
        ConfusionTensor { true_positives, false_positives, positives }
    }

    /// The weighted sum of tensors of the same data. If the weights sum to 1, it is the tensor of a randomised classifier.
    ///
    /// # Panics
    /// If there are no parts, or they differ in the number of labels.
    pub fn scaled_sum(parts: &[(f64, &ConfusionTensor)]) -> ConfusionTensor {
        let first = parts.first().expect("a mixture has at least one part").1;
        let mut sum = ConfusionTensor {
            true_positives: vec![0.0; first.labels()],
            false_positives: vec![0.0; first.labels()],
            positives: Arc::clone(&first.positives),
        };
        for &(weight, part) in parts {
            assert_eq!(part.labels(), first.labels(), "the parts of a mixture have the same labels");
            let accumulate = |sum: &mut [f64], part: &[f64]| {
                sum.iter_mut().zip(part).for_each(|(sum, &value)| *sum += weight * value);
            };
            accumulate(&mut sum.true_positives, &part.true_positives);
            accumulate(&mut sum.false_positives, &part.false_positives);
        }
        sum
    }

    pub fn labels(&self) -> usize {
        self.true_positives.len()
    }

    /// The fraction of rows with each label.
    pub fn positives(&self) -> &[f64] {
        &self.positives
    }

    /// The cells tp, fp, fn and tn of label `j`, none of which is negative.
    pub fn cells(&self, j: usize) -> [f64; 4] {
        cells(self.true_positives[j], self.false_positives[j], self.positives[j])
    }

    /// Sets the tensor to `(1 - alpha) * self + alpha * other` (Algorithm 1, line 13), exactly so for `alpha` 0 and 1.
    pub fn mix(&mut self, other: &ConfusionTensor, alpha: f64) {
        assert_eq!(self.labels(), other.labels(), "the parts of a mixture have the same labels");
        let mix = |mine: &mut [f64], theirs: &[f64]| {
            fill_blocks(mine, |range, mine| {
                mine.iter_mut().zip(&theirs[range]).for_each(|(mine, &to)| *mine = blend(*mine, to, alpha));
            });
        };
        mix(&mut self.true_positives, &other.true_positives);
        mix(&mut self.false_positives, &other.false_positives);
    }
}

/// The cells tp, fp, fn and tn from the stored ones. Those of mixtures can round to below 0, hence the maxima.
#[inline(always)]
fn cells(true_positives: f64, false_positives: f64, positives: f64) -> [f64; 4] {
    let misses = false_negatives(positives, true_positives);
    let rest = true_negatives(true_positives, false_positives, misses);
    [true_positives, false_positives, misses, rest]
}

#[inline(always)]
pub(super) fn false_negatives(positives: f64, true_positives: f64) -> f64 {
    (positives - true_positives).max(0.0)
}

#[inline(always)]
pub(super) fn true_negatives(true_positives: f64, false_positives: f64, false_negatives: f64) -> f64 {
    (1.0 - true_positives - false_positives - false_negatives).max(0.0)
}

#[inline(always)]
pub(super) fn blend(from: f64, to: f64, alpha: f64) -> f64 {
    (1.0 - alpha) * from + alpha * to
}
