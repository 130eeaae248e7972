//! `macrok inspect`: describes the files of macrok.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::calibration_report;
use super::common::Context;
use super::train::describe_model;
use crate::classifier_file::ClassifierFile;
use crate::error::Result;
use crate::evaluate::measure_calibration;
use crate::format::{count_noun, format_count};
use crate::load::{LabelCounts, LoadOptions, load_shard};
use crate::report::Table;
use crate::shard::Shard;
use crate::split::{RecordedSplit, read_recorded_split};
use crate::store::{FileKind, Hdf5File, Location, MatrixFile, ModelFile, Role, StoreError, read_names};

/// Describe a file: shapes, label distribution, tail, calibration, rules, training options of a model
#[derive(clap::Args)]
#[command(after_long_help = "\
Example:
  macrok synth shapes.h5
  macrok inspect shapes.h5")]
pub(super) struct InspectArgs {
    /// Data set, classifier, predictions or model
    file: PathBuf,
    /// Move marginals outside [0, 1] to the nearest bound instead of refusing them
    #[arg(long)]
    clamp: bool,
}

pub(super) fn run(context: &Context<'_>, args: &InspectArgs) -> Result<()> {
    let Context { world, console, .. } = context;
    let file = world.agree(Hdf5File::open(&args.file))?;
    let mut facts = Map::new();
    let present = match file.kind() {
        FileKind::Classifier => {
            let classifier = world.agree(ClassifierFile::read(&args.file))?;
            describe_classifier(context, &classifier, &mut facts);
            return console.json(world, || Value::Object(facts));
        }
        FileKind::Model => {
            let model = world.agree(ModelFile::read(&args.file))?;
            describe_model(console, &model, &mut facts);
            return console.json(world, || Value::Object(facts));
        }
        FileKind::Data(roles) => roles,
        found @ FileKind::Other(_) => {
            let (file, expected) = (args.file.clone(), "a data file, a classifier or a model".into());
            return world.agree(Err(StoreError::WrongKind { file, found, expected }));
        }
    };
    let at = |role: Role| Location::in_file(&args.file, role);
    let mut table = Table::new(&["group", ">rows", ">columns", ">entries", ">per row"]);
    for role in &present {
        let matrix = world.agree(MatrixFile::open_in(&file, at(*role)))?;
        let ((rows, columns), entries) = (matrix.shape(), matrix.entries());
        let average = entries as f64 / rows as f64;
        let cells = [
            role.group().into(),
            format_count(rows),
            format_count(columns),
            format_count(entries),
            format!("{average:.2}"),
        ];
        table.row(cells);
        facts.insert(role.group().into(), json!({"rows": rows, "columns": columns, "entries": entries}));
    }
    console.table(&table);
    for names in ["label_names", "instance_names"] {
        if let Some(list) = read_names(&file, names) {
            let mut some: Vec<String> =
                list.iter().take(5).map(|name| name.escape_debug().to_string()).collect();
            if list.len() > some.len() {
                some.push("...".into());
            }
            console.line(format_args!("{names}: {} ({})", format_count(list.len() as u64), some.join(", ")));
        }
    }
    if let Some(RecordedSplit { source, method, seed, fractions, part }) = read_recorded_split(&file) {
        let shares: Vec<String> = fractions.iter().map(f64::to_string).collect();
        console.line(format_args!(
            "rows: part {part} of {source}, {method} split by {}, seed {seed}; the dataset rows has their numbers in {source}",
            shares.join(",")
        ));
        facts.insert(
            "split".into(),
            json!({"source": source, "method": method, "seed": seed, "fractions": fractions, "part": part}),
        );
    }
    let has = |role: Role| present.contains(&role);
    if has(Role::Labels) {
        let LabelCounts { positives, rows } = LabelCounts::load(world, &at(Role::Labels))?;
        describe_labels(context, &positives, rows, &mut facts);
    }
    if has(Role::Marginals) && has(Role::Labels) {
        let load =
            LoadOptions { marginals: at(Role::Marginals), labels: Some(at(Role::Labels)), clamp: args.clamp };
        let shard = load_shard(world, &load)?;
        describe_calibration(context, &shard, &mut facts);
    }
    console.json(world, || Value::Object(facts))
}

/// Prints the label distribution and its tail.
fn describe_labels(context: &Context<'_>, positives: &[u64], rows: u64, facts: &mut Map<String, Value>) {
    let console = &context.console;
    let mut sorted = positives.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let m = sorted.len();
    let total: u64 = sorted.iter().sum();
    let share = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    let head = m.div_ceil(5);
    let head_share = share(sorted[..head].iter().sum(), total);
    let below = |limit: u64| sorted.iter().filter(|&&count| count < limit).count() as u64;
    console.line("");
    console.line(format_args!(
        "labels: {:.2} per instance; the most frequent has {} positives, the median {}, the rarest {}",
        total as f64 / rows as f64,
        format_count(sorted[0]),
        format_count(sorted[m / 2]),
        format_count(sorted[m - 1])
    ));
    console.line(format_args!(
        "tail: the {} most frequent labels (20%) hold {head_share:.1}% of all positives",
        format_count(head as u64)
    ));
    let mut table = Table::new(&["positives", ">labels", ">share"]);
    let limits = [(0, 1), (1, 2), (2, 5), (5, 10), (10, 100), (100, 1000), (1000, u64::MAX)];
    for (low, high) in limits {
        let name = match (low, high) {
            (low, u64::MAX) => format!("at least {}", format_count(low)),
            (low, high) if high == low + 1 => low.to_string(),
            (low, high) => format!("{low} to {}", high - 1),
        };
        let labels = below(high) - below(low);
        table.row([name, format_count(labels), format!("{:.1}%", share(labels, m as u64))]);
    }
    console.table(&table);
    facts.insert(
        "label_distribution".into(),
        json!({
            "average": total as f64 / rows as f64,
            "largest": sorted[0],
            "median": sorted[m / 2],
            "smallest": sorted[m - 1],
            "without_positive": below(1),
            "below_10_positives": below(10),
            "head_20_percent_share": head_share / 100.0,
        }),
    );
}

fn describe_calibration(context: &Context<'_>, shard: &Shard, facts: &mut Map<String, Value>) {
    let found = measure_calibration(context.world, shard);
    context.console.line("");
    calibration_report::print_calibration(&context.console, &found);
    facts.insert("calibration".into(), json!(found));
}

fn describe_classifier(context: &Context<'_>, file: &ClassifierFile, facts: &mut Map<String, Value>) {
    let (console, mixture) = (&context.console, &file.mixture);
    console.line(format_args!(
        "classifier for '{}': k = {}, {} labels, {}, candidates {}, seed {}",
        file.metric,
        mixture.k,
        format_count(file.labels()),
        count_noun(mixture.rules.len(), "rule"),
        mixture.candidates.name(),
        file.seed
    ));
    let mut table = Table::new(&[">rule", ">weight", "slopes", "intercepts"]);
    let range = |values: &[f32]| {
        let low = values.iter().copied().fold(f32::INFINITY, f32::min);
        let high = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        format!("{low:.3e} to {high:.3e}")
    };
    for (at, (rule, weight)) in mixture.rules.iter().zip(&mixture.weights).enumerate() {
        table.row([at.to_string(), format!("{weight:.6}"), range(&rule.slopes), range(&rule.intercepts)]);
    }
    console.table(&table);
    if let Some(last) = file.trajectory.last() {
        console.line(format_args!(
            "{}, utility {:.8}",
            count_noun(file.trajectory.len(), "iteration"),
            last.utility
        ));
    }
    facts.insert(
        "classifier".into(),
        json!({
            "metric": file.metric, "k": mixture.k, "m": file.labels(), "rules": mixture.rules.len(),
            "weights": mixture.weights, "candidates": mixture.candidates.name(), "seed": file.seed,
            "trajectory": file.trajectory,
        }),
    );
}
