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
    format: Format,
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
            format: args.format,
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
    let parts = read.iter().flat_map(|data| [&data.features, &data.labels, &data.marginals]);
    let groups: Vec<(usize, &SparseMatrix)> =
        parts.enumerate().filter_map(|(group, part)| Some((group, part.as_ref()?))).collect();
    let shape = |&(group, part): &(usize, &SparseMatrix)| [group, part.rows, part.columns].map(|n| n as u64);
    let mut shapes: Vec<u64> = groups.iter().flat_map(shape).collect();
    world.broadcast(&mut shapes);
    let matrices: Vec<LocalMatrix<'_>> = shapes
        .chunks(3)
        .enumerate()
        .map(|(at, shape)| {
            let part = groups.get(at).map(|(_, part)| *part);
            LocalMatrix {
                group: GROUPS[shape[0] as usize],
                rows: shape[1],
                columns: shape[2],
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
            "{}: {} x {}, {} entries",
            GROUPS[*group],
            format_count(part.rows as u64),
            format_count(part.columns as u64),
            format_count(part.indices.len() as u64)
        ));
    }
    console.wrote(&args.out);
    console.phases(&phases);
    console.json(world, || {
        let facts = |part: &SparseMatrix| json!({"rows": part.rows, "columns": part.columns, "entries": part.indices.len()});
        let shapes = groups.iter().map(|(group, part)| (GROUPS[*group].to_owned(), facts(part)));
        json!({ "groups": shapes.collect::<serde_json::Map<_, _>>() })
    })
}

const GROUPS: [&str; 3] = ["features", "labels", "marginals"];
