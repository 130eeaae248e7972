//! Training a network: which rows are held out, which networks are tried on them, and the one that is kept.

use std::time::Instant;

use serde_json::json;

use super::batch::Input;
use super::epoch::{How, Training};
use super::held_out::{HeldOut, held_out};
use super::network::Network;
use super::options::{NetworkOptions, list};
use super::pass;
use super::progress::{Numbers, Progress};
use super::shape::Shape;
use super::trial::{Trial, Tried, best, next_trial};
use crate::checkpoint::CheckpointError;
use crate::error::{Result, usage};
use crate::estimate::{Rows, Saved, Saving, Watch};
use crate::format::seconds;
use crate::load::{Examples, total_positives};
use crate::memory::check_room;
use crate::random::{Purpose, bits, unit};
use crate::store::ModelFile;
use crate::world::World;

/// Trains a network; rank 0 gets the model. Its bits depend on the examples, the options and the number of ranks, not on the
/// number of threads. Each rank has its own rows. Collective.
pub fn train(
    world: &World,
    examples: &Examples,
    options: &NetworkOptions,
    saved: Option<Saved>,
    saving: &mut Saving<'_>,
    watch: &dyn Watch,
) -> Result<Option<ModelFile>> {
    let Some(labels) = &examples.labels else { return usage("a network needs labels to be trained") };
    let starts = [&examples.features, labels].map(|matrix| matrix.indptr().raw_storage().to_vec());
    let entries: u64 = world.gather_to_all(examples.features.nnz() as u64).iter().sum();
    let room = Room {
        world,
        options,
        watch,
        total_rows: examples.total_rows,
        positives: total_positives(world, labels, examples.total_rows),
        data: pass::Examples {
            features: Rows::new(&starts[0], examples.features.indices(), examples.features.data()),
            labels: Rows::new(&starts[1], labels.indices(), labels.data()),
            first_row: examples.rows.start,
            input: Input::for_entries(entries, examples.total_rows, examples.features.cols() as u64),
            loss: options.loss,
        },
        features: examples.features.cols(),
    };
    room.train(saved, saving)
}

/// What stays the same throughout.
struct Room<'a> {
    world: &'a World,
    options: &'a NetworkOptions,
    watch: &'a dyn Watch,
    total_rows: u64,
    /// Rows that have each label.
    positives: Vec<u64>,
    data: pass::Examples<'a>,
    features: usize,
}

impl<'a> Room<'a> {
    fn train(&self, saved: Option<Saved>, saving: &mut Saving<'_>) -> Result<Option<ModelFile>> {
        let (held, trained) = self.divide();
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
        let mut resumed = self.share(saved)?;
        let mut progress = resumed.as_ref().map(|it| it.0.clone()).unwrap_or_default();
        if resumed.is_some() {
            saving.goes_on_from(progress.total_epochs);
            self.watch.line(&format!("going on after epoch {}", progress.total_epochs));
        }
        if self.options.validation > 0.0 {
            self.watch.line(&format!("{held_rows} rows are held out to find the best number of epochs"));
            // What was saved is in the midst of a trial, at the end of one, or after all of them.
            while progress.trial.is_some() || progress.losses.is_empty() {
                if progress.trial.is_none() {
                    let Some(trial) = next_trial(self.options, &progress.tried) else { break };
                    (progress.trial, progress.epoch, progress.best) = (Some(trial), 0, None);
                }
                self.try_out(&mut progress, resumed.take(), &trained, (&held, held_rows), saving)?;
            }
        }
        let chosen = best(self.options, &progress.tried).map(|it| (it.trial.clone(), it.epochs));
        let asked = Trial { hidden: self.options.hidden.clone(), rate: self.options.rate };
        let (trial, epochs) = chosen.unwrap_or((asked, self.options.epochs));
        let all = (0..self.data.features.count()).collect();
        let mut training = self.begin(&trial, all)?;
        match resumed.take().filter(|_| !progress.losses.is_empty()) {
            Some(before) => take_over(&mut training, before),
            None => progress.epoch = 0,
        }
        self.watch
            .line(&format!("training {} on all rows for {epochs} epochs", training.network.shape.text()));
        self.header();
        while progress.epoch < epochs {
            let start = Instant::now();
            let loss = self.epoch(&mut training, &mut progress)?;
            progress.losses.push(loss);
            self.line(progress.epoch, loss, None, start);
            self.between(&progress, &training, saving)?;
        }
        let file = self.world.is_root().then(|| self.file(training.network, &progress, epochs));
        Ok(file)
    }

    /// This rank's rows that are held out, and the others. Which, depends on the seed and the global row only.
    fn divide(&self) -> (Vec<usize>, Vec<usize>) {
        let draw = |&row: &usize| {
            unit(bits(self.options.seed, Purpose::Holdout, 0, self.data.first_row + row as u64))
                < self.options.validation
        };
        (0..self.data.features.count()).partition(draw)
    }

    /// What an earlier run has saved, on all ranks. Collective.
    fn share(&self, saved: Option<Saved>) -> Result<Option<(Progress, Numbers)>> {
        let foreign = || CheckpointError::Differs {
            file: "the checkpoint".into(),
            difference: "made by another program of the same version".into(),
        };
        let mut bytes = saved.map(|saved| saved.fresh).unwrap_or_default();
        self.world.broadcast(&mut bytes);
        if bytes.is_empty() {
            return Ok(None);
        }
        self.world.agree(Progress::restore(&bytes).ok_or_else(|| foreign().into()).map(Some))
    }

    /// A network before its first epoch.
    fn begin(&self, trial: &Trial, rows: Vec<usize>) -> Result<Training<'a>> {
        let shape =
            Shape { features: self.features, hidden: trial.hidden.clone(), labels: self.positives.len() };
        // The numbers, two moments, a gradient, and two copies for checkpoints; units and logits of a batch.
        let numbers = shape.parameters() as u64 * 4 * (4 + if self.world.is_root() { 6 } else { 0 });
        let units = (2 * shape.hidden.iter().sum::<usize>() + shape.labels) as u64;
        check_room(self.world, numbers + units * self.options.batch as u64 * 4)?;
        let network =
            Network::random(shape, self.options.seed, &self.positives, self.total_rows, self.options.loss);
        let NetworkOptions { batch, dropout, seed, .. } = *self.options;
        let how = How { batch, dropout, rate: trial.rate, seed };
        Ok(Training::new(self.world, network, self.data, rows, how))
    }

    /// Trains one network until it gets no better on the rows held out.
    fn try_out(
        &self,
        progress: &mut Progress,
        resumed: Option<(Progress, Numbers)>,
        rows: &[usize],
        (held, held_rows): (&[usize], u64),
        saving: &mut Saving<'_>,
    ) -> Result<()> {
        let trial = progress.trial.clone().expect("a trial is at work");
        let mut training = self.begin(&trial, rows.to_vec())?;
        if let Some(before) = resumed.filter(|it| it.0.trial.is_some()) {
            take_over(&mut training, before);
        }
        self.watch.line(&format!("trying {}, learning rate {}", training.network.shape.text(), trial.rate));
        self.header();
        while !self.is_over(progress) {
            let start = Instant::now();
            let loss = self.epoch(&mut training, progress)?;
            let found = held_out(self.world, &training.network, self.data, held, held_rows);
            self.line(progress.epoch, loss, Some(found), start);
            if progress.best.is_none_or(|best| found.beats(&best.1, self.options.loss)) {
                progress.best = Some((progress.epoch, found));
            }
            self.between(progress, &training, saving)?;
        }
        let (epochs, held_out) = progress.best.unwrap_or_default();
        progress.tried.push(Tried { trial, epochs, held_out });
        progress.trial = None;
        Ok(())
    }

    fn is_over(&self, progress: &Progress) -> bool {
        let best = progress.best.map_or(0, |best| best.0);
        progress.epoch >= self.options.epochs || progress.epoch >= best + self.options.patience
    }

    fn epoch(&self, training: &mut Training<'_>, progress: &mut Progress) -> Result<f64> {
        let loss = training.epoch(self.world, progress.epoch);
        progress.epoch += 1;
        progress.total_epochs += 1;
        progress.steps = training.adam.steps;
        // The same number on all ranks.
        self.world.agree(if loss.is_finite() {
            Ok(loss)
        } else {
            usage(format!(
                "the loss is {loss} after epoch {}: the network has diverged; use a smaller --learning-rate, or scale \
                 the features",
                progress.epoch
            ))
        })
    }

    fn between(&self, progress: &Progress, training: &Training<'_>, saving: &mut Saving<'_>) -> Result<()> {
        let numbers = [&training.network.numbers, &training.adam.first, &training.adam.second];
        let what = format!("after epoch {}", progress.total_epochs);
        saving.between(
            progress.total_epochs,
            &what,
            |space| progress.save(numbers.map(Vec::as_slice), space),
            self.watch,
        )
    }

    fn header(&self) {
        self.watch.line("epoch         loss     held out     P@1     P@3     P@5    F1@5      time");
    }

    fn line(&self, epoch: u32, loss: f64, found: Option<HeldOut>, start: Instant) {
        let time = seconds(start.elapsed().as_secs_f64());
        let found = match found {
            Some(HeldOut { loss, precision: [one, three, five], macro_f1 }) => {
                format!("{loss:>11.5}  {one:.4}  {three:.4}  {five:.4}  {macro_f1:.4}")
            }
            None => " ".repeat(43),
        };
        self.watch.line(&format!("{epoch:>5}  {loss:>11.5}  {found}  {time:>8}"));
    }

    fn file(&self, network: Network, progress: &Progress, epochs: u32) -> ModelFile {
        let shape = network.shape.clone();
        let tried = |tried: &Tried| {
            json!({
                "hidden": list(&tried.trial.hidden), "learning-rate": tried.trial.rate, "epochs": tried.epochs,
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
                "parameters": shape.parameters(),
                "epochs": epochs,
                "loss": progress.losses.last(),
                "ranks": self.world.size(),
                "tried": progress.tried.iter().map(tried).collect::<Vec<_>>(),
            }),
            ..ModelFile::default()
        };
        network.put_into(&mut file);
        file
    }
}

/// Goes on with the numbers that an earlier run has saved.
fn take_over(training: &mut Training<'_>, (progress, [numbers, first, second]): (Progress, Numbers)) {
    assert_eq!(numbers.len(), training.network.numbers.len(), "the options of the checkpoint are the same");
    training.network.numbers = numbers;
    training.adam.resume(progress.steps, first, second);
}
