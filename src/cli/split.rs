//! `macrok split`: divides a data set into parts.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::common::Context;
use super::values::output_file;
use crate::error::{Result, usage};
use crate::format::format_count;
use crate::report::{Phases, Table};
use crate::split::{Balance, Fractions, Method, Origin, Parts, Split, SplitSource, balance};
use crate::store::{Role, publish};

/// Split a data set into parts, at random or stratified by label
///
/// Features, labels, marginals, predictions and names of a row stay together. The same seed gives the same parts on
/// any number of ranks.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  macrok synth all.h5
  macrok split all.h5
  macrok split all.h5 --fractions 0.75,0.25 --stratified --seed 1 --out most.h5,few.h5
  macrok split all.h5 --fractions 0.6,0.2,0.2 --out part
The first writes all-1.h5 and all-2.h5, the last part-1.h5, part-2.h5 and part-3.h5. The dataset `rows` \
of a part holds the row numbers in all.h5. --stratified distributes the rarest labels first (iterative \
stratification, Sechidis et al. 2011) and then exchanges rows while that helps; rank 0 reads all labels.")]
pub(super) struct SplitArgs {
    /// Data set with any of features, labels, marginals and predictions
    #[arg(value_name = "DATA.h5")]
    data: PathBuf,
    #[command(flatten)]
    options: SplitOptions,
    /// Files to write, one per part, or a prefix of their names [default: DATA]
    #[arg(short, long, value_name = "A.h5,B.h5|PREFIX", value_delimiter = ',', value_parser = output_file())]
    out: Vec<PathBuf>,
}

/// Options of the split; also a section of job files.
#[derive(clap::Args)]
pub(super) struct SplitOptions {
    /// Share of the rows of each part; the shares sum to 1
    #[arg(
        long,
        value_name = "F,F",
        value_delimiter = ',',
        default_value = "0.5,0.5",
        allow_hyphen_values = true
    )]
    fractions: Vec<f64>,
    /// Seed of the random draws
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Give every part its share of the positives of every label, as closely as possible
    #[arg(long)]
    stratified: bool,
}

impl SplitOptions {
    pub fn check(&self) -> Result<Split> {
        let method = if self.stratified { Method::Stratified } else { Method::Plain };
        Ok(Split { fractions: Fractions::new(self.fractions.clone())?, seed: self.seed, method })
    }
}

pub(super) fn run(context: &Context<'_>, args: &SplitArgs) -> Result<()> {
    let Context { world, console, .. } = context;
    let split = world.agree(args.options.check())?;
    let paths = world.agree(output_paths(args, split.fractions.parts()))?;
    for path in &paths {
        context.check_output(path, &[&args.data])?;
    }
    let mut phases = Phases::new();
    let source = SplitSource::open(world, &args.data, &Role::ALL)?;
    context.require(split.method == Method::Plain || source.labels().is_some(), || {
        let groups: Vec<&str> = source.groups.iter().map(|group| group.role.group()).collect();
        format!(
            "{}: --stratified needs the group labels, but the file has only {}",
            args.data.display(),
            groups.join(", ")
        )
    })?;
    if !source.left_out.is_empty() {
        console.warn(format_args!("not copied to the parts: {}", source.left_out.join(", ")));
    }
    let assignment = split.assign(world, &source)?;
    phases.end("assign");
    let wanted: Vec<usize> = (0..split.fractions.parts()).collect();
    let parts = Parts::read(world, &source, &assignment, &wanted)?;
    phases.end("read");
    let labels = source.labels().map_or(0, |group| group.columns);
    let balances = balance(world, &parts, labels as usize, &split.fractions, source.rows());
    let origin = Origin {
        file: args.data.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        split: split.clone(),
    };
    let places: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let written = parts.write(world, &source, &assignment, &origin, &places, context.overwrite)?;
    publish(world, written)?;
    phases.end("write");
    phases.max_over_ranks(world);
    console.line(format_args!(
        "{}: {} rows, {} split by {}, seed {}",
        args.data.display(),
        format_count(source.rows()),
        split.method.name(),
        split.fractions,
        split.seed
    ));
    console.table(&parts_table(&paths, &assignment.sizes, &balances));
    if !balances.is_empty() {
        console.line(
            "without: labels whose positives are all in other parts; worst: largest deviation of a label from its share, in \
             positives; worst share: the same relative to the positives, for labels with at least 10",
        );
    }
    console.phases(&phases);
    console.json(world, || {
        json!({
            "n": source.rows(),
            "m": labels,
            "method": split.method.name(),
            "fractions": split.fractions.values(),
            "seed": split.seed,
            "parts": parts_json(&paths, &assignment.sizes, &balances),
            "ranks": world.size(),
            "seconds": phases.json(&["assign", "read", "write"]),
            "peak_rss_bytes": phases.peak(),
        })
    })
}

/// The file of each part: as given, or numbered from 1.
fn output_paths(args: &SplitArgs, parts: usize) -> Result<Vec<PathBuf>> {
    let numbered = |stem: &Path| {
        let is_hdf5 = stem.extension().is_some_and(|extension| extension == "h5");
        let stem = if is_hdf5 { stem.with_extension("") } else { stem.into() };
        (1..=parts).map(|part| PathBuf::from(format!("{}-{part}.h5", stem.display()))).collect()
    };
    let paths: Vec<PathBuf> = match args.out.as_slice() {
        [] => numbered(&args.data),
        [prefix] => numbered(prefix),
        names if names.len() == parts => names.to_vec(),
        names => {
            return usage(format!(
                "--out names {} files, but --fractions has {parts} parts; name one file per part, or a common prefix",
                names.len()
            ));
        }
    };
    let whole = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let mut numbered = paths.iter().enumerate();
    let duplicate = numbered.find(|(at, path)| paths[..*at].iter().any(|other| whole(other) == whole(path)));
    if let Some((at, path)) = duplicate {
        return usage(format!("{}: given for part {} and for an earlier one", path.display(), at + 1));
    }
    Ok(paths)
}

fn parts_table(paths: &[PathBuf], sizes: &[u64], balances: &[Balance]) -> Table {
    let mut columns = vec!["wrote", ">rows"];
    if !balances.is_empty() {
        columns.extend([">positives", ">without", ">worst", ">worst share"]);
    }
    let mut table = Table::new(&columns);
    for (part, (path, &rows)) in paths.iter().zip(sizes).enumerate() {
        let mut cells = vec![path.display().to_string(), format_count(rows)];
        if let Some(found) = balances.get(part) {
            cells.extend([
                format_count(found.positives),
                format_count(found.without_positive),
                format!("{:.1}", found.worst_count),
                format!("{:.4}", found.worst_share_of_10),
            ]);
        }
        table.row(cells);
    }
    table
}

fn parts_json(paths: &[PathBuf], sizes: &[u64], balances: &[Balance]) -> Vec<Value> {
    let part = |(part, (path, &rows)): (usize, (&PathBuf, &u64))| {
        let mut facts = balances.get(part).map_or(json!({}), |balance| json!(balance));
        facts["file"] = json!(path);
        facts["rows"] = json!(rows);
        facts
    };
    paths.iter().zip(sizes).enumerate().map(part).collect()
}
