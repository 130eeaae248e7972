//! `macrok synth`: a data set to try things on.

use std::path::PathBuf;

use serde_json::json;

use super::common::Context;
use crate::error::{Result, usage};
use crate::report::{Phases, Progress, count};
use crate::store::write_file;
use crate::synth::{Generator, Shape, make};

/// Make a long-tailed data set: features, labels, and the true marginals the labels were drawn from
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  macrok synth tiny.h5
  macrok synth other-rows.h5 --first-row 2000
  mpirun -n 2 macrok synth large.h5 --instances 20000 --labels 13330 --nnz 200 --avg-labels 5
The same seed gives the same rows on any number of ranks. Two ranges of rows of one seed are two
samples of the same problem: fit on one, evaluate on the other.")]
pub(super) struct Typed {
    /// The file to write
    out: PathBuf,
    /// Rows
    #[arg(long, default_value_t = 2000, value_name = "N")]
    instances: u64,
    /// Labels
    #[arg(long, default_value_t = 200, value_name = "M")]
    labels: u32,
    /// Features
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
    /// Number of the first row, for other samples of the same problem
    #[arg(long, default_value_t = 0, value_name = "ROW")]
    first_row: u64,
    /// Seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

impl Typed {
    fn check(&self) -> Result<Shape> {
        let sizes = [
            ("--instances", self.instances),
            ("--labels", self.labels.into()),
            ("--features", self.features.into()),
            ("--nnz", self.nnz.into()),
        ];
        if let Some((name, _)) = sizes.iter().find(|size| size.1 == 0) {
            return usage(format!("{name} is 0, but must be at least 1"));
        }
        let stored = self.nnz.min(self.labels);
        let entries = self.instances.checked_mul(stored.into());
        let last = self.first_row.checked_add(self.instances);
        if entries.is_none_or(|entries| entries > 1 << 40) || last.is_none() {
            return usage(format!(
                "--instances {} with --nnz {stored} from --first-row {} is more than macrok can number",
                self.instances, self.first_row
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
        Ok(Shape {
            instances: self.instances,
            labels: self.labels,
            features: self.features,
            nnz: stored,
            average_labels: self.avg_labels,
            exponent: self.exponent,
        })
    }
}

pub(super) fn run(context: &Context<'_>, typed: &Typed) -> Result<()> {
    let Context { world, console, .. } = context;
    let shape = world.agree(typed.check())?;
    context.check_output(&typed.out, &[])?;
    let mut phases = Phases::new();
    let share = |rank: u64| shape.instances * rank / world.size() as u64;
    let (from, to) = (share(world.rank() as u64), share(world.rank() as u64 + 1));
    let progress = Progress::new(console, "making rows", to - from);
    let generator = Generator::new(shape, typed.seed);
    let rows = typed.first_row + from..typed.first_row + to;
    let made = make(&generator, rows, |rows| progress.advance(rows));
    progress.finish();
    phases.end("make");
    let entries = [&made.features, &made.labels, &made.marginals].map(|rows| rows.indices.len() as u64);
    let entries = entries.map(|local| world.gather_to_all(local).iter().sum::<u64>());
    let n = shape.instances;
    let matrices = [
        made.features.matrix("features", n, shape.features.into()),
        made.labels.matrix("labels", n, shape.labels.into()),
        made.marginals.matrix("marginals", n, shape.labels.into()),
    ];
    write_file(world, &typed.out, context.overwrite, &matrices, |file| {
        file.new_attr::<u64>().create("seed")?.write_scalar(&typed.seed)?;
        file.new_attr::<u64>().create("first_row")?.write_scalar(&typed.first_row)
    })?;
    phases.end("write");
    phases.slowest(world);
    console.line(format_args!(
        "{} instances, {} labels ({:.2} an instance), {} features ({:.1} an instance), {} marginals",
        count(n),
        count(shape.labels.into()),
        entries[1] as f64 / n as f64,
        count(shape.features.into()),
        entries[0] as f64 / n as f64,
        count(entries[2]),
    ));
    console.wrote(&typed.out);
    console.line("");
    console.line(phases.table());
    console.json(world, || {
        json!({
            "n": n,
            "m": shape.labels,
            "d": shape.features,
            "entries": { "features": entries[0], "labels": entries[1], "marginals": entries[2] },
            "seed": typed.seed,
            "ranks": world.size(),
            "seconds": { "make": phases.seconds("make"), "write": phases.seconds("write"), "total": phases.total() },
            "peak_rss_bytes": phases.peak(),
        })
    })
}
