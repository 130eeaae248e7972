//! Once over all training rows.

use super::adam::Adam;
use super::batch::{Batch, Input};
use super::dropout::Dropout;
use super::network::Network;
use super::pass::{Examples, Pass};
use crate::heartbeat::beat;
use crate::random::{Purpose, bits};
use crate::world::World;

/// A network in training. The same on all ranks, but for the rows.
pub(super) struct Training<'d> {
    pub network: Network,
    pub adam: Adam,
    data: Examples<'d>,
    /// This rank's rows that it is trained on.
    rows: Vec<usize>,
    /// How many of them each rank has.
    shares: Vec<u64>,
    how: How,
    pass: Pass,
    batch: Batch,
    order: Vec<usize>,
    /// Space for sums over ranks.
    space: Vec<f32>,
}

/// What decides the steps of an epoch.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    /// Rows of a step, on all ranks together.
    pub batch: usize,
    pub dropout: f64,
    pub rate: f64,
    pub seed: u64,
}

impl<'d> Training<'d> {
    /// `rows` are this rank's. Collective.
    pub fn new(
        world: &World,
        network: Network,
        data: Examples<'d>,
        rows: Vec<usize>,
        how: How,
    ) -> Training<'d> {
        let first = &network.places[0];
        let rows_from = match data.input {
            Input::Sparse => first.weights.start,
            Input::Dense => network.numbers.len(),
        };
        Training {
            adam: Adam::new(network.numbers.len(), rows_from, first.outputs, how.rate),
            pass: Pass::new(&network),
            network,
            data,
            shares: world.gather_to_all(rows.len() as u64),
            rows,
            how,
            batch: Batch::default(),
            order: Vec::new(),
            space: Vec::new(),
        }
    }

    /// Every row once, in an order of this epoch's own; returns the mean loss of a row. Each rank's rows are spread evenly
    /// over the steps, whatever their number. Collective.
    pub fn epoch(&mut self, world: &World, epoch: u32) -> f64 {
        let Training { how, data, .. } = *self;
        let total: u64 = self.shares.iter().sum();
        let steps = total.div_ceil(how.batch as u64).max(1);
        let dropout = Dropout::new(how.dropout, how.seed, epoch);
        self.order.clone_from(&self.rows);
        let key = |&row: &usize| bits(how.seed, Purpose::BatchOrder, epoch, data.first_row + row as u64);
        self.order.sort_by_cached_key(key);
        let share = |rows: u64, step: u64| (u128::from(rows) * u128::from(step) / u128::from(steps)) as u64;
        let mut loss = 0.0;
        for step in 0..steps {
            let rows: u64 = self.shares.iter().map(|&rows| share(rows, step + 1) - share(rows, step)).sum();
            let mine = self.order.len() as u64;
            let mine = share(mine, step) as usize..share(mine, step + 1) as usize;
            self.batch.fill(data.features, self.network.shape.features, &self.order[mine], data.input);
            if data.input == Input::Sparse {
                world.any(&mut self.batch.seen);
                self.batch.sort(data.features);
                self.adam.catch_up(&mut self.network.numbers, &self.batch.features);
            }
            let scale = 1.0 / rows.max(1) as f32;
            loss += self.pass.run(&self.network, data, &self.batch, dropout, scale);
            world.sum_in_order(&mut self.pass.gradient, &mut self.space);
            self.adam.step(&mut self.network.numbers, &self.pass.gradient, &self.batch.features);
            beat();
        }
        self.adam.catch_up_all(&mut self.network.numbers);
        world.total(loss) / total.max(1) as f64
    }
}
