//! `macrok synth`: a data set to try things on.

use std::path::PathBuf;

use serde_json::json;

use super::common::Context;
use crate::error::{Result, usage};
use crate::format::format_count;
use crate::report::{ConsoleProgress, Phases};
use crate::synth::{SynthSample, SynthShape};

/// Make a long-tailed data set: features, labels, and the true marginals the labels were drawn from
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  macrok synth tiny.h5
  macrok synth other-rows.h5 --first-row 2000
  mpirun -n 2 macrok synth large.h5 --instances 20000 --labels 13330 --nnz 200 --avg-labels 5
The same seed gives the same rows on any number of ranks. Two ranges of rows of one seed are two
samples of the same problem: fit on one, evaluate on the other.")]
pub(super) struct SynthArgs {
    /// The file to write
    out: PathBuf,
    #[command(flatten)]
    rows: RowOptions,
    #[command(flatten)]
    problem: ProblemOptions,
}

/// Which rows of a problem; also a part of job files.
#[derive(clap::Args)]
pub(super) struct RowOptions {
    /// How many rows
    #[arg(long, default_value_t = 2000, value_name = "N")]
    instances: u64,
    /// Number of the first row, for other samples of the same problem
    #[arg(long, default_value_t = 0, value_name = "ROW")]
    first_row: u64,
}

/// What the rows are drawn from; also a section of job files.
#[derive(clap::Args)]
pub(super) struct ProblemOptions {
    /// How many labels there are
    #[arg(long, default_value_t = 200, value_name = "M")]
    labels: u32,
    /// How many features there are
    #[arg(long, default_value_t = 500, value_name = "D")]
    features: u32,
    /// Stored marginals a row
    #[arg(long, default_value_t = 50, value_name = "N")]
    nnz: u32,
    /// Labels an instance has on average
    #[arg(long, default_value_t = 3.0, value_name = "L")]
    avg_labels: f64,
    /// Exponent of the power law of label popularity
    #[arg(long, default_value_t = 1.0, value_name = "S")]
    exponent: f64,
    /// Seed of all that is drawn
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

impl ProblemOptions {
    /// The sample of this problem that has these rows.
    pub fn check(&self, rows: &RowOptions) -> Result<SynthSample> {
        let RowOptions { instances, first_row } = *rows;
        let sizes = [
            ("--instances", instances),
            ("--labels", self.labels.into()),
            ("--features", self.features.into()),
            ("--nnz", self.nnz.into()),
        ];
        if let Some((name, _)) = sizes.iter().find(|size| size.1 == 0) {
            return usage(format!("{name} is 0, but must be at least 1"));
        }
        let stored = self.nnz.min(self.labels);
        let entries = instances.checked_mul(stored.into());
        let last = first_row.checked_add(instances);
        if entries.is_none_or(|entries| entries > 1 << 40) || last.is_none() {
            return usage(format!(
                "--instances {instances} with --nnz {stored} from --first-row {first_row} is more than macrok can number",
            ));
        }
        if !(self.avg_labels > 0.0 && self.avg_labels <= 0.5 * f64::from(stored)) {
            return usage(format!(
                "--avg-labels is {}, but must be above 0 and at most half of the {stored} marginals a row",
                self.avg_labels
            ));
        }
        if !(self.exponent > 0.0 && self.exponent <= 4.0) {
            return usage(format!("--exponent is {}, but must be above 0 and at most 4", self.exponent));
        }
        let shape = SynthShape {
            instances,
            labels: self.labels,
            features: self.features,
            nnz: stored,
            average_labels: self.avg_labels,
            exponent: self.exponent,
        };
        Ok(SynthSample { shape, seed: self.seed, first_row })
    }
}

pub(super) fn run(context: &Context<'_>, args: &SynthArgs) -> Result<()> {
    let Context { world, console, .. } = context;
    let sample = world.agree(args.problem.check(&args.rows))?;
    let SynthSample { shape, .. } = sample;
    context.check_output(&args.out, &[])?;
    let mut phases = Phases::new();
    let made = sample.generate(world, &ConsoleProgress::new(console));
    phases.end("make");
    let entries = sample.write(world, &made, &args.out, context.overwrite)?;
    let n = shape.instances;
    phases.end("write");
    phases.max_over_ranks(world);
    console.line(format_args!(
        "{} instances, {} labels ({:.2} an instance), {} features ({:.1} an instance), {} marginals",
        format_count(n),
        format_count(shape.labels.into()),
        entries[1] as f64 / n as f64,
        format_count(shape.features.into()),
        entries[0] as f64 / n as f64,
        format_count(entries[2]),
    ));
    console.wrote(&args.out);
    console.line("");
    console.line(phases.table());
    console.json(world, || {
        json!({
            "n": n,
            "m": shape.labels,
            "d": shape.features,
            "entries": { "features": entries[0], "labels": entries[1], "marginals": entries[2] },
            "seed": sample.seed,
            "ranks": world.size(),
            "seconds": { "make": phases.seconds("make"), "write": phases.seconds("write"), "total": phases.total() },
            "peak_rss_bytes": phases.peak(),
        })
    })
}
