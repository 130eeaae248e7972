//! The generator of synthetic rows.

use std::collections::HashSet;

use crate::random::{Purpose, RandomSequence, bits};

/// The size of a data set.
#[derive(Clone, Copy, Debug)]
pub struct SynthShape {
    pub instances: u64,
    pub labels: u32,
    pub features: u32,
    /// Stored marginals per row.
    pub nnz: u32,
    /// Mean number of labels per row.
    pub average_labels: f64,
    /// Exponent of the power law of label popularity.
    pub exponent: f64,
}

pub struct Generator {
    shape: SynthShape,
    seed: u64,
    /// The label of each popularity rank; numbers are scattered, as in real data.
    label_of_rank: Vec<u32>,
}

/// Features that depend on one label.
const FEATURES_PER_LABEL: u64 = 3;
/// Features of a row that depend on no label.
const NOISE_FEATURES: u64 = 4;
/// Share of a row's labels that are not concepts.
const BACKGROUND_SHARE: f64 = 0.1;
/// Bounds of the marginals of concepts, whose mean is 0.6.
const CONCEPT_MARGINALS: (f64, f64) = (0.25, 0.95);

/// Buffers that a thread reuses.
#[derive(Default)]
pub struct RowScratch {
    taken: HashSet<u32>,
}

impl Generator {
    pub fn new(shape: SynthShape, seed: u64) -> Generator {
        let mut label_of_rank: Vec<u32> = (0..shape.labels).collect();
        label_of_rank.sort_by_key(|&label| bits(seed, Purpose::SynthLabel, 0, label.into()));
        Generator { shape, seed, label_of_rank }
    }

    pub fn entries_per_row(&self) -> u64 {
        self.shape.nnz.min(self.shape.labels).into()
    }

    /// Returns features, labels and marginals of a global row, as (column, value) in no order.
    #[allow(clippy::type_complexity)]
    pub fn row(
        &self,
        row: u64,
        scratch: &mut RowScratch,
    ) -> (Vec<(u32, f32)>, Vec<(u32, f32)>, Vec<(u32, f32)>) {
        let mut random = RandomSequence::new(self.seed, Purpose::SynthRow, row);
        let marginals = self.marginals(&mut random, &mut scratch.taken);
        let features = self.features(&marginals, &mut random, &mut scratch.taken);
        let labels = marginals
            .iter()
            .filter(|&&(_, chance)| random.next_uniform() < f64::from(chance))
            .map(|&(label, _)| (label, 1.0))
            .collect();
        (features, labels, marginals)
    }

    /// Returns the marginals of a row: concepts first, then the background.
    fn marginals(&self, random: &mut RandomSequence, taken: &mut HashSet<u32>) -> Vec<(u32, f32)> {
        taken.clear();
        let wanted = self.entries_per_row() as usize;
        let mean = 0.5 * (CONCEPT_MARGINALS.0 + CONCEPT_MARGINALS.1);
        let expected = self.shape.average_labels * (1.0 - BACKGROUND_SHARE) / mean;
        // Between 0.5 and 1.5 times the expected number, rounded at random.
        let concepts = (expected * (0.5 + random.next_uniform()) + random.next_uniform()) as usize;
        let concepts = concepts.min(wanted);
        let mut entries = Vec::with_capacity(wanted);
        // The background falls off like 1 / position and sums to its share of the labels.
        let rest = wanted - concepts;
        let harmonic = (rest as f64 + 0.5).ln() + 0.577;
        let background = self.shape.average_labels * BACKGROUND_SHARE / harmonic.max(1.0);
        while entries.len() < wanted {
            let label = self.draw_label(random, taken);
            let chance = if entries.len() < concepts {
                CONCEPT_MARGINALS.0 + (CONCEPT_MARGINALS.1 - CONCEPT_MARGINALS.0) * random.next_uniform()
            } else {
                let position = (entries.len() - concepts + 1) as f64;
                (background / position * (0.5 + random.next_uniform())).min(CONCEPT_MARGINALS.0)
            };
            entries.push((label, chance as f32));
        }
        entries
    }

    /// Draws a label that is not taken, by the power law. After 16 failures, takes the next free one.
    fn draw_label(&self, random: &mut RandomSequence, taken: &mut HashSet<u32>) -> u32 {
        let labels = self.shape.labels;
        for _ in 0..16 {
            let label = self.label_of_rank[self.draw_rank(random.next_uniform()) as usize];
            if taken.insert(label) {
                return label;
            }
        }
        let mut rank = (random.next_bits() % u64::from(labels)) as usize;
        loop {
            let label = self.label_of_rank[rank];
            if taken.insert(label) {
                return label;
            }
            rank = (rank + 1) % labels as usize;
        }
    }

    /// Returns the inverse distribution function of a continuous power law, rounded down to a rank.
    fn draw_rank(&self, u: f64) -> u32 {
        let (top, exponent) = (f64::from(self.shape.labels) + 1.0, self.shape.exponent);
        let at = if (exponent - 1.0).abs() < 1e-9 {
            (u * top.ln()).exp()
        } else {
            let power = 1.0 - exponent;
            (u * (top.powf(power) - 1.0) + 1.0).powf(1.0 / power)
        };
        ((at - 1.0) as u32).min(self.shape.labels - 1)
    }

    /// Returns the features of a row: some for each concept, as strong as its marginal, then noise.
    fn features(
        &self,
        marginals: &[(u32, f32)],
        random: &mut RandomSequence,
        taken: &mut HashSet<u32>,
    ) -> Vec<(u32, f32)> {
        taken.clear();
        let width = u64::from(self.shape.features);
        let mut features = Vec::new();
        let mut add = |feature: u64, value: f64| {
            let feature = (feature % width) as u32;
            if taken.insert(feature) {
                features.push((feature, value as f32));
            }
        };
        for &(label, chance) in marginals.iter().filter(|entry| f64::from(entry.1) >= CONCEPT_MARGINALS.0) {
            for copy in 0..FEATURES_PER_LABEL {
                let index = u64::from(label) * FEATURES_PER_LABEL + copy;
                let noise = 0.8 + 0.4 * random.next_uniform();
                add(bits(self.seed, Purpose::SynthLabel, 1, index), f64::from(chance) * noise);
            }
        }
        for _ in 0..NOISE_FEATURES {
            let feature = random.next_bits();
            add(feature, 0.1 + 0.4 * random.next_uniform());
        }
        features
    }
}
