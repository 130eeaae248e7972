//! The affine top-k rule.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::buffers::prefetch::gather_prefetched;
use crate::measure::{Gradient, fill_blocks, larger_magnitude, max_abs};
use crate::shard::Marginals;

/// Where a rule looks for labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Candidates {
    /// Every label: one without a stored marginal has probability 0 and scores its intercept.
    All,
    /// Labels with a stored marginal; others only to fill up a row that has fewer than k.
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

/// Predicts the k labels with the largest `slope * marginal + intercept`; of equal ones the smaller
/// label (Theorem "linear metric", equation 6).
///
/// Both vectors are f32, and so are marginals: their product is exact in f64, so a fused and an
/// unfused multiply-add give the same score.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pub slopes: Vec<f32>,
    pub intercepts: Vec<f32>,
}

impl Rule {
    /// The k most probable labels.
    pub fn top_k(labels: usize) -> Rule {
        Rule { slopes: vec![1.0; labels], intercepts: vec![0.0; labels] }
    }

    /// Marginals weighted label by label.
    pub fn weighted(weights: &[f64]) -> Rule {
        Rule::affine(weights, &vec![0.0; weights.len()])
    }

    /// A rule from coefficients of any size. Scaling both vectors changes no prediction; a power of
    /// two changes no digit either, and keeps the largest coefficient within f32.
    ///
    /// # Panics
    /// When a coefficient is not finite, or there are not as many slopes as intercepts.
    pub fn affine(slopes: &[f64], intercepts: &[f64]) -> Rule {
        Rule::scaled(slopes, intercepts, larger_magnitude(max_abs(slopes), max_abs(intercepts)), |_, _| ())
    }

    /// The rule of a gradient (Algorithm 1, line 8) of labels with so many positives, in the order of
    /// [`Rule::order_without_positives`].
    pub fn from_gradient(gradient: &Gradient, positives: &[u64]) -> Rule {
        let Gradient { slopes, intercepts, largest, .. } = gradient;
        Rule::scaled(slopes, intercepts, *largest, |range, slopes| {
            order_without_positives(slopes, &positives[range])
        })
    }

    /// `largest` is the size of the largest coefficient. `change` changes the scaled slopes of a range of labels.
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

    /// Gives labels that were never seen, and so have no slope, one far below any other: it decides
    /// nothing but which of them a row gets when nothing better is left. The more probable one.
    pub fn order_without_positives(mut self, positives: &[u64]) -> Rule {
        fill_blocks(&mut self.slopes, |range, slopes| order_without_positives(slopes, &positives[range]));
        self
    }

    /// Coefficients are scaled to about 1, so that this outweighs no other score but 0.
    const TINY_SLOPE: f32 = 1e-30;

    /// The coefficients of a label that was never seen, and of which a metric takes no notice.
    pub(super) const WITHOUT_POSITIVES: (f32, f32) = (Rule::TINY_SLOPE, 0.0);

    pub fn labels(&self) -> usize {
        self.slopes.len()
    }

    /// The same rule for passes over `marginals`, which have labels in another order. Such a rule may leave out the last ones:
    /// those are then labels that were never seen.
    ///
    /// # Panics
    /// When it is for another number of labels.
    pub fn by_column<'r>(&'r self, marginals: &Marginals) -> Cow<'r, Rule> {
        assert_eq!(self.labels(), marginals.labels(), "a rule for the labels of the marginals");
        let Some(labels_by_column) = marginals.labels_by_column() else { return Cow::Borrowed(self) };
        let arranged = |coefficients: &[f32]| {
            let mut arranged = vec![0.0; coefficients.len()];
            fill_blocks(&mut arranged, |range, out| {
                out.iter_mut()
                    .zip(gather_prefetched(coefficients, &labels_by_column[range]))
                    .for_each(|(out, found)| *out = found);
            });
            arranged
        };
        Cow::Owned(Rule { slopes: arranged(&self.slopes), intercepts: arranged(&self.intercepts) })
    }

    /// The rule that [`Rule::by_column`] gives this one for, of all labels.
    pub fn by_label(self: Arc<Self>, marginals: &Marginals) -> Arc<Rule> {
        let Some(columns) = marginals.columns_by_label() else { return self };
        let arranged = |coefficients: &[f32], unseen: f32| {
            let mut arranged = vec![unseen; columns.len()];
            fill_blocks(&mut arranged, |range, out| {
                let found = columns[range].iter().map(|&column| coefficients.get(column as usize));
                out.iter_mut().zip(found).for_each(|(out, found)| *out = *found.unwrap_or(out));
            });
            arranged
        };
        let (slope, intercept) = Rule::WITHOUT_POSITIVES;
        Arc::new(Rule {
            slopes: arranged(&self.slopes, slope),
            intercepts: arranged(&self.intercepts, intercept),
        })
    }
}

fn order_without_positives(slopes: &mut [f32], positives: &[u64]) {
    for (slope, &positives) in slopes.iter_mut().zip(positives) {
        // A choice, not a branch: half of the branches would be mispredicted.
        let unseen = (positives == 0) & (*slope == 0.0);
        *slope = if unseen { Rule::TINY_SLOPE } else { *slope };
    }
}
