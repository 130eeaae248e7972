//! Training a network: which rows are held out, which networks are tried on them, and the one that is kept.

use std::time::Instant;

use serde_json::json;

use super::backprop;
use super::batch::InputLayout;
use super::epoch::{EpochOptions, Training};
use super::network::Network;
use super::options::{NetworkOptions, comma_separated};
use super::shape::NetworkShape;
use super::training_state::{ParametersAndMoments, TrainingState};
use super::trial::{Trial, TrialResult, best_trial, next_trial};
use super::validation::{ValidationScores, validate};
use crate::checkpoint::{CheckpointSession, SavedParts};
use crate::error::{Result, usage};
use crate::fault;
use crate::format::format_seconds;
use crate::load::{Examples, total_positives};
use crate::memory::check_memory;
use crate::progress::Progress;
use crate::random::{Purpose, bits, uniform};
use crate::store::ModelFile;
use crate::world::World;

/// Trains a network; rank 0 gets the model. Its bits depend on the examples, the options and the number of ranks, not on the
/// number of threads. Each rank has its own rows. Collective.
pub fn train(
    world: &World,
    examples: &Examples,
    options: &NetworkOptions,
    saved: Option<SavedParts>,
    session: &mut CheckpointSession<'_>,
    progress: &dyn Progress,
) -> Result<Option<ModelFile>> {
    let Some(labels) = &examples.labels else { return usage("a network needs labels to be trained") };
    let entries: u64 = world.gather_to_all(examples.features.nnz() as u64).iter().sum();
    let trainer = Trainer {
        world,
        options,
        progress,
        total_rows: examples.total_rows,
        positives: total_positives(world, labels, examples.total_rows),
        data: backprop::TrainingData {
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

/// What stays the same throughout.
struct Trainer<'a> {
    world: &'a World,
    options: &'a NetworkOptions,
    progress: &'a dyn Progress,
    total_rows: u64,
    /// Rows that have each label.
    positives: Vec<u64>,
    data: backprop::TrainingData<'a>,
    features: usize,
}

impl<'a> Trainer<'a> {
    fn train(
        &self,
        saved: Option<SavedParts>,
        session: &mut CheckpointSession<'_>,
    ) -> Result<Option<ModelFile>> {
        let (held, trained) = self.split_validation_rows();
        let held_rows: u64 = self.world.gather_to_all(held.len() as u64).iter().sum();
        self.world.agree(
            if self.options.validation > 0.0 && (held_rows == 0 || held_rows == self.total_rows) {
                usage(format!(
                    "--validation {} holds out {held_rows} of {} rows, but some must be on either side; \
                 pass another share, or --validation 0 for exactly --epochs",
                    self.options.validation, self.total_rows
                ))
            } else {
                Ok(())
            },
        )?;
        let mut resumed = self.broadcast_saved(saved)?;
        let mut state = resumed.as_ref().map(|it| it.0.clone()).unwrap_or_default();
        if resumed.is_some() {
            session.resumed_at(state.total_epochs, &state.place(), self.progress);
        }
        if self.options.validation > 0.0 {
            self.progress
                .message(&format!("{held_rows} rows are held out to find the best number of epochs"));
            // What was saved is in the midst of a trial, at the end of one, or after all of them.
            while state.trial.is_some() || state.losses.is_empty() {
                if state.trial.is_none() {
                    let Some(trial) = next_trial(self.options, &state.tried) else { break };
                    (state.trial, state.epoch, state.best) = (Some(trial), 0, None);
                }
                self.run_trial(&mut state, resumed.take(), &trained, (&held, held_rows), session)?;
            }
        }
        let chosen = best_trial(self.options, &state.tried).map(|it| (it.trial.clone(), it.epochs));
        let asked = Trial { hidden: self.options.hidden.clone(), rate: self.options.rate };
        let (trial, epochs) = chosen.unwrap_or((asked, self.options.epochs));
        let all = (0..self.data.features.count()).collect();
        let mut training = self.new_training(&trial, all)?;
        match resumed.take().filter(|_| !state.losses.is_empty()) {
            Some(before) => restore_parameters(&mut training, before),
            None => state.epoch = 0,
        }
        self.progress
            .message(&format!("training {} on all rows for {epochs} epochs", training.network.shape.text()));
        self.progress.started("training epochs", epochs.into(), state.epoch.into());
        self.print_header();
        while state.epoch < epochs {
            let start = Instant::now();
            let loss = self.run_epoch(&mut training, &mut state)?;
            state.losses.push(loss);
            self.print_epoch(state.epoch, loss, None, start);
            self.save_or_stop(&state, &training, session)?;
        }
        self.progress.finished();
        let file = self.world.is_root().then(|| self.to_model_file(training.network, &state, epochs));
        Ok(file)
    }

    /// This rank's rows that are held out, and the others. Which, depends on the seed and the global row only.
    fn split_validation_rows(&self) -> (Vec<usize>, Vec<usize>) {
        let draw = |&row: &usize| {
            uniform(bits(self.options.seed, Purpose::Holdout, 0, self.data.first_row + row as u64))
                < self.options.validation
        };
        (0..self.data.features.count()).partition(draw)
    }

    /// What an earlier run has saved, on all ranks. Collective.
    fn broadcast_saved(
        &self,
        saved: Option<SavedParts>,
    ) -> Result<Option<(TrainingState, ParametersAndMoments)>> {
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

    /// A network before its first epoch.
    fn new_training(&self, trial: &Trial, rows: Vec<usize>) -> Result<Training<'a>> {
        let shape = NetworkShape {
            features: self.features,
            hidden: trial.hidden.clone(),
            labels: self.positives.len(),
        };
        // The numbers, two moments, a gradient, and two copies for checkpoints; units and logits of a batch.
        let numbers = shape.parameter_count() as u64 * 4 * (4 + if self.world.is_root() { 6 } else { 0 });
        let units = (2 * shape.hidden.iter().sum::<usize>() + shape.labels) as u64;
        check_memory(self.world, numbers + units * self.options.batch as u64 * 4)?;
        let network =
            Network::random(shape, self.options.seed, &self.positives, self.total_rows, self.options.loss);
        let NetworkOptions { batch, dropout, seed, .. } = *self.options;
        let how = EpochOptions { batch, dropout, rate: trial.rate, seed };
        Ok(Training::new(self.world, network, self.data, rows, how))
    }

    /// Trains one network until it gets no better on the rows held out.
    fn run_trial(
        &self,
        state: &mut TrainingState,
        resumed: Option<(TrainingState, ParametersAndMoments)>,
        rows: &[usize],
        (held, held_rows): (&[usize], u64),
        session: &mut CheckpointSession<'_>,
    ) -> Result<()> {
        let trial = state.trial.clone().expect("a trial is at work");
        let mut training = self.new_training(&trial, rows.to_vec())?;
        if let Some(before) = resumed.filter(|it| it.0.trial.is_some()) {
            restore_parameters(&mut training, before);
        }
        self.progress.message(&format!(
            "trying {}, learning rate {}",
            training.network.shape.text(),
            trial.rate
        ));
        self.progress.started("training epochs", self.options.epochs.into(), state.epoch.into());
        self.print_header();
        while !self.trial_is_over(state) {
            let start = Instant::now();
            let loss = self.run_epoch(&mut training, state)?;
            let found = validate(self.world, &training.network, self.data, held, held_rows);
            self.print_epoch(state.epoch, loss, Some(found), start);
            if state.best.is_none_or(|best| found.is_better_than(&best.1, self.options.loss)) {
                state.best = Some((state.epoch, found));
            }
            self.save_or_stop(state, &training, session)?;
        }
        let (epochs, held_out) = state.best.unwrap_or_default();
        state.tried.push(TrialResult { trial, epochs, held_out });
        state.trial = None;
        Ok(())
    }

    fn trial_is_over(&self, state: &TrainingState) -> bool {
        let best = state.best.map_or(0, |best| best.0);
        state.epoch >= self.options.epochs || state.epoch >= best + self.options.patience
    }

    fn run_epoch(&self, training: &mut Training<'_>, state: &mut TrainingState) -> Result<f64> {
        let loss = training.run_epoch(self.world, state.epoch);
        state.epoch += 1;
        state.total_epochs += 1;
        state.steps = training.adam.steps;
        self.progress.advanced(1);
        // The same number on all ranks.
        self.world.agree(if loss.is_finite() {
            Ok(loss)
        } else {
            usage(format!(
                "the loss is {loss} after epoch {}: the network has diverged; use a smaller --learning-rate, or scale \
                 the features",
                state.epoch
            ))
        })
    }

    fn save_or_stop(
        &self,
        state: &TrainingState,
        training: &Training<'_>,
        session: &mut CheckpointSession<'_>,
    ) -> Result<()> {
        let numbers = [&training.network.parameters, &training.adam.first, &training.adam.second];
        let snapshot = |buffer| state.to_snapshot(numbers.map(Vec::as_slice), buffer);
        session.save_or_stop(state.total_epochs, &state.place(), snapshot, self.progress)?;
        fault::inject(self.world.rank(), "unit")
    }

    fn print_header(&self) {
        self.progress.row("epoch         loss     held out     P@1     P@3     P@5    F1@5      time");
    }

    fn print_epoch(&self, epoch: u32, loss: f64, found: Option<ValidationScores>, start: Instant) {
        let time = format_seconds(start.elapsed().as_secs_f64());
        let found = match found {
            Some(ValidationScores { loss, precision: [one, three, five], macro_f1 }) => {
                format!("{loss:>11.5}  {one:.4}  {three:.4}  {five:.4}  {macro_f1:.4}")
            }
            None => " ".repeat(43),
        };
        self.progress.row(&format!("{epoch:>5}  {loss:>11.5}  {found}  {time:>8}"));
    }

    fn to_model_file(&self, network: Network, state: &TrainingState, epochs: u32) -> ModelFile {
        let shape = network.shape.clone();
        let tried = |tried: &TrialResult| {
            json!({
                "hidden": comma_separated(&tried.trial.hidden), "learning-rate": tried.trial.rate, "epochs": tried.epochs,
                "held-out-loss": tried.held_out.loss, "held-out-precision": tried.held_out.precision,
                "held-out-macro-f1": tried.held_out.macro_f1,
            })
        };
        let mut file = ModelFile {
            estimator: "mlp".into(),
            features: shape.features as u64,
            labels: shape.labels as u64,
            seed: self.options.seed,
            options: self.options.to_json(),
            record: json!({
                "layers": shape.text(),
                "parameters": shape.parameter_count(),
                "epochs": epochs,
                "loss": state.losses.last(),
                "ranks": self.world.size(),
                "tried": state.tried.iter().map(tried).collect::<Vec<_>>(),
            }),
            ..ModelFile::default()
        };
        network.put_into(&mut file);
        file
    }
}

/// Goes on with the numbers that an earlier run has saved.
fn restore_parameters(
    training: &mut Training<'_>,
    (state, [numbers, first, second]): (TrainingState, ParametersAndMoments),
) {
    assert_eq!(
        numbers.len(),
        training.network.parameters.len(),
        "the options of the checkpoint are the same"
    );
    training.network.parameters = numbers;
    training.adam.resume(state.steps, first, second);
}
