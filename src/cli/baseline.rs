//! `macrok baseline`: closed-form rules.

use std::path::PathBuf;

use serde_json::json;

use super::common::{Context, PropensityModel};
use super::values::{output_file, within};
use crate::classifier::{BaselineConstants, BaselineStrategy, Candidates};
use crate::error::Result;
use crate::format::format_count;
use crate::load::LabelCounts;
use crate::pipeline::BaselineRequest;
use crate::store::{Location, Role};

/// Write a closed-form or weighted rule as a classifier file
///
/// Label priors are computed from --labels, preferably of the data that the estimator was trained on.
#[derive(clap::Args)]
#[command(after_long_help = "\
Example:
  macrok synth counts.h5
  macrok baseline power-law --labels counts.h5 -k 3 --out power.h5
  macrok evaluate power.h5 --marginals counts.h5 --labels counts.h5")]
pub(super) struct BaselineArgs {
    /// Rule to write
    #[arg(value_enum)]
    strategy: BaselineStrategy,
    /// True labels, for the label priors: FILE.h5 or FILE.h5:GROUP
    #[arg(long, value_name = "FILE[:GROUP]")]
    labels: String,
    /// Number of labels to predict per instance
    #[arg(short, visible_alias = "k", value_name = "K", value_parser = within(1usize..))]
    k: usize,
    /// Classifier file to write
    #[arg(short, long, value_name = "CLF.h5", value_parser = output_file())]
    out: PathBuf,
    #[command(flatten)]
    options: BaselineOptions,
}

/// Constants of the rules; also a section of job files.
#[derive(clap::Args)]
pub(super) struct BaselineOptions {
    /// Exponent of power-law
    #[arg(long, default_value_t = 0.5, value_parser = within(0.0..=4.0))]
    beta: f64,
    #[command(flatten)]
    propensity: PropensityModel,
    /// Labels that a rule may choose from
    #[arg(long, value_enum, default_value = "all")]
    pub candidates: Candidates,
}

impl BaselineOptions {
    pub fn constants(&self) -> BaselineConstants {
        let PropensityModel { propensity_a, propensity_b } = self.propensity;
        BaselineConstants { beta: self.beta, propensity_a, propensity_b }
    }
}

pub(super) fn run(context: &Context<'_>, args: &BaselineArgs) -> Result<()> {
    let Context { world, console, .. } = context;
    let BaselineArgs { strategy, k, .. } = *args;
    let request = BaselineRequest {
        strategy,
        k,
        constants: args.options.constants(),
        candidates: args.options.candidates,
        labels: Location::parse(&args.labels, Role::Labels),
        out: args.out.clone(),
        overwrite: context.overwrite,
    };
    context.check_output(&args.out, &[&request.labels.file])?;
    let counts = LabelCounts::load(world, &request.labels)?;
    request.run(world, &counts)?;
    let LabelCounts { positives, rows } = counts;
    let (m, unseen) = (positives.len(), positives.iter().filter(|&&count| count == 0).count());
    console.line(format_args!(
        "{} at {k} from {} instances x {} labels ({} without a positive)",
        strategy.name(),
        format_count(rows),
        format_count(m as u64),
        format_count(unseen as u64),
    ));
    console.wrote(&args.out);
    console
        .json(world, || json!({ "strategy": strategy.name(), "k": k, "n": rows, "m": m, "unseen": unseen }))
}
