//! `macrok import`: converts text, ARFF and npz to HDF5.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::common::Context;
use super::values::output_file;
use crate::error::{Result, usage};
use crate::format::format_count;
use crate::import::{Format, ImportOptions, Input, SparseMatrix, import};
use crate::report::Phases;
use crate::sparse::RowsView;
use crate::store::{LocalMatrix, write_file, write_names};

/// Convert text, ARFF, npz or predictions to an HDF5 data set
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  printf '2 3 4\\n0,2 0:1 2:0.5\\n1 1:2\\n' > xc.txt
  macrok import xc.txt --out xc.h5
  printf '0:0.9 2:0.4\\n3:0.25 1:0.125\\n' > scores.txt
  macrok import labels=xc.txt marginals=scores.txt --out scores.h5
Other formats:
  macrok import emotions.arff emotions.xml --out emotions.h5
  macrok import labels=Y.npz marginals=P.npz --out arrays.h5
Text may be gzipped. Text given as marginals has a line of label:score pairs per instance, as printed by
napkinXC's predict; the number of labels is that of labels imported with it, or --label-count. Other text
whose first line has three numbers (instances, features, labels) is in the Extreme Classification format;
without such a line it is multi-label LIBSVM.")]
pub(super) struct ImportArgs {
    /// Input files, each as FILE or GROUP=FILE with GROUP one of features, labels, marginals
    #[arg(required = true, value_name = "[GROUP=]FILE")]
    inputs: Vec<String>,
    /// File to write
    #[arg(short, long, value_name = "OUT.h5", value_parser = output_file())]
    out: PathBuf,
    /// Format, if it cannot be recognised from the files
    #[arg(long, value_enum, default_value = "auto")]
    format: FormatArg,
    /// Number of labels of predictions, or of ARFF without XML, whose last attributes they are
    #[arg(long, visible_alias = "labels", value_name = "N")]
    label_count: Option<usize>,
    /// ARFF without XML: the labels are the first attributes
    #[arg(long, requires = "label_count")]
    labels_first: bool,
    /// LIBSVM: whether features are numbered from 0 [default: true if a 0 occurs]
    #[arg(long, value_name = "true|false")]
    zero_based: Option<bool>,
    /// Move marginals outside [0, 1] to the nearest bound instead of refusing them
    #[arg(long)]
    clamp: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum FormatArg {
    Auto,
    /// Text of the Extreme Classification repository
    Xc,
    Libsvm,
    Arff,
    Npz,
    /// Marginals as lines of label:score pairs, as in napkinXC
    Predictions,
}

pub(super) fn run(context: &Context<'_>, args: &ImportArgs) -> Result<()> {
    let Context { world, console, .. } = context;
    let inputs: Vec<&Path> = args.inputs.iter().map(Path::new).collect();
    context.check_output(&args.out, &inputs)?;
    let mut phases = Phases::new();
    // One rank reads: gzipped text cannot be cut into pieces. The other ranks write nothing.
    let mut read = None;
    world.on_root(|| {
        let inputs = args.inputs.iter().map(|text| Input::parse(text));
        let inputs = inputs.collect::<std::result::Result<Vec<_>, _>>()?;
        let options = ImportOptions {
            format: match args.format {
                FormatArg::Auto => Format::Auto,
                FormatArg::Xc => Format::ExtremeClassification,
                FormatArg::Libsvm => Format::Libsvm,
                FormatArg::Arff => Format::Arff,
                FormatArg::Npz => Format::Npz,
                FormatArg::Predictions => Format::Predictions,
            },
            label_count: args.label_count,
            labels_first: args.labels_first,
            zero_based: args.zero_based,
            clamp: args.clamp,
        };
        let data = import(&inputs, &options)?;
        let parts = [&data.features, &data.labels, &data.marginals];
        if parts.into_iter().flatten().any(|part| part.rows == 0 || part.columns == 0) {
            return usage(format!("{}: no data", args.inputs.join(", ")));
        }
        read = Some(data);
        Ok(())
    })?;
    phases.end("read");
    let groups: Vec<(&'static str, &SparseMatrix)> = read
        .iter()
        .flat_map(|data| {
            let parts =
                [("features", &data.features), ("labels", &data.labels), ("marginals", &data.marginals)];
            parts.into_iter().filter_map(|(group, part)| Some((group, part.as_ref()?)))
        })
        .collect();
    let mut present: Vec<u64> = groups
        .iter()
        .flat_map(|(group, part)| {
            let number = GROUPS.iter().position(|name| name == group).unwrap_or(0);
            [number as u64, part.rows as u64, part.columns as u64]
        })
        .collect();
    world.broadcast(&mut present);
    let matrices: Vec<LocalMatrix<'_>> = present
        .chunks(3)
        .enumerate()
        .map(|(at, described)| {
            let part = groups.get(at).map(|(_, part)| *part);
            LocalMatrix {
                group: GROUPS[described[0] as usize],
                rows: described[1],
                columns: described[2],
                local: part.map_or(RowsView::new(&[0], &[], &[]), |part| {
                    RowsView::new(&part.indptr, &part.indices, &part.values)
                }),
            }
        })
        .collect();
    write_file(world, &args.out, context.overwrite, &matrices, |file| {
        match read.as_ref().and_then(|data| data.label_names.as_ref()) {
            Some(names) => write_names(file, "label_names", names),
            None => Ok(()),
        }
    })?;
    phases.end("write");
    phases.max_over_ranks(world);
    for note in read.iter().flat_map(|data| &data.notes) {
        console.line(note);
    }
    for (group, part) in &groups {
        console.line(format_args!(
            "{group}: {} x {}, {} entries",
            format_count(part.rows as u64),
            format_count(part.columns as u64),
            format_count(part.indices.len() as u64)
        ));
    }
    console.wrote(&args.out);
    console.phases(&phases);
    console.json(world, || {
        let shapes: serde_json::Map<String, serde_json::Value> = groups
            .iter()
            .map(|(group, part)| {
                let facts =
                    json!({"rows": part.rows, "columns": part.columns, "entries": part.indices.len()});
                ((*group).to_owned(), facts)
            })
            .collect();
        json!({ "groups": shapes })
    })
}

const GROUPS: [&str; 3] = ["features", "labels", "marginals"];
