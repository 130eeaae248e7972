//! Affine top-k rules.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::buffers::prefetch::prefetch_ahead;
use crate::measure::{Gradient, fill_blocks, larger_magnitude, max_abs};
use crate::shard::Marginals;

/// The labels that a rule chooses from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Candidates {
    /// All labels: one without a stored marginal has probability 0 and scores its intercept.
    All,
    /// Labels with a stored marginal; others only to fill up a row with fewer than k.
    Support,
}

impl Candidates {
    pub fn name(self) -> &'static str {
        match self {
            Candidates::All => "all",
            Candidates::Support => "support",
        }
    }

    pub fn from_name(name: &str) -> Option<Candidates> {
        [Candidates::All, Candidates::Support].into_iter().find(|candidates| candidates.name() == name)
    }
}

/// A linear classifier: predicts the k labels with the largest `slope * marginal + intercept`, of equal ones the smaller
/// label (Theorem 4.1). Products of f32 are exact in f64, so fused and unfused multiply-adds give the same score.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pub slopes: Vec<f32>,
    pub intercepts: Vec<f32>,
}

impl Rule {
    /// Returns the rule that predicts the k most probable labels.
    pub fn top_k(labels: usize) -> Rule {
        Rule { slopes: vec![1.0; labels], intercepts: vec![0.0; labels] }
    }

    /// Returns the rule that multiplies marginals by a weight for each label.
    pub fn weighted(weights: &[f64]) -> Rule {
        Rule::affine(weights, &vec![0.0; weights.len()])
    }

    /// Returns a rule from coefficients of any size. They are scaled by a power of two, which changes neither predictions
    /// nor digits, so that the largest one fits f32.
    ///
    /// # Panics
    /// If a coefficient is not finite, or the lengths differ.
    pub fn affine(slopes: &[f64], intercepts: &[f64]) -> Rule {
        Rule::scaled(slopes, intercepts, larger_magnitude(max_abs(slopes), max_abs(intercepts)), |_, _| ())
    }

    /// Returns the rule of a gradient (Algorithm 1, line 8), with [`Rule::order_without_positives`] applied.
    pub fn from_gradient(gradient: &Gradient, positives: &[u64]) -> Rule {
        let Gradient { slopes, intercepts, largest, .. } = gradient;
        Rule::scaled(slopes, intercepts, *largest, |range, slopes| {
            order_without_positives(slopes, &positives[range])
        })
    }

    /// `largest` is the largest magnitude of a coefficient. `change` modifies the scaled slopes of a range of labels.
    fn scaled(
        slopes: &[f64],
        intercepts: &[f64],
        largest: f64,
        change: impl Fn(Range<usize>, &mut [f32]) + Sync,
    ) -> Rule {
        assert_eq!(slopes.len(), intercepts.len(), "a slope and an intercept for every label");
        assert!(largest.is_finite(), "coefficients of a rule must be finite");
        let scale = if largest == 0.0 { 1.0 } else { (-largest.log2().floor()).exp2() };
        let narrow = |out: &mut [f32], values: &[f64]| {
            out.iter_mut().zip(values).for_each(|(out, v)| *out = (v * scale) as f32);
        };
        let (mut narrow_slopes, mut narrow_intercepts) = (vec![0.0; slopes.len()], vec![0.0; slopes.len()]);
        fill_blocks(&mut narrow_slopes, |range, out| {
            narrow(out, &slopes[range.clone()]);
            change(range, out);
        });
        fill_blocks(&mut narrow_intercepts, |range, out| narrow(out, &intercepts[range]));
        Rule { slopes: narrow_slopes, intercepts: narrow_intercepts }
    }

    /// Gives labels without positives and without a slope a tiny one, so that the more probable of them is preferred where
    /// nothing better is left.
    pub fn order_without_positives(mut self, positives: &[u64]) -> Rule {
        fill_blocks(&mut self.slopes, |range, slopes| order_without_positives(slopes, &positives[range]));
        self
    }

    /// Coefficients are scaled to about 1, so this outweighs no other score but 0.
    const TINY_SLOPE: f32 = 1e-30;

    /// Slope and intercept of a label without positives that the metric ignores.
    pub(super) const WITHOUT_POSITIVES: (f32, f32) = (Rule::TINY_SLOPE, 0.0);

    pub fn labels(&self) -> usize {
        self.slopes.len()
    }

    /// Returns this rule by column, as passes over `marginals` need it.
    ///
    /// # Panics
    /// If the rule has another number of labels.
    pub fn by_column<'r>(&'r self, marginals: &Marginals) -> Cow<'r, Rule> {
        assert_eq!(self.labels(), marginals.labels(), "a rule for the labels of the marginals");
        let Some(labels) = marginals.labels_by_column() else { return Cow::Borrowed(self) };
        let arranged = |coefficients| arrange(coefficients, labels, 0.0);
        Cow::Owned(Rule { slopes: arranged(&self.slopes), intercepts: arranged(&self.intercepts) })
    }

    /// Returns the rule by label of a rule by column, which may omit the last columns if these have no positives.
    pub fn by_label(self: Arc<Self>, marginals: &Marginals) -> Arc<Rule> {
        let Some(columns) = marginals.columns_by_label() else { return self };
        let (slope, intercept) = Rule::WITHOUT_POSITIVES;
        Arc::new(Rule {
            slopes: arrange(&self.slopes, columns, slope),
            intercepts: arrange(&self.intercepts, columns, intercept),
        })
    }
}

/// Returns the coefficients at `places`; `missing` for places behind the last one.
fn arrange(coefficients: &[f32], places: &[u32], missing: f32) -> Vec<f32> {
    let mut arranged = vec![missing; places.len()];
    fill_blocks(&mut arranged, |range, out| {
        let places = &places[range];
        for (turn, (out, &place)) in out.iter_mut().zip(places).enumerate() {
            prefetch_ahead(coefficients, places, turn, |&place| place as usize);
            *out = coefficients.get(place as usize).copied().unwrap_or(missing);
        }
    });
    arranged
}

fn order_without_positives(slopes: &mut [f32], positives: &[u64]) {
    for (slope, &positives) in slopes.iter_mut().zip(positives) {
        // Without a branch, which would be mispredicted half of the time.
        let unseen = (positives == 0) & (*slope == 0.0);
        *slope = if unseen { Rule::TINY_SLOPE } else { *slope };
    }
}
