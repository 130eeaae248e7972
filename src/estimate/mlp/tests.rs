//! Gradients and steps against their definitions in double precision.

use super::adam::Adam;
use super::backprop::{Backprop, Step, TrainingData};
use super::batch::{Batch, InputLayout};
use super::dropout::Dropout;
use super::epoch::{EpochOptions, Training};
use super::loss::Loss;
use super::loss::tests::defined;
use super::network::{Network, NetworkShape};
use super::predict::Forward;
use super::validation::validate;
use crate::random::{Purpose, RandomSequence};
use crate::sparse::CsrBuilder;
use crate::world::World;

/// A few rows with features and labels; the last has neither.
struct Small {
    features: CsrBuilder,
    labels: CsrBuilder,
}

impl Small {
    fn new(rows: usize, shape: &NetworkShape) -> Small {
        let mut draws = RandomSequence::new(3, Purpose::SynthRow, 5);
        let mut matrix = |columns: usize, share: f64, binary: bool| {
            let mut made = CsrBuilder::default();
            for row in 0..rows {
                for column in 0..columns as u32 {
                    if row + 1 < rows && draws.next_uniform() < share {
                        made.push(column, if binary { 1.0 } else { draws.next_uniform() as f32 - 0.4 });
                    }
                }
                made.end_row().unwrap();
            }
            made
        };
        Small { features: matrix(shape.features, 0.4, false), labels: matrix(shape.labels, 0.3, true) }
    }

    fn examples(&self, input: InputLayout, loss: Loss) -> TrainingData<'_> {
        let (features, labels) = (self.features.view(), self.labels.view());
        TrainingData { features, labels, first_row: 100, input, loss }
    }
}

fn network(shape: &NetworkShape) -> Network {
    let positives: Vec<u64> = (0..shape.labels as u64).map(|label| label % 20).collect();
    let mut network = Network::random(shape.clone(), 11, &positives, 20, Loss::Bce);
    // Including the biases, so that no parameter is 0 by accident.
    let mut draws = RandomSequence::new(4, Purpose::SynthRow, 6);
    network.parameters.iter_mut().for_each(|number| *number += 0.3 * (draws.next_uniform() as f32 - 0.5));
    network
}

/// The mean loss of rows by its definition, in double precision. `masks` gives the factors of dropout.
fn mean_loss(
    shape: &NetworkShape,
    numbers: &[f64],
    data: TrainingData<'_>,
    rows: &[usize],
    masks: &dyn Fn(usize, usize, usize) -> f64,
) -> f64 {
    let layouts = shape.layouts();
    let mut total = 0.0;
    for &row in rows {
        let mut units = vec![0.0; shape.features];
        let (columns, values) = data.features.row(row);
        columns.iter().zip(values).for_each(|(&at, &value)| units[at as usize] = f64::from(value));
        for (layer, layout) in layouts.iter().enumerate() {
            let weight = |input: usize, output: usize| match layer {
                0 => numbers[layout.weights.start + input * layout.outputs + output],
                _ => numbers[layout.weights.start + output * layout.inputs + input],
            };
            let next = |output: usize| {
                let sum: f64 = (0..layout.inputs).map(|input| units[input] * weight(input, output)).sum();
                let sum = sum + numbers[layout.biases.start + output];
                if layer + 1 == layouts.len() { sum } else { sum.max(0.0) * masks(layer, row, output) }
            };
            units = (0..layout.outputs).map(next).collect();
        }
        let labels = data.labels.row(row).0;
        let loss = |(label, &z): (usize, &f64)| defined(data.loss, z, labels.contains(&(label as u32)));
        total += units.iter().enumerate().map(loss).sum::<f64>();
    }
    total / rows.len() as f64
}

const LOSSES: [Loss; 3] = [Loss::Bce, Loss::Focal, Loss::Asymmetric];

fn shapes() -> [NetworkShape; 3] {
    let shape = |hidden: &[usize]| NetworkShape { features: 9, hidden: hidden.to_vec(), labels: 6 };
    [shape(&[8]), shape(&[7, 5]), shape(&[6, 8, 5])]
}

fn batch(data: TrainingData<'_>, shape: &NetworkShape, rows: &[usize]) -> Batch {
    let mut batch = Batch::default();
    batch.fill(data.features, shape.features, rows, data.input);
    if data.input == InputLayout::Sparse {
        batch.sort_by_feature(data.features);
    }
    batch
}

/// The gradient at all parameters, including those that no row reads.
fn whole_gradient(shape: &NetworkShape, data: TrainingData<'_>, batch: &Batch, gradient: &[f32]) -> Vec<f32> {
    let first = shape.layouts()[0].weights.start;
    let mut whole = gradient[..first].to_vec();
    whole.resize(shape.parameter_count(), 0.0);
    match data.input {
        InputLayout::Dense => whole[first..].copy_from_slice(&gradient[first..]),
        InputLayout::Sparse => {
            let width = shape.hidden[0];
            for (slopes, &feature) in gradient[first..].chunks_exact(width).zip(&batch.features) {
                whole[first + feature as usize * width..][..width].copy_from_slice(slopes);
            }
        }
    }
    whole
}

#[test]
fn gradients_are_derivatives_of_the_loss() {
    let rows = [0, 3, 4, 8, 9];
    for shape in shapes() {
        let small = Small::new(10, &shape);
        let network = network(&shape);
        let exact: Vec<f64> = network.parameters.iter().map(|&number| f64::from(number)).collect();
        for (loss, share) in LOSSES.into_iter().flat_map(|loss| [(loss, 0.0), (loss, 0.3)]) {
            let dropout = Dropout::new(share, 5, 2);
            let masks = |layer: usize, row: usize, unit: usize| {
                let mut ones = vec![1.0f32; shape.hidden[layer]];
                dropout.rectify(&mut ones, layer, 100 + row as u64, 0);
                f64::from(ones[unit])
            };
            for input in [InputLayout::Sparse, InputLayout::Dense] {
                let data = small.examples(input, loss);
                let batch = batch(data, &shape, &rows);
                let mut pass = Backprop::new(&network);
                let scale = 1.0 / rows.len() as f32;
                let sum = pass.run(Step { network: &network, data, batch: &batch, dropout, scale });
                let wanted = mean_loss(&shape, &exact, data, &rows, &masks);
                assert!((sum / rows.len() as f64 - wanted).abs() < 1e-5 * wanted, "{loss:?}: {sum} {wanted}");
                let found = whole_gradient(&shape, data, &batch, &pass.parameter_gradients);
                for (at, &found) in found.iter().enumerate() {
                    let at_step = |step: f64| {
                        let mut moved = exact.clone();
                        moved[at] += step;
                        mean_loss(&shape, &moved, data, &rows, &masks)
                    };
                    let wanted = (at_step(1e-6) - at_step(-1e-6)) / 2e-6;
                    let apart = (f64::from(found) - wanted).abs();
                    assert!(
                        apart < 1e-5 + 1e-4 * wanted.abs(),
                        "{} {loss:?} {input:?} dropout {share}, parameter {at}: {found}, expected {wanted}",
                        shape.text()
                    );
                }
            }
        }
    }
}

/// Adam as its authors define it, in double precision, on all parameters at every step.
#[test]
fn rows_that_catch_up_equal_rows_of_dense_steps() {
    let (rows, width, head) = (40usize, 5usize, 3usize);
    let count = head + rows * width;
    let mut draws = RandomSequence::new(9, Purpose::SynthRow, 1);
    let start: Vec<f32> = (0..count).map(|_| draws.next_uniform() as f32 - 0.5).collect();
    let mut numbers = start.clone();
    let mut adam = Adam::new(count, head, width, 0.01);
    let mut every = start.clone();
    let mut dense = Adam::new(count, count, width, 0.01);
    let (mut exact, mut first, mut second) =
        (start.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>(), vec![0.0; count], vec![0.0; count]);
    for step in 1..=400 {
        // Row 0 is read once, the others now and then.
        let read: Vec<u32> = (0..rows as u32)
            .filter(|&row| if row == 0 { step == 3 } else { draws.next_uniform() < 0.1 })
            .collect();
        adam.catch_up(&mut numbers, &read);
        let mut gradient: Vec<f32> =
            (0..head + read.len() * width).map(|_| draws.next_uniform() as f32 - 0.5).collect();
        gradient[0] = 0.0;
        adam.step(&mut numbers, &gradient, &read);
        let mut whole = gradient[..head].to_vec();
        whole.resize(count, 0.0);
        for (slopes, &row) in gradient[head..].chunks_exact(width).zip(&read) {
            whole[head + row as usize * width..][..width].copy_from_slice(slopes);
        }
        dense.step(&mut every, &whole, &[]);
        for at in 0..count {
            let slope = f64::from(whole[at]);
            first[at] = 0.9 * first[at] + 0.1 * slope;
            second[at] = 0.999 * second[at] + 0.001 * slope * slope;
            let corrected = (first[at] / (1.0 - 0.9f64.powi(step)), second[at] / (1.0 - 0.999f64.powi(step)));
            exact[at] -= 0.01 * corrected.0 / (corrected.1.sqrt() + 1e-8);
        }
    }
    adam.catch_up_all(&mut numbers);
    let tail = head + width;
    assert_eq!(numbers[..head], every[..head]);
    assert_eq!(numbers[tail..], every[tail..]);
    for at in 0..count {
        assert!((f64::from(numbers[at]) - exact[at]).abs() < 2e-4, "{at}: {} {}", numbers[at], exact[at]);
        assert!((numbers[at] - every[at]).abs() < 1e-6, "{at}: {} {}", numbers[at], every[at]);
    }
}

fn trained(input: InputLayout, threads: usize) -> (Vec<f32>, f64) {
    let shape = NetworkShape { features: 30, hidden: vec![140, 20], labels: 150 };
    let small = Small::new(90, &shape);
    let data = small.examples(input, Loss::Bce);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let how = EpochOptions { batch: 16, dropout: 0.2, rate: 0.01, seed: 4 };
        let world = World::alone();
        let mut training = Training::new(&world, network(&shape), data, (0..80).collect(), how);
        (0..3).for_each(|epoch| {
            training.run_epoch(&world, epoch);
        });
        let held_out = validate(&world, &training.network, data, &[80, 81, 85, 89], 4);
        (training.network.parameters, held_out.loss)
    })
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    for input in [InputLayout::Sparse, InputLayout::Dense] {
        let one = trained(input, 1);
        for threads in [2, 3, 5] {
            assert!(one == trained(input, threads), "{input:?}, {threads} threads");
        }
    }
}

#[test]
fn sparse_and_dense_rows_give_the_same_network_up_to_rounding() {
    let (sparse, dense) = (trained(InputLayout::Sparse, 2), trained(InputLayout::Dense, 2));
    let apart = sparse.0.iter().zip(&dense.0).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(apart < 0.02, "{apart}");
    assert!((sparse.1 - dense.1).abs() < 1e-3 * dense.1, "{} {}", sparse.1, dense.1);
}

#[test]
fn training_decreases_the_loss() {
    let shape = NetworkShape { features: 30, hidden: vec![32], labels: 10 };
    let small = Small::new(60, &shape);
    for loss in LOSSES {
        let data = small.examples(InputLayout::Sparse, loss);
        let how = EpochOptions { batch: 10, dropout: 0.0, rate: 0.01, seed: 4 };
        let world = World::alone();
        let mut training = Training::new(&world, network(&shape), data, (0..60).collect(), how);
        let losses: Vec<f64> = (0..40).map(|epoch| training.run_epoch(&world, epoch)).collect();
        assert!(losses[39] < 0.4 * losses[0], "{loss:?}: {losses:?}");
    }
}

#[test]
fn logits_of_a_row_do_not_depend_on_other_rows() {
    let shape = NetworkShape { features: 300, hidden: vec![130, 260], labels: 333 };
    let small = Small::new(40, &shape);
    let (network, data) = (network(&shape), small.examples(InputLayout::Sparse, Loss::Bce));
    let mut forward = Forward::new();
    let together = forward.logits(&network, (0..40).map(|row| data.features.row(row))).to_vec();
    for row in 0..40 {
        let alone = forward.logits(&network, std::iter::once(data.features.row(row)));
        assert!(alone == &together[row * 333..][..333], "row {row}");
    }
}
