//! Aggregations over labels: their values, and the weights of labels in their derivatives.

use std::ops::Range;

use super::active_labels::{ActiveLabels, MAX_FRACTION, SlotSums};
use super::formula::{AggregationKind, DualRegister, Expr, Program, ValueRange, lower};
use super::label_blocks::{BLOCK_LABELS, GROUP_BLOCKS, LANES, lane_ranges};
use super::number::Dual;
use super::tensor_view::{CellsToLoad, TensorView};

/// An aggregation whose binary formula is bound to a budget and an epsilon.
#[derive(Clone, Debug)]
pub(super) struct Aggregate {
    pub kind: AggregationKind,
    /// The binary formula.
    pub formula: Expr,
    program: Program,
    pub budget: f64,
    pub epsilon: f64,
    /// Whether labels without true positives certainly add exactly 0.
    pub zero_without_true_positives: bool,
    /// Whether labels without positives certainly add exactly 0, whatever is predicted, and so have gradient 0.
    pub ignores_labels_without_positives: bool,
}

/// The result of a pass over some labels for an aggregation. Results for different labels can be merged.
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

/// Orders NaN first, so that a minimum does not skip it.
fn is_less(a: f64, b: f64) -> bool {
    a < b || (a.is_nan() && !b.is_nan())
}

/// The value of an aggregation and how it depends on the labels.
#[derive(Clone, Copy, Debug)]
pub(super) struct AggregateValue {
    pub value: f64,
    pub sensitivity: Sensitivity,
}

impl AggregateValue {
    fn each_label(value: f64, scale: f64, power: i32) -> AggregateValue {
        AggregateValue { value, sensitivity: Sensitivity::EachLabel { scale, power } }
    }
}

/// The derivative of an aggregation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sensitivity {
    /// `scale * (f + epsilon)^power` times the gradient of the binary formula f of a label.
    EachLabel { scale: f64, power: i32 },
    /// These four derivatives with respect to the cells of any label.
    Shared([f64; 4]),
    /// The gradient of the binary formula at this label, 0 elsewhere.
    OneLabel(usize),
}

impl Aggregate {
    pub(super) fn new(kind: AggregationKind, formula: Expr, budget: f64, epsilon: f64) -> Aggregate {
        let body = lower(&formula, budget, epsilon);
        let program = Program::new(&body, 4);
        let cell = ValueRange { low: 0.0, high: 2.0 * MAX_FRACTION };
        let is_sum = matches!(kind, AggregationKind::Macro | AggregationKind::Sum);
        let is_zero =
            |cells: [ValueRange; 4]| is_sum && program.range(&cells).is_some_and(ValueRange::is_zero);
        let zero_without_true_positives = is_zero([ValueRange::ZERO, cell, cell, cell]);
        let ignores_labels_without_positives = is_zero([ValueRange::ZERO, cell, ValueRange::ZERO, cell])
            // A formula that is 0 for all predictions can still have a NaN as a derivative.
            && [0.0, 0.25, 1.0].into_iter().all(|alarms| {
                let cells = [0.0, alarms, 0.0, 1.0 - alarms];
                let cells: [Dual<4>; 4] = std::array::from_fn(|i| Dual::variable(cells[i], i));
                let [_, alarm, _, rest] = body.evaluate(&cells).partials;
                alarm == 0.0 && rest == 0.0
            });
        Aggregate {
            kind,
            formula,
            program,
            budget,
            epsilon,
            zero_without_true_positives,
            ignores_labels_without_positives,
        }
    }

    /// Scratch space for [`Aggregate::statistic`].
    pub(super) fn registers(&self) -> Vec<[f64; LANES]> {
        self.program.registers()
    }

    fn cells_to_load(&self) -> CellsToLoad {
        let all = self.kind == AggregationKind::Micro || self.program.uses(3);
        if all { CellsToLoad::All } else { CellsToLoad::NoTrueNegatives }
    }

    /// The aggregation from the statistic of all labels, or NaN if there are none.
    pub(super) fn finish(&self, statistic: Option<Statistic>, labels: usize) -> AggregateValue {
        let labels = labels as f64;
        match (self.kind, statistic) {
            (_, None) => AggregateValue { value: f64::NAN, sensitivity: Sensitivity::Shared([0.0; 4]) },
            (_, Some(Statistic::Smallest { value, label })) => {
                AggregateValue { value, sensitivity: Sensitivity::OneLabel(label) }
            }
            (_, Some(Statistic::Cells(sums))) => self.micro(sums.map(|sum| sum / labels), labels),
            (AggregationKind::GeometricMean, Some(Statistic::Total(total))) => {
                let value = (total / labels).exp();
                AggregateValue::each_label(value, value / labels, -1)
            }
            (AggregationKind::HarmonicMean, Some(Statistic::Total(total))) => {
                let value = labels / total;
                AggregateValue::each_label(value, value * value / labels, -2)
            }
            (AggregationKind::Sum, Some(Statistic::Total(value))) => {
                AggregateValue::each_label(value, 1.0, 0)
            }
            (_, Some(Statistic::Total(total))) => AggregateValue::each_label(total / labels, 1.0 / labels, 0),
        }
    }

    /// The aggregation with a known value, unless its derivative depends on more than that.
    pub(super) fn invert(&self, value: f64, labels: usize) -> Option<AggregateValue> {
        match self.kind {
            AggregationKind::Sum => Some(AggregateValue::each_label(value, 1.0, 0)),
            AggregationKind::Macro => Some(AggregateValue::each_label(value, 1.0 / labels as f64, 0)),
            _ => None,
        }
    }

    /// Takes means over labels, which sum to 1. As in the reference implementation of the field, epsilon is meant for
    /// *sums* over labels, so it is divided by their number.
    fn micro(&self, means: [f64; 4], labels: f64) -> AggregateValue {
        let body = lower(&self.formula, self.budget, self.epsilon / labels);
        let cells: [Dual<4>; 4] = std::array::from_fn(|i| Dual::variable(means[i], i));
        let partials = body.evaluate(&cells).partials.map(|partial| partial / labels);
        AggregateValue { value: body.evaluate(&means), sensitivity: Sensitivity::Shared(partials) }
    }

    /// The statistics of the blocks of a group of labels.
    #[inline(always)]
    pub(super) fn statistics<'a>(
        &self,
        view: TensorView,
        active: Option<&ActiveLabels>,
        group: Range<usize>,
        registers: &mut [[f64; LANES]],
        out: impl Iterator<Item = &'a mut Statistic>,
    ) {
        match (active, view.towards) {
            (Some(active), Some((_, alpha))) if self.zero_without_true_positives => {
                let totals = self.totals(active, alpha, registers);
                out.zip(totals).for_each(|(out, total)| *out = Statistic::Total(total));
            }
            _ => {
                let blocks = group.clone().step_by(BLOCK_LABELS);
                for (start, out) in blocks.zip(out) {
                    *out = self.statistic(view, start..group.end.min(start + BLOCK_LABELS), registers);
                }
            }
        }
    }

    /// [`Statistic::Total`] of the blocks of a group, from its active labels.
    #[inline(always)]
    fn totals(
        &self,
        active: &ActiveLabels,
        alpha: f64,
        registers: &mut [[f64; LANES]],
    ) -> [f64; GROUP_BLOCKS] {
        let view = active.view(alpha);
        let mut sums = SlotSums::ZERO;
        for range in lane_ranges(0..view.labels()) {
            let (first, length) = (range.start, range.len());
            sums.add(active, first, &self.evaluate(view, range, registers)[..length]);
        }
        sums.totals(active)
    }

    /// The binary formula of at most [`LANES`] labels.
    #[inline(always)]
    fn evaluate<'a>(
        &self,
        view: TensorView,
        range: Range<usize>,
        registers: &'a mut [[f64; LANES]],
    ) -> &'a [f64; LANES] {
        self.load(view, range, registers);
        self.program.run(registers)
    }

    #[inline(always)]
    fn load(&self, view: TensorView, range: Range<usize>, registers: &mut [[f64; LANES]]) {
        let [a, b, c, d, ..] = registers else { unreachable!("a label has four cells") };
        view.load(range, self.cells_to_load(), [a, b, c, d]);
    }

    #[inline(always)]
    fn statistic(&self, view: TensorView, block: Range<usize>, registers: &mut [[f64; LANES]]) -> Statistic {
        match self.kind {
            AggregationKind::Micro => {
                let mut sums = [[0.0; LANES]; 4];
                for range in lane_ranges(block) {
                    self.load(view, range.clone(), registers);
                    for (sums, cells) in sums.iter_mut().zip(&*registers) {
                        add(sums, cells, range.len());
                    }
                }
                Statistic::Cells(sums.map(|lanes| lanes.iter().sum()))
            }
            AggregationKind::Minimum => {
                let mut smallest = Statistic::Smallest { value: f64::INFINITY, label: block.start };
                for range in lane_ranges(block) {
                    for (label, &value) in range.clone().zip(self.evaluate(view, range, registers)) {
                        smallest = smallest.merge(Statistic::Smallest { value, label });
                    }
                }
                smallest
            }
            AggregationKind::Macro
            | AggregationKind::Sum
            | AggregationKind::GeometricMean
            | AggregationKind::HarmonicMean => {
                let mut sums = [0.0; LANES];
                for range in lane_ranges(block) {
                    let values = self.evaluate(view, range.clone(), registers);
                    let epsilon = self.epsilon;
                    match self.kind {
                        AggregationKind::GeometricMean => {
                            add(&mut sums, &values.map(|f| (f + epsilon).ln()), range.len())
                        }
                        AggregationKind::HarmonicMean => {
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
    pub(super) fn dual_registers(&self) -> Vec<DualRegister<LANES>> {
        let mut registers: Vec<DualRegister<LANES>> = self.program.registers();
        for (cell, register) in registers.iter_mut().take(4).enumerate() {
            register.partials[cell].fill(1.0);
        }
        registers
    }

    /// Adds `weight` times the derivatives with respect to the cells of the labels in `range`.
    #[inline(always)]
    pub(super) fn add_derivatives(
        &self,
        (sensitivity, weight): (Sensitivity, f64),
        view: TensorView,
        range: Range<usize>,
        registers: &mut [DualRegister<LANES>],
        gradient: &mut [[f64; LANES]; 4],
    ) {
        match sensitivity {
            Sensitivity::Shared(partials) => {
                for (lanes, partial) in gradient.iter_mut().zip(partials) {
                    lanes.iter_mut().for_each(|slot| *slot += weight * partial);
                }
            }
            Sensitivity::OneLabel(label) if !range.contains(&label) => {}
            Sensitivity::OneLabel(label) => {
                let lane = label - range.start;
                let partials = &self.differentiate(view, range, registers).partials;
                for (lanes, partials) in gradient.iter_mut().zip(partials) {
                    lanes[lane] += weight * partials[lane];
                }
            }
            Sensitivity::EachLabel { scale, power } => {
                let derivatives = self.differentiate(view, range, registers);
                let factors = derivatives.values.map(|value| {
                    weight * scale * if power == 0 { 1.0 } else { (value + self.epsilon).powi(power) }
                });
                for (lanes, partials) in gradient.iter_mut().zip(&derivatives.partials) {
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
        view: TensorView,
        range: Range<usize>,
        registers: &'a mut [DualRegister<LANES>],
    ) -> &'a DualRegister<LANES> {
        let [a, b, c, d, ..] = registers else { unreachable!("a label has four cells") };
        let cells = [&mut a.values, &mut b.values, &mut c.values, &mut d.values];
        view.load(range, self.cells_to_load(), cells);
        self.program.run(registers)
    }
}

/// Adds to each lane, which the compiler turns into vector instructions.
#[inline(always)]
fn add(sums: &mut [f64; LANES], values: &[f64; LANES], used: usize) {
    if used == LANES {
        // Most loops have this length, and the compiler knows it.
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    } else {
        sums.iter_mut().zip(values).take(used).for_each(|(sum, value)| *sum += value);
    }
}
