//! `macrok baseline`: rules in closed form.

use std::path::PathBuf;

use serde_json::json;

use super::common::{Context, PropensityModel};
use crate::classifier::{BaselineConstants, BaselineStrategy, Candidates, Mixture, baseline_rule};
use crate::classifier_file::ClassifierFile;
use crate::error::{Result, usage};
use crate::format::format_count;
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
pub(super) struct BaselineArgs {
    /// Which rule
    #[arg(value_enum)]
    strategy: BaselineStrategy,
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
    options: BaselineOptions,
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
    pub fn check(&self) -> Result<BaselineConstants> {
        if !(self.beta >= 0.0 && self.beta <= 4.0) {
            return usage(format!("--beta is {}, but must lie in [0, 4]", self.beta));
        }
        self.propensity.check()?;
        let PropensityModel { propensity_a, propensity_b } = self.propensity;
        let beta = self.beta;
        Ok(BaselineConstants { beta, propensity_a, propensity_b })
    }
}

pub(super) fn run(context: &Context<'_>, args: &BaselineArgs) -> Result<()> {
    let Context { world, console, .. } = context;
    context.require(args.k > 0, || "-k is 0, but at least one label must be predicted".into())?;
    let constants = world.agree(args.options.check())?;
    let location = Location::parse(&args.labels, Role::Labels);
    context.check_output(&args.out, &[&location.file])?;
    let (_, rows, labels) = load_labels(world, &location)?;
    let positives = total_positives(world, &labels, rows);
    context.require(args.k <= positives.len(), || {
        format!("-k is {}, but {location} has only {} labels", args.k, positives.len())
    })?;
    let rule = baseline_rule(args.strategy, &positives, rows, constants);
    let mixture = Mixture::single(rule, args.k, args.options.candidates);
    let unseen = positives.iter().filter(|&&count| count == 0).count();
    let m = positives.len();
    let file = ClassifierFile::of_baseline(args.strategy, mixture, positives, rows);
    ClassifierFile::write(Some(&file), world, &args.out, context.overwrite)?;
    console.line(format_args!(
        "{} at {} from {} instances x {} labels ({} without a positive)",
        args.strategy.name(),
        args.k,
        format_count(rows),
        format_count(m as u64),
        format_count(unseen as u64),
    ));
    console.wrote(&args.out);
    console.json(
        world,
        || json!({ "strategy": args.strategy.name(), "k": args.k, "n": rows, "m": m, "unseen": unseen }),
    )
}
