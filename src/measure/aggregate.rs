//! Aggregations over labels: their values, and the weight of every label in their derivatives.

use std::ops::Range;

use super::blocks::{BLOCK, GROUP_BLOCKS, LANES, lanes};
use super::formula::{DualColumn, Expr, Kind, Program, ValueRange, lower};
use super::found::{Found, MOST, Sums};
use super::number::Dual;
use super::view::{View, Wanted};

/// An aggregation with its binary formula bound.
#[derive(Clone, Debug)]
pub(super) struct Aggregate {
    pub kind: Kind,
    /// The binary formula.
    pub formula: Expr,
    program: Program,
    pub budget: f64,
    pub epsilon: f64,
    zero_unless_found: bool,
    ignores_unseen: bool,
}

/// What one pass over the labels leaves of an aggregation; parts of the labels can be merged.
#[derive(Clone, Copy, Debug)]
pub(super) enum Statistic {
    Total(f64),
    Cells([f64; 4]),
    Smallest { value: f64, label: usize },
}

impl Statistic {
    pub(super) fn merge(self, other: Statistic) -> Statistic {
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

impl Aggregated {
    /// All labels have the same weight, whatever their values.
    fn even(value: f64, scale: f64) -> Aggregated {
        Aggregated { value, sensitivity: Sensitivity::Label { scale, power: 0 } }
    }
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
    pub(super) fn new(kind: Kind, formula: Expr, budget: f64, epsilon: f64) -> Aggregate {
        let body = lower(&formula, budget, epsilon);
        let program = Program::new(&body, 4);
        let cell = ValueRange { low: 0.0, high: 2.0 * MOST };
        let is_sum = matches!(kind, Kind::Macro | Kind::Sum);
        let is_zero =
            |cells: [ValueRange; 4]| is_sum && program.range(&cells).is_some_and(ValueRange::is_zero);
        let zero_unless_found = is_zero([ValueRange::ZERO, cell, cell, cell]);
        let ignores_unseen = is_zero([ValueRange::ZERO, cell, ValueRange::ZERO, cell])
            // What is 0 wherever predictions are moves with none; but a derivative may be no number all the same.
            && [0.0, 0.25, 1.0].into_iter().all(|alarms| {
                let cells = [0.0, alarms, 0.0, 1.0 - alarms];
                let cells: [Dual<4>; 4] = std::array::from_fn(|i| Dual::variable(cells[i], i));
                let [_, alarm, _, rest] = body.scalar(&cells).partials;
                alarm == 0.0 && rest == 0.0
            });
        Aggregate { kind, formula, program, budget, epsilon, zero_unless_found, ignores_unseen }
    }

    /// Whether labels without true positives are known to add exactly 0.
    pub(super) fn is_zero_unless_found(&self) -> bool {
        self.zero_unless_found
    }

    /// Whether labels without positives are known to add exactly 0, whatever is predicted, and so to have no gradient.
    pub(super) fn ignores_unseen(&self) -> bool {
        self.ignores_unseen
    }

    /// Scratch space for [`Aggregate::statistic`].
    pub(super) fn columns(&self) -> Vec<[f64; LANES]> {
        self.program.columns()
    }

    fn wanted(&self) -> Wanted {
        let all = self.kind == Kind::Micro || self.program.uses(3);
        if all { Wanted::All } else { Wanted::NoTrueNegatives }
    }

    /// The aggregation from what all the labels left; there is none if there are no labels.
    pub(super) fn finish(&self, statistic: Option<Statistic>, labels: usize) -> Aggregated {
        let labels = labels as f64;
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
            (Kind::Sum, Some(Statistic::Total(value))) => Aggregated::even(value, 1.0),
            (_, Some(Statistic::Total(total))) => Aggregated::even(total / labels, 1.0 / labels),
        }
    }

    /// The aggregation where it has a known value, unless its derivative depends on more than that.
    pub(super) fn known(&self, value: f64, labels: usize) -> Option<Aggregated> {
        match self.kind {
            Kind::Sum => Some(Aggregated::even(value, 1.0)),
            Kind::Macro => Some(Aggregated::even(value, 1.0 / labels as f64)),
            _ => None,
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

    /// What the blocks of a group of labels leave.
    #[inline(always)]
    pub(super) fn statistics<'a>(
        &self,
        view: View,
        found: Option<&Found>,
        group: Range<usize>,
        columns: &mut [[f64; LANES]],
        out: impl Iterator<Item = &'a mut Statistic>,
    ) {
        match (found, view.towards) {
            (Some(found), Some((_, alpha))) if self.zero_unless_found => {
                let totals = self.totals(found, alpha, columns);
                out.zip(totals).for_each(|(out, total)| *out = Statistic::Total(total));
            }
            _ => {
                let blocks = group.clone().step_by(BLOCK);
                for (start, out) in blocks.zip(out) {
                    *out = self.statistic(view, start..group.end.min(start + BLOCK), columns);
                }
            }
        }
    }

    /// [`Statistic::Total`] of the blocks of a group, from those of its labels that are found.
    #[inline(always)]
    fn totals(&self, found: &Found, alpha: f64, columns: &mut [[f64; LANES]]) -> [f64; GROUP_BLOCKS] {
        let view = found.view(alpha);
        let mut sums = Sums::ZERO;
        for range in lanes(0..view.labels()) {
            let (first, length) = (range.start, range.len());
            sums.add(found, first, &self.evaluate(view, range, columns)[..length]);
        }
        sums.totals(found)
    }

    /// The binary formula of at most [`LANES`] labels.
    #[inline(always)]
    fn evaluate<'a>(
        &self,
        view: View,
        range: Range<usize>,
        columns: &'a mut [[f64; LANES]],
    ) -> &'a [f64; LANES] {
        self.load(view, range, columns);
        self.program.run(columns)
    }

    #[inline(always)]
    fn load(&self, view: View, range: Range<usize>, columns: &mut [[f64; LANES]]) {
        let [a, b, c, d, ..] = columns else { unreachable!("a label has four cells") };
        view.load(range, self.wanted(), [a, b, c, d]);
    }

    /// What a block of labels leaves.
    #[inline(always)]
    fn statistic(&self, view: View, block: Range<usize>, columns: &mut [[f64; LANES]]) -> Statistic {
        match self.kind {
            Kind::Micro => {
                let mut sums = [[0.0; LANES]; 4];
                for range in lanes(block) {
                    self.load(view, range.clone(), columns);
                    for (sums, cells) in sums.iter_mut().zip(&*columns) {
                        add(sums, cells, range.len());
                    }
                }
                Statistic::Cells(sums.map(|lanes| lanes.iter().sum()))
            }
            Kind::Minimum => {
                let mut smallest = Statistic::Smallest { value: f64::INFINITY, label: block.start };
                for range in lanes(block) {
                    for (label, &value) in range.clone().zip(self.evaluate(view, range, columns)) {
                        smallest = smallest.merge(Statistic::Smallest { value, label });
                    }
                }
                smallest
            }
            Kind::Macro | Kind::Sum | Kind::GeometricMean | Kind::HarmonicMean => {
                let mut sums = [0.0; LANES];
                for range in lanes(block) {
                    let values = self.evaluate(view, range.clone(), columns);
                    let epsilon = self.epsilon;
                    match self.kind {
                        Kind::GeometricMean => {
                            add(&mut sums, &values.map(|f| (f + epsilon).ln()), range.len())
                        }
                        Kind::HarmonicMean => {
                            add(&mut sums, &values.map(|f| 1.0 / (f + epsilon)), range.len())
                        }
                        _ => add(&mut sums, values, range.len()),
                    }
                }
                Statistic::Total(sums.iter().sum())
            }
        }
    }

    /// Scratch space for [`Aggregate::add_derivatives`].
    pub(super) fn dual_columns(&self) -> Vec<DualColumn<LANES>> {
        let mut columns: Vec<DualColumn<LANES>> = self.program.columns();
        for (cell, column) in columns.iter_mut().take(4).enumerate() {
            column.partials[cell].fill(1.0);
        }
        columns
    }

    /// Adds `weight` times the derivatives with respect to the cells of the labels in `range`.
    #[inline(always)]
    pub(super) fn add_derivatives(
        &self,
        (sensitivity, weight): (Sensitivity, f64),
        view: View,
        range: Range<usize>,
        columns: &mut [DualColumn<LANES>],
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
                let partials = &self.differentiate(view, range, columns).partials;
                for (lanes, partials) in gradient.iter_mut().zip(partials) {
                    lanes[lane] += weight * partials[lane];
                }
            }
            Sensitivity::Label { scale, power } => {
                let found = self.differentiate(view, range, columns);
                let factors = found.values.map(|value| {
                    weight * scale * if power == 0 { 1.0 } else { (value + self.epsilon).powi(power) }
                });
                for (lanes, partials) in gradient.iter_mut().zip(&found.partials) {
                    for lane in 0..LANES {
                        lanes[lane] += factors[lane] * partials[lane];
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn differentiate<'a>(
        &self,
        view: View,
        range: Range<usize>,
        columns: &'a mut [DualColumn<LANES>],
    ) -> &'a DualColumn<LANES> {
        let [a, b, c, d, ..] = columns else { unreachable!("a label has four cells") };
        let cells = [&mut a.values, &mut b.values, &mut c.values, &mut d.values];
        view.load(range, self.wanted(), cells);
        self.program.run(columns)
    }
}

/// Lanes are summed side by side, which the compiler turns into vector instructions.
#[inline(always)]
fn add(sums: &mut [f64; LANES], values: &[f64; LANES], used: usize) {
    if used == LANES {
        // A loop of known length, which almost all are.
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    } else {
        sums.iter_mut().zip(values).take(used).for_each(|(sum, value)| *sum += value);
    }
}
