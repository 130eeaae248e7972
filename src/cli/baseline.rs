//! `macrok baseline`: rules in closed form.

use std::path::PathBuf;

use serde_json::json;

use super::common::{Context, PropensityModel};
use crate::classifier::{Candidates, Constants, Mixture, Strategy, baseline};
use crate::classifier_file::ClassifierFile;
use crate::error::{Result, usage};
use crate::format::count;
use crate::load::{load_labels, total_positives};
use crate::store::{Location, Role};

/// Write a closed-form or weighted rule as a classifier file
///
/// Label priors come from --labels; best from the data the estimator was trained on.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  macrok synth data.h5
  macrok baseline power-law --labels data.h5 -k 3 --out power.h5
  macrok evaluate power.h5 --marginals data.h5 --labels data.h5")]
pub(super) struct Typed {
    /// Which rule
    #[arg(value_enum)]
    strategy: Strategy,
    /// True labels, for the labels' priors: FILE.h5 or FILE.h5:GROUP
    #[arg(long, value_name = "FILE[:GROUP]")]
    labels: String,
    /// How many labels to predict for every instance
    #[arg(short, value_name = "K")]
    k: usize,
    /// The classifier file to write
    #[arg(long, value_name = "CLF.h5")]
    out: PathBuf,
    #[command(flatten)]
    how: BaselineOptions,
}

/// Constants of the rules; also a section of job files.
#[derive(clap::Args)]
pub(super) struct BaselineOptions {
    /// Exponent of power-law
    #[arg(long, default_value_t = 0.5)]
    beta: f64,
    #[command(flatten)]
    propensity: PropensityModel,
    /// Labels a rule may choose from
    #[arg(long, value_enum, default_value = "all")]
    pub candidates: Candidates,
}

impl BaselineOptions {
    pub fn check(&self) -> Result<Constants> {
        if !(self.beta >= 0.0 && self.beta <= 4.0) {
            return usage(format!("--beta is {}, but must lie in [0, 4]", self.beta));
        }
        self.propensity.check()?;
        let PropensityModel { propensity_a, propensity_b } = self.propensity;
        let beta = self.beta;
        Ok(Constants { beta, propensity_a, propensity_b })
    }
}

pub(super) fn run(context: &Context<'_>, typed: &Typed) -> Result<()> {
    let Context { world, console, .. } = context;
    context.check(typed.k > 0, || "-k is 0, but at least one label must be predicted".into())?;
    let constants = world.agree(typed.how.check())?;
    let location = Location::parse(&typed.labels, Role::Labels);
    context.check_output(&typed.out, &[&location.file])?;
    let (_, rows, labels) = load_labels(world, &location)?;
    let positives = total_positives(world, &labels, rows);
    context.check(typed.k <= positives.len(), || {
        format!("-k is {}, but {location} has only {} labels", typed.k, positives.len())
    })?;
    let rule = baseline(typed.strategy, &positives, rows, constants);
    let mixture = Mixture::single(rule, typed.k, typed.how.candidates);
    let unseen = positives.iter().filter(|&&count| count == 0).count();
    let m = positives.len();
    let file = ClassifierFile::of_baseline(typed.strategy, mixture, positives, rows);
    ClassifierFile::write(Some(&file), world, &typed.out, context.overwrite)?;
    console.line(format_args!(
        "{} at {} from {} instances x {} labels ({} without a positive)",
        typed.strategy.name(),
        typed.k,
        count(rows),
        count(m as u64),
        count(unseen as u64),
    ));
    console.wrote(&typed.out);
    console.json(
        world,
        || json!({ "strategy": typed.strategy.name(), "k": typed.k, "n": rows, "m": m, "unseen": unseen }),
    )
}
