//! `macrok baseline`: rules in closed form.

use std::path::PathBuf;

use serde_json::json;

use super::common::{Context, PropensityModel};
use crate::classifier::{BaselineConstants, BaselineStrategy, Candidates};
use crate::error::{Result, usage};
use crate::format::format_count;
use crate::pipeline::{BaselineRequest, LabelCounts};
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
        let (propensity_a, propensity_b) = self.propensity.check()?;
        Ok(BaselineConstants { beta: self.beta, propensity_a, propensity_b })
    }
}

pub(super) fn run(context: &Context<'_>, args: &BaselineArgs) -> Result<()> {
    let Context { world, console, .. } = context;
    let BaselineArgs { strategy, k, .. } = *args;
    context.require(k > 0, || "-k is 0, but at least one label must be predicted".into())?;
    let request = BaselineRequest {
        strategy,
        k,
        constants: world.agree(args.options.check())?,
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
