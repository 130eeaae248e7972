//! Aggregations over labels: their values, and the weight of every label in their derivatives.

use std::ops::Range;

use super::blocks::{LANES, View, lanes, map_blocks};
use super::formula::{Expr, Kind, Node, lower};
use super::number::{Dual, Number};

/// An aggregation with its binary formula bound.
#[derive(Clone, Debug)]
pub(super) struct Aggregate {
    pub kind: Kind,
    pub body: Node,
    /// `body` before it was bound.
    pub formula: Expr,
    pub budget: f64,
    pub epsilon: f64,
}

/// What one pass over the labels leaves of an aggregation; parts of the labels can be merged.
#[derive(Clone, Copy, Debug)]
enum Statistic {
    Total(f64),
    Cells([f64; 4]),
    Smallest { value: f64, label: usize },
}

impl Statistic {
    fn merge(self, other: Statistic) -> Statistic {
        match (self, other) {
            (Statistic::Total(a), Statistic::Total(b)) => Statistic::Total(a + b),
            (Statistic::Cells(a), Statistic::Cells(b)) => {
                Statistic::Cells(std::array::from_fn(|i| a[i] + b[i]))
            }
            (Statistic::Smallest { value: a, .. }, Statistic::Smallest { value: b, .. }) if is_less(b, a) => {
                other
            }
            _ => self,
        }
    }
}

/// NaN counts as least, so that it is seen and not skipped.
fn is_less(a: f64, b: f64) -> bool {
    a < b || (a.is_nan() && !b.is_nan())
}

/// The value of an aggregation and how it depends on the labels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aggregated {
    pub value: f64,
    pub sensitivity: Sensitivity,
}

/// The derivative of an aggregation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sensitivity {
    /// `scale * (f + epsilon)^power` times the gradient of the binary formula f of a label.
    Label { scale: f64, power: i32 },
    /// These four derivatives with respect to the cells of any label.
    Shared([f64; 4]),
    /// The gradient of the binary formula at this label, 0 elsewhere.
    Only(usize),
}

impl Aggregate {
    pub(super) fn evaluate(&self, view: View) -> Aggregated {
        let labels = view.labels() as f64;
        let parts = map_blocks(view.labels(), |block| self.statistic(view, block));
        let statistic = parts.into_iter().reduce(Statistic::merge);
        match (self.kind, statistic) {
            (_, None) => Aggregated { value: f64::NAN, sensitivity: Sensitivity::Shared([0.0; 4]) },
            (_, Some(Statistic::Smallest { value, label })) => {
                Aggregated { value, sensitivity: Sensitivity::Only(label) }
            }
            (_, Some(Statistic::Cells(sums))) => self.micro(sums.map(|sum| sum / labels), labels),
            (Kind::GeometricMean, Some(Statistic::Total(total))) => {
                let value = (total / labels).exp();
                Aggregated { value, sensitivity: Sensitivity::Label { scale: value / labels, power: -1 } }
            }
            (Kind::HarmonicMean, Some(Statistic::Total(total))) => {
                let value = labels / total;
                Aggregated {
                    value,
                    sensitivity: Sensitivity::Label { scale: value * value / labels, power: -2 },
                }
            }
            (Kind::Sum, Some(Statistic::Total(value))) => {
                Aggregated { value, sensitivity: Sensitivity::Label { scale: 1.0, power: 0 } }
            }
            (_, Some(Statistic::Total(total))) => Aggregated {
                value: total / labels,
                sensitivity: Sensitivity::Label { scale: 1.0 / labels, power: 0 },
            },
        }
    }

    /// The cells are means over labels, so that they sum to 1; epsilon is one for the *sums*, as in the
    /// field's reference implementation, and so the m-th part of it goes with the means.
    fn micro(&self, means: [f64; 4], labels: f64) -> Aggregated {
        let body = lower(&self.formula, self.budget, self.epsilon / labels);
        let cells: [Dual<4>; 4] = std::array::from_fn(|i| Dual::variable(means[i], i));
        let partials = body.scalar(&cells).partials.map(|partial| partial / labels);
        Aggregated { value: body.scalar(&means), sensitivity: Sensitivity::Shared(partials) }
    }

    fn statistic(&self, view: View, block: Range<usize>) -> Statistic {
        let mut values = [0.0; LANES];
        match self.kind {
            Kind::Micro => {
                let mut sums = [[0.0; LANES]; 4];
                for range in lanes(block) {
                    let cells = view.load(range.clone());
                    for (sums, cells) in sums.iter_mut().zip(&cells) {
                        add(sums, cells, range.len());
                    }
                }
                Statistic::Cells(sums.map(|lanes| lanes.iter().sum()))
            }
            Kind::Minimum => {
                let mut smallest = Statistic::Smallest { value: f64::INFINITY, label: block.start };
                for range in lanes(block) {
                    self.body.eval(&view.load(range.clone()), &mut values);
                    for (label, &value) in range.zip(&values) {
                        smallest = smallest.merge(Statistic::Smallest { value, label });
                    }
                }
                smallest
            }
            Kind::Macro | Kind::Sum | Kind::GeometricMean | Kind::HarmonicMean => {
                let mut sums = [0.0; LANES];
                for range in lanes(block) {
                    self.body.eval(&view.load(range.clone()), &mut values);
                    match self.kind {
                        Kind::GeometricMean => values.iter_mut().for_each(|f| *f = (*f + self.epsilon).ln()),
                        Kind::HarmonicMean => values.iter_mut().for_each(|f| *f = 1.0 / (*f + self.epsilon)),
                        _ => {}
                    }
                    add(&mut sums, &values, range.len());
                }
                Statistic::Total(sums.iter().sum())
            }
        }
    }

    /// Adds `weight` times the derivatives with respect to the cells of the labels in `range`.
    pub(super) fn add_derivatives(
        &self,
        sensitivity: Sensitivity,
        weight: f64,
        cells: &[[f64; LANES]; 4],
        range: Range<usize>,
        gradient: &mut [[f64; LANES]; 4],
    ) {
        match sensitivity {
            Sensitivity::Shared(partials) => {
                for (lanes, partial) in gradient.iter_mut().zip(partials) {
                    lanes.iter_mut().for_each(|slot| *slot += weight * partial);
                }
            }
            Sensitivity::Only(label) if !range.contains(&label) => {}
            Sensitivity::Only(label) => {
                let lane = label - range.start;
                let partials = self.differentiate(cells)[lane].partials;
                for (lanes, partial) in gradient.iter_mut().zip(partials) {
                    lanes[lane] += weight * partial;
                }
            }
            Sensitivity::Label { scale, power } => {
                for (lane, value) in self.differentiate(cells)[..range.len()].iter().enumerate() {
                    let factor = weight
                        * scale
                        * if power == 0 { 1.0 } else { (value.value + self.epsilon).powi(power) };
                    for (lanes, partial) in gradient.iter_mut().zip(value.partials) {
                        lanes[lane] += factor * partial;
                    }
                }
            }
        }
    }

    fn differentiate(&self, cells: &[[f64; LANES]; 4]) -> [Dual<4>; LANES] {
        let leaves: [[Dual<4>; LANES]; 4] =
            std::array::from_fn(|i| std::array::from_fn(|lane| Dual::variable(cells[i][lane], i)));
        let mut values = [Dual::from_f64(0.0); LANES];
        self.body.eval(&leaves, &mut values);
        values
    }
}

/// Lanes are summed side by side, which the compiler turns into vector instructions.
fn add(sums: &mut [f64; LANES], values: &[f64; LANES], used: usize) {
    for (sum, value) in sums.iter_mut().zip(values).take(used) {
        *sum += value;
    }
}
