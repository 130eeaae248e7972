//! Asking a forest.

use super::forest::{Forest, NO_NODE};
use crate::estimate::{Ask, Kept, Rows};

impl Forest {
    pub(in crate::estimate) fn largest(&self, rows: Rows<'_>, ask: Ask) -> Kept {
        self.largest_of_all(rows, ask.keep)
    }

    /// The definition: every node of every row.
    pub fn largest_of_all(&self, rows: Rows<'_>, keep: usize) -> Kept {
        let mut kept = Kept::default();
        let mut dense = vec![0.0f32; self.features];
        let mut probabilities = vec![0.0f32; self.nodes()];
        for row in 0..rows.count() {
            let (columns, values) = rows.row(row);
            let norm = values.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>().sqrt();
            let scale = if norm > 0.0 { (1.0 / norm) as f32 } else { 0.0 };
            for (&column, &value) in columns.iter().zip(values) {
                dense[column as usize] = value * scale;
            }
            let mut sums = vec![0.0f32; self.labels];
            for node in 0..self.nodes() {
                let (features, weights) = self.node(node);
                let score = features.iter().zip(weights).map(|(&f, &w)| dense[f as usize] * w).sum::<f32>();
                let own = 1.0 / (1.0 + (-(score + self.biases[node])).exp());
                let above = match self.parents[node] {
                    NO_NODE => 1.0,
                    parent => probabilities[parent as usize],
                };
                probabilities[node] = above * own;
                if self.leaf_labels[node] != NO_NODE {
                    sums[self.leaf_labels[node] as usize] += probabilities[node];
                }
            }
            columns.iter().for_each(|&column| dense[column as usize] = 0.0);
            let share = self.trees as f32;
            kept.push(&mut (0..).zip(sums.iter().map(|sum| sum / share)).collect(), keep);
        }
        kept
    }
}
