//! Training of a network: trials on held-out rows, then the final training on all rows.

use std::time::Instant;

use serde_json::json;

use super::backprop::TrainingData;
use super::batch::InputLayout;
use super::epoch::{EpochOptions, Training};
use super::network::{Network, NetworkShape};
use super::options::{NetworkOptions, comma_separated};
use super::training_state::{ParametersAndMoments, TrainingState};
use super::trial::{Trial, TrialResult, best_trial, next_trial};
use super::validation::{ValidationScores, validate};
use crate::checkpoint::{CheckpointSession, SavedParts};
use crate::error::{Result, usage};
use crate::estimate::{EstimatorOptions, TrainingRun};
use crate::fault;
use crate::format::format_seconds;
use crate::load::{Examples, total_positives};
use crate::memory::check_memory;
use crate::progress::Progress;
use crate::random::{Purpose, bits, uniform};
use crate::store::ModelFile;
use crate::world::World;

/// Trains a network on the rows of all ranks, each of which has its own. Returns the model on rank 0. Its bits depend
/// only on the examples, the options and the number of ranks. Collective.
pub(super) fn train(
    options: &NetworkOptions,
    examples: &Examples,
    run: TrainingRun<'_, '_>,
) -> Result<Option<ModelFile>> {
    let TrainingRun { world, saved, session, progress } = run;
    let labels = examples.labels.as_ref().expect("examples for training have labels");
    let entries: u64 = world.gather_to_all(examples.features.nnz() as u64).iter().sum();
    let trainer = Trainer {
        world,
        options,
        progress,
        total_rows: examples.total_rows,
        positives: total_positives(world, labels, examples.total_rows),
        data: TrainingData {
            features: (&examples.features).into(),
            labels: labels.into(),
            first_row: examples.rows.start,
            input: InputLayout::for_density(entries, examples.total_rows, examples.features.cols() as u64),
            loss: options.loss,
        },
        features: examples.features.cols(),
    };
    trainer.train(saved, session)
}

struct Trainer<'a> {
    world: &'a World,
    options: &'a NetworkOptions,
    progress: &'a dyn Progress,
    total_rows: u64,
    /// Number of positives of each label.
    positives: Vec<u64>,
    data: TrainingData<'a>,
    features: usize,
}

/// Held-out rows of this rank, and the number on all ranks.
#[derive(Clone, Copy)]
struct HeldOut<'r> {
    rows: &'r [usize],
    total: u64,
}

impl<'a> Trainer<'a> {
    fn train(
        &self,
        saved: Option<SavedParts>,
        session: &mut CheckpointSession<'_>,
    ) -> Result<Option<ModelFile>> {
        let options = self.options;
        let (held, trained) = self.split_validation_rows();
        let held = HeldOut { rows: &held, total: self.world.gather_to_all(held.len() as u64).iter().sum() };
        let one_sided = held.total == 0 || held.total == self.total_rows;
        self.world.agree(if options.validation > 0.0 && one_sided {
            usage(format!(
                "--validation {} holds out {} of {} rows: expected some, but not all; pass another share, or \
                 --validation 0 to train for exactly --epochs",
                options.validation, held.total, self.total_rows
            ))
        } else {
            Ok(())
        })?;
        let (mut state, mut saved) = match self.restore(saved)? {
            Some((state, parameters)) => (state, Some(parameters)),
            None => Default::default(),
        };
        if saved.is_some() {
            session.resumed_at(state.total_epochs, &state.place(), self.progress);
        }
        if options.validation > 0.0 {
            let total = held.total;
            self.progress.message(&format!("holding out {total} rows to find the best number of epochs"));
            // A restored state is within or at the end of a trial, or in the final training, which has losses.
            while state.trial.is_some() || state.losses.is_empty() {
                let Some(trial) = state.trial.take().or_else(|| next_trial(options, &state.tried)) else {
                    break;
                };
                state.trial = Some(trial.clone());
                let mut training = self.new_training(&trial, trained.clone(), saved.take(), &mut state)?;
                let shape = training.network.shape.text();
                self.progress.message(&format!("trying {shape}, learning rate {}", trial.rate));
                self.run_epochs(&mut training, &mut state, options.epochs, Some(held), session)?;
                let (epochs, held_out) = state.best.unwrap_or_default();
                state.tried.push(TrialResult { trial, epochs, held_out });
                state.trial = None;
            }
        }
        let (trial, epochs) = match best_trial(options, &state.tried) {
            Some(best) => (best.trial.clone(), best.epochs),
            None => (Trial { hidden: options.hidden.clone(), rate: options.rate }, options.epochs),
        };
        let all = (0..self.data.features.count()).collect();
        let mut training = self.new_training(&trial, all, saved, &mut state)?;
        let shape = training.network.shape.text();
        self.progress.message(&format!("training {shape} on all rows for {epochs} epochs"));
        self.run_epochs(&mut training, &mut state, epochs, None, session)?;
        Ok(self.world.is_root().then(|| self.to_model_file(training.network, &state, epochs)))
    }

    /// Divides this rank's rows into those held out and the others, by the seed and the global row.
    fn split_validation_rows(&self) -> (Vec<usize>, Vec<usize>) {
        let held_out = |&row: &usize| {
            let draw = bits(self.options.seed, Purpose::Holdout, 0, self.data.first_row + row as u64);
            uniform(draw) < self.options.validation
        };
        (0..self.data.features.count()).partition(held_out)
    }

    /// Decodes what an earlier run has saved, on all ranks. Collective.
    fn restore(&self, saved: Option<SavedParts>) -> Result<Option<(TrainingState, ParametersAndMoments)>> {
        let mut bytes = Vec::new();
        self.world.on_root(|| {
            let Some(saved) = saved else { return Ok(()) };
            TrainingState::from_bytes(&saved.fresh).ok_or_else(|| saved.unusable())?;
            bytes = saved.fresh;
            Ok(())
        })?;
        self.world.broadcast(&mut bytes);
        Ok(TrainingState::from_bytes(&bytes))
    }

    /// Returns a network in its saved state or, without one, before its first epoch. Collective.
    fn new_training(
        &self,
        trial: &Trial,
        rows: Vec<usize>,
        saved: Option<ParametersAndMoments>,
        state: &mut TrainingState,
    ) -> Result<Training<'a>> {
        let (hidden, labels) = (trial.hidden.clone(), self.positives.len());
        let shape = NetworkShape { features: self.features, hidden, labels };
        // Parameters, two moments and a gradient; on rank 0 two copies for checkpoints; units and logits of a batch.
        let numbers = shape.parameter_count() as u64 * 4 * (4 + if self.world.is_root() { 6 } else { 0 });
        let units = (2 * shape.hidden.iter().sum::<usize>() + shape.labels) as u64;
        check_memory(self.world, numbers + units * self.options.batch as u64 * 4)?;
        let NetworkOptions { batch, dropout, seed, loss, .. } = *self.options;
        let network = Network::random(shape, seed, &self.positives, self.total_rows, loss);
        let epoch_options = EpochOptions { batch, dropout, rate: trial.rate, seed };
        let mut training = Training::new(self.world, network, self.data, rows, epoch_options);
        match saved {
            Some([parameters, first, second]) => {
                assert_eq!(
                    parameters.len(),
                    training.network.parameters.len(),
                    "the checkpoint has the same options"
                );
                training.network.parameters = parameters;
                training.adam.resume(state.steps, first, second);
            }
            None => (state.epoch, state.best) = (0, None),
        }
        Ok(training)
    }

    /// Trains up to `epochs` epochs and, in a trial, until the scores on the held-out rows stop improving.
    fn run_epochs(
        &self,
        training: &mut Training<'_>,
        state: &mut TrainingState,
        epochs: u32,
        held: Option<HeldOut<'_>>,
        session: &mut CheckpointSession<'_>,
    ) -> Result<()> {
        self.progress.started("training epochs", epochs.into(), state.epoch.into());
        self.progress.row("epoch         loss     held out     P@1     P@3     P@5    F1@5      time");
        let patience = self.options.patience;
        let out_of_patience =
            |state: &TrainingState| state.epoch >= state.best.map_or(0, |best| best.0) + patience;
        while state.epoch < epochs && !(held.is_some() && out_of_patience(state)) {
            let start = Instant::now();
            let loss = self.run_epoch(training, state)?;
            let scores =
                held.map(|held| validate(self.world, &training.network, self.data, held.rows, held.total));
            match scores {
                Some(scores) => {
                    let improves = |best: &ValidationScores| scores.is_better_than(best, self.options.loss);
                    if state.best.is_none_or(|best| improves(&best.1)) {
                        state.best = Some((state.epoch, scores));
                    }
                }
                None => state.losses.push(loss),
            }
            self.print_epoch(state.epoch, loss, scores, start);
            let numbers = [&training.network.parameters, &training.adam.first, &training.adam.second];
            let snapshot = |buffer| state.to_snapshot(numbers.map(Vec::as_slice), buffer);
            session.save_or_stop(state.total_epochs, &state.place(), snapshot, self.progress)?;
            fault::inject(self.world.rank(), "unit")?;
        }
        self.progress.finished();
        Ok(())
    }

    fn run_epoch(&self, training: &mut Training<'_>, state: &mut TrainingState) -> Result<f64> {
        let loss = training.run_epoch(self.world, state.epoch);
        state.epoch += 1;
        state.total_epochs += 1;
        state.steps = training.adam.steps;
        self.progress.advanced(1);
        // All ranks have the same loss.
        self.world.agree(if loss.is_finite() {
            Ok(loss)
        } else {
            let epoch = state.epoch;
            usage(format!(
                "training diverged: the loss is {loss} after epoch {epoch}; pass a smaller --learning-rate, or scale \
                 the features"
            ))
        })
    }

    fn print_epoch(&self, epoch: u32, loss: f64, scores: Option<ValidationScores>, start: Instant) {
        let time = format_seconds(start.elapsed().as_secs_f64());
        let scores = match scores {
            Some(ValidationScores { loss, precision: [one, three, five], macro_f1 }) => {
                format!("{loss:>11.5}  {one:.4}  {three:.4}  {five:.4}  {macro_f1:.4}")
            }
            None => " ".repeat(43),
        };
        self.progress.row(&format!("{epoch:>5}  {loss:>11.5}  {scores}  {time:>8}"));
    }

    fn to_model_file(&self, network: Network, state: &TrainingState, epochs: u32) -> ModelFile {
        let tried = |tried: &TrialResult| {
            json!({
                "hidden": comma_separated(&tried.trial.hidden), "learning-rate": tried.trial.rate, "epochs": tried.epochs,
                "held-out-loss": tried.held_out.loss, "held-out-precision": tried.held_out.precision,
                "held-out-macro-f1": tried.held_out.macro_f1,
            })
        };
        let shape = &network.shape;
        let record = json!({
            "layers": shape.text(),
            "parameters": shape.parameter_count(),
            "epochs": epochs,
            "loss": state.losses.last(),
            "ranks": self.world.size(),
            "tried": state.tried.iter().map(tried).collect::<Vec<_>>(),
        });
        let mut file = self.options.new_model(shape.features, shape.labels, record);
        network.put_into(&mut file);
        file
    }
}
