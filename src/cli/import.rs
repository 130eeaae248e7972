//! `macrok import`: converts text, ARFF and npz to HDF5.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::common::Context;
use super::values::output_file;
use crate::error::{Result, usage};
use crate::format::format_count;
use crate::import::{Format, Group, ImportOptions, Imported, Input, import};
use crate::report::Phases;
use crate::sparse::{Csr, RowsView};
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
Text may be gzipped. Text given as marginals has a line of label:score pairs per instance, as printed by \
napkinXC's predict; the number of labels is that of labels imported with it, or --label-count. Other text \
whose first line has three numbers (instances, features, labels) is in the Extreme Classification format; \
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
        if data.groups().any(|(_, matrix)| matrix.rows() == 0 || matrix.cols() == 0) {
            return usage(format!("{}: no data", args.inputs.join(", ")));
        }
        read = Some(data);
        Ok(())
    })?;
    phases.end("read");
    let groups: Vec<(Group, &Csr)> = read.iter().flat_map(Imported::groups).collect();
    let mut shapes: Vec<u64> = groups
        .iter()
        .flat_map(|&(group, matrix)| [group as u64, matrix.rows() as u64, matrix.cols() as u64])
        .collect();
    world.broadcast(&mut shapes);
    let matrices: Vec<LocalMatrix<'_>> = shapes
        .chunks(3)
        .enumerate()
        .map(|(at, shape)| LocalMatrix {
            group: Group::ALL[shape[0] as usize].name(),
            rows: shape[1],
            columns: shape[2],
            local: groups.get(at).map_or(RowsView::new(&[0], &[], &[]), |&(_, matrix)| matrix.into()),
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
    for (group, matrix) in &groups {
        console.line(format_args!(
            "{group}: {} x {}, {} entries",
            format_count(matrix.rows() as u64),
            format_count(matrix.cols() as u64),
            format_count(matrix.nnz() as u64)
        ));
    }
    console.wrote(&args.out);
    console.phases(&phases);
    console.json(world, || {
        let shapes: serde_json::Map<String, serde_json::Value> = groups
            .iter()
            .map(|(group, matrix)| {
                let facts = json!({"rows": matrix.rows(), "columns": matrix.cols(), "entries": matrix.nnz()});
                (group.name().to_owned(), facts)
            })
            .collect();
        json!({ "groups": shapes })
    })
}
