//! `macrok synth`: generates data sets.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::common::Context;
use super::values::{above_0_to, output_file, positive, within};
use crate::error::{Result, usage};
use crate::format::format_count;
use crate::report::Phases;
use crate::synth::{SynthSample, SynthShape};

/// Generate a long-tailed data set: features, labels, and the true marginals the labels were drawn from
///
/// A seed gives the same rows on any number of ranks. Two ranges of rows with the same seed are two samples of
/// the same problem: fit on one, evaluate on the other.
#[derive(clap::Args)]
#[command(override_usage = "macrok synth <OUT> [OPTIONS]")]
#[command(after_long_help = "\
Examples:
  macrok synth tiny.h5
  macrok synth other-rows.h5 --first-row 2000
  mpirun -n 2 macrok synth large.h5 --instances 20000 --labels 13330 --nnz 200 --avg-labels 5")]
pub(super) struct SynthArgs {
    /// File to write
    #[arg(value_name = "OUT", required_unless_present = "out_option", conflicts_with = "out_option",
          value_parser = output_file())]
    out: Option<PathBuf>,
    /// File to write, in place of <OUT>
    #[arg(short, long = "out", value_name = "OUT", value_parser = output_file())]
    out_option: Option<PathBuf>,
    #[command(flatten)]
    rows: RowOptions,
    #[command(flatten)]
    problem: ProblemOptions,
}

/// Rows of a problem; also a part of job files.
#[derive(clap::Args)]
pub(super) struct RowOptions {
    /// Number of rows
    #[arg(long, default_value_t = 2000, value_name = "N", value_parser = within(1u64..))]
    instances: u64,
    /// Number of the first row, for other samples of the same problem
    #[arg(long, default_value_t = 0, value_name = "ROW")]
    first_row: u64,
}

/// The distribution of the rows; also a section of job files.
#[derive(clap::Args)]
pub(super) struct ProblemOptions {
    /// Number of labels
    #[arg(long, default_value_t = 200, value_name = "M", value_parser = within(1..=u32::MAX))]
    labels: u32,
    /// Number of features
    #[arg(long, default_value_t = 500, value_name = "D", value_parser = within(1..=u32::MAX))]
    features: u32,
    /// Stored marginals per row
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = within(1..=u32::MAX))]
    nnz: u32,
    /// Average number of labels per instance
    #[arg(long, default_value_t = 3.0, value_name = "L", value_parser = positive())]
    avg_labels: f64,
    /// Exponent of the power law of label popularity
    #[arg(long, default_value_t = 1.0, value_name = "S", value_parser = above_0_to(4.0))]
    exponent: f64,
    /// Seed of all random draws
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

impl ProblemOptions {
    /// Returns the sample of this problem with these rows.
    pub fn check(&self, rows: &RowOptions) -> Result<SynthSample> {
        let RowOptions { instances, first_row } = *rows;
        let stored = self.nnz.min(self.labels);
        let entries = instances.checked_mul(stored.into());
        let last = first_row.checked_add(instances);
        if entries.is_none_or(|entries| entries > 1 << 40) || last.is_none() {
            return usage(format!(
                "--instances {instances} with --nnz {stored} from --first-row {first_row} exceeds the limits of macrok",
            ));
        }
        if self.avg_labels > 0.5 * f64::from(stored) {
            return usage(format!(
                "--avg-labels is {}, but must be at most half of the {stored} marginals per row",
                self.avg_labels
            ));
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
    let out = args.out.as_ref().or(args.out_option.as_ref()).map_or(Path::new(""), PathBuf::as_path);
    context.check_output(out, &[])?;
    let mut phases = Phases::new();
    let made = sample.generate(world, console);
    phases.end("make");
    let entries = sample.write(world, &made, out, context.overwrite)?;
    let n = shape.instances;
    phases.end("write");
    phases.max_over_ranks(world);
    console.line(format_args!(
        "{} instances, {} labels ({:.2} per instance), {} features ({:.1} per instance), {} marginals",
        format_count(n),
        format_count(shape.labels.into()),
        entries[1] as f64 / n as f64,
        format_count(shape.features.into()),
        entries[0] as f64 / n as f64,
        format_count(entries[2]),
    ));
    console.wrote(out);
    console.phases(&phases);
    console.json(world, || {
        json!({
            "n": n,
            "m": shape.labels,
            "d": shape.features,
            "entries": { "features": entries[0], "labels": entries[1], "marginals": entries[2] },
            "seed": sample.seed,
            "ranks": world.size(),
            "seconds": phases.json(&["make", "write"]),
            "peak_rss_bytes": phases.peak(),
        })
    })
}
