//! `macrok marginals`: estimates label probabilities.

use std::path::PathBuf;

use serde_json::json;

use super::common::Context;
use super::values::{output_file, within};
use crate::error::Result;
use crate::estimate::{EstimateError, Model, PredictOptions, predict_marginals};
use crate::format::format_count;
use crate::load::{RowDistribution, plan_examples};
use crate::report::Phases;
use crate::store::{Hdf5File, LocalMatrix, Location, Role, read_names, write_file, write_names};

/// Estimate label probabilities with a trained model, and keep the largest of each row
#[derive(clap::Args)]
#[command(after_long_help = "\
Example:
  macrok synth past.h5
  macrok synth next.h5 --first-row 2000
  macrok train past.h5 --estimator plt --out past.model
  macrok marginals past.model next.h5 --keep 50 --out next-marginals.h5
  macrok inspect next-marginals.h5
Labels and names of the data are copied, so that fit and evaluate can read the file as it is. Each rank \
reads only its own rows.")]
pub(super) struct MarginalsArgs {
    /// Model file
    model: PathBuf,
    /// Features: FILE.h5 or FILE.h5:GROUP
    #[arg(value_name = "DATA[:GROUP]")]
    data: String,
    /// File to write
    #[arg(short, long, value_name = "OUT.h5", value_parser = output_file())]
    out: PathBuf,
    /// Marginals to keep per row, the largest; all others count as 0
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = within(1usize..))]
    keep: usize,
    /// Beam width of a label tree: label groups to visit per row, the most probable; faster, but not exact
    /// [default: wide enough to be exact]
    #[arg(long, value_name = "N", value_parser = within(1usize..))]
    beam: Option<usize>,
}

pub(super) fn run(context: &Context<'_>, args: &MarginalsArgs) -> Result<()> {
    let Context { world, console, .. } = context;
    let features = Location::parse(&args.data, Role::Features);
    context.check_output(&args.out, &[&args.model, &features.file])?;
    let mut phases = Phases::new();
    let model = world.agree(Model::read(&args.model))?;
    phases.end("read model");
    let data = world.agree(Hdf5File::open(&features.file))?;
    let labels = Location::in_file(&features.file, Role::Labels);
    let labelled = data.has(Role::Labels.group());
    let plan = plan_examples(world, &features, labelled.then_some(&labels))?;
    world.agree(if plan.features == model.features {
        Ok(())
    } else {
        let (file, data) = (args.model.clone(), features.to_string());
        let (model, found) = (model.features, plan.features);
        Err(EstimateError::FeaturesDiffer { file, model, data, found })
    })?;
    if let Some(found) = plan.labels {
        context.require(found == model.labels, || {
            let (file, data) = (args.model.display(), features.file.display());
            format!("{file}: the model is for {} labels, but {data} has {found}", model.labels)
        })?;
    }
    let examples = plan.load(RowDistribution::Split)?;
    phases.end("load");
    let ask = PredictOptions { keep: args.keep, beam: args.beam };
    let kept = predict_marginals(&model, &examples.features, ask, console);
    phases.end("estimate");
    let rows = examples.total_rows;
    let mut matrices =
        vec![LocalMatrix { group: "marginals", rows, columns: model.labels, local: kept.view() }];
    matrices.extend(examples.labels.as_ref().map(|labels| LocalMatrix {
        group: "labels",
        rows,
        columns: labels.cols() as u64,
        local: labels.into(),
    }));
    write_file(world, &args.out, context.overwrite, &matrices, |file| {
        for names in ["label_names", "instance_names"] {
            if let Some(list) = read_names(&data, names) {
                write_names(file, names, &list)?;
            }
        }
        Ok(())
    })?;
    phases.end("write");
    phases.max_over_ranks(world);
    let entries: u64 = world.gather_to_all(kept.view().entries() as u64).iter().sum();
    console.line(format_args!(
        "{} marginals of {} instances, {:.1} per instance, of {} labels",
        format_count(entries),
        format_count(rows),
        entries as f64 / rows as f64,
        format_count(model.labels)
    ));
    console.wrote(&args.out);
    console.phases(&phases);
    console.json(world, || {
        json!({
            "n": rows,
            "m": model.labels,
            "d": model.features,
            "keep": args.keep,
            "entries": entries,
            "labelled": labelled,
            "ranks": world.size(),
            "threads": context.threads,
            "seconds": phases.json(&["read model", "load", "estimate", "write"]),
            "peak_rss_bytes": phases.peak(),
        })
    })
}
