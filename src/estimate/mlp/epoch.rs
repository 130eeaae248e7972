//! One pass over all training rows.

use super::adam::Adam;
use super::backprop::{Backprop, Step, TrainingData};
use super::batch::{Batch, InputLayout};
use super::dropout::Dropout;
use super::network::Network;
use crate::heartbeat::beat;
use crate::random::{Purpose, bits};
use crate::world::World;

/// A network in training; on all ranks the same, except for the rows.
pub(super) struct Training<'d> {
    pub network: Network,
    pub adam: Adam,
    data: TrainingData<'d>,
    /// Training rows of this rank.
    rows: Vec<usize>,
    /// Number of training rows of each rank.
    shares: Vec<u64>,
    options: EpochOptions,
    backprop: Backprop,
    batch: Batch,
    order: Vec<usize>,
    /// Buffer for sums over ranks.
    sum_buffer: Vec<f32>,
}

/// Options of the steps of an epoch.
#[derive(Clone, Copy, Debug)]
pub(super) struct EpochOptions {
    /// Rows per step, on all ranks together.
    pub batch: usize,
    pub dropout: f64,
    pub rate: f64,
    pub seed: u64,
}

impl<'d> Training<'d> {
    /// Starts the training of a network on `rows` of this rank. Collective.
    pub fn new(
        world: &World,
        network: Network,
        data: TrainingData<'d>,
        rows: Vec<usize>,
        options: EpochOptions,
    ) -> Training<'d> {
        let first = &network.layouts[0];
        let rows_from = match data.input {
            InputLayout::Sparse => first.weights.start,
            InputLayout::Dense => network.parameters.len(),
        };
        Training {
            adam: Adam::new(network.parameters.len(), rows_from, first.outputs, options.rate),
            backprop: Backprop::new(&network),
            network,
            data,
            shares: world.gather_to_all(rows.len() as u64),
            rows,
            options,
            batch: Batch::default(),
            order: Vec::new(),
            sum_buffer: Vec::new(),
        }
    }

    /// Visits every row once, in an order drawn for the epoch, and returns the mean loss of a row. The rows of each
    /// rank are spread evenly over the steps. Collective.
    pub fn run_epoch(&mut self, world: &World, epoch: u32) -> f64 {
        let Training { options, data, .. } = *self;
        let total: u64 = self.shares.iter().sum();
        let steps = total.div_ceil(options.batch as u64).max(1);
        let dropout = Dropout::new(options.dropout, options.seed, epoch);
        self.order.clone_from(&self.rows);
        let key = |&row: &usize| bits(options.seed, Purpose::BatchOrder, epoch, data.first_row + row as u64);
        self.order.sort_by_cached_key(key);
        let share = |rows: u64, step: u64| (u128::from(rows) * u128::from(step) / u128::from(steps)) as u64;
        let mut loss = 0.0;
        for step in 0..steps {
            let rows: u64 = self.shares.iter().map(|&rows| share(rows, step + 1) - share(rows, step)).sum();
            let mine = self.order.len() as u64;
            let mine = share(mine, step) as usize..share(mine, step + 1) as usize;
            let Network { shape, parameters, .. } = &mut self.network;
            self.batch.fill(data.features, shape.features, &self.order[mine], data.input);
            if data.input == InputLayout::Sparse {
                world.bitwise_or(&mut self.batch.feature_bits);
                self.batch.sort_by_feature(data.features);
                self.adam.catch_up(parameters, &self.batch.features);
            }
            let scale = 1.0 / rows.max(1) as f32;
            let inputs = Step { network: &self.network, data, batch: &self.batch, dropout, scale };
            loss += self.backprop.run(inputs);
            let gradients = &mut self.backprop.parameter_gradients;
            world.sum_f32_in_rank_order(gradients, &mut self.sum_buffer);
            self.adam.step(&mut self.network.parameters, gradients, &self.batch.features);
            beat();
        }
        self.adam.catch_up_all(&mut self.network.parameters);
        world.sum_f64(loss) / total.max(1) as f64
    }
}
