//! `macrok predict`: k labels for each instance.

use std::path::PathBuf;

use serde_json::json;

use super::common::{Context, to_mixture};
use crate::classifier::{Pick, Sampling, predict};
use crate::error::Result;
use crate::report::{Phases, count};
use crate::shard::{LoadOptions, load_shard};
use crate::store::{ClassifierFile, Location, Matrix, Role, write_file};

/// Predict k labels for each instance, drawn from the classifier's mixture
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  macrok synth data.h5
  macrok baseline macro-recall --labels data.h5 -k 3 --out clf.h5
  macrok predict clf.h5 --marginals data.h5 --out pred.h5
The file has a group `predictions` (CSR, k columns a row, data = score). In Python:
  import h5py, scipy.sparse as sp; g = h5py.File('pred.h5')['predictions']
  p = sp.csr_matrix((g['data'][:], g['indices'][:], g['indptr'][:]), shape=g.attrs['shape'])")]
pub(super) struct Typed {
    /// The classifier file
    classifier: PathBuf,
    /// Estimated label probabilities: FILE.h5 or FILE.h5:GROUP
    #[arg(long, value_name = "FILE[:GROUP]")]
    marginals: String,
    /// The predictions file to write
    #[arg(long, value_name = "P.h5")]
    out: PathBuf,
    /// How to draw from the mixture; both give every label the same chance
    #[arg(long, value_enum, default_value = "rule")]
    sampling: Sampling,
    /// Seed of the draws; a row's draw depends on the seed and the row only
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Move marginals outside [0, 1] to the nearer end instead of refusing them
    #[arg(long)]
    clamp: bool,
}

pub(super) fn run(context: &Context<'_>, typed: &Typed) -> Result<()> {
    let Context { world, console, .. } = context;
    context.check_output(&typed.out)?;
    let mut phases = Phases::new();
    let classifier = world.agree(ClassifierFile::read(&typed.classifier).map_err(Into::into))?;
    let mixture = to_mixture(&classifier);
    let marginals = Location::parse(&typed.marginals, Role::Marginals);
    let load = LoadOptions { marginals, labels: None, clamp: typed.clamp };
    let shard = load_shard(world, &load)?;
    context.check(classifier.labels as usize == shard.labels(), || {
        format!(
            "{} is for {} labels, but {} has {}",
            typed.classifier.display(),
            classifier.labels,
            load.marginals,
            shard.labels()
        )
    })?;
    phases.end("load");
    let mut picks = predict(&shard.marginals, shard.rows.start, &mixture, typed.sampling, typed.seed, 0);
    phases.end("predict");
    let k = mixture.k;
    picks.chunks_mut(k).for_each(|row| row.sort_unstable_by_key(|pick| pick.label));
    let indptr: Vec<usize> = (0..=shard.local_rows()).map(|row| row * k).collect();
    let indices: Vec<u32> = picks.iter().map(|pick| pick.label).collect();
    let values: Vec<f32> = picks.iter().map(stored_score).collect();
    let matrix = Matrix {
        group: "predictions",
        rows: shard.total_rows,
        columns: classifier.labels,
        indptr: &indptr,
        indices: &indices,
        values: &values,
    };
    write_file(world, &typed.out, context.overwrite, &[matrix], |file| {
        file.new_attr::<u64>().create("seed")?.write_scalar(&typed.seed)?;
        file.new_attr::<u64>().create("k")?.write_scalar(&(k as u64))
    })?;
    phases.end("write");
    phases.slowest(world);
    console.line(format_args!(
        "predicted {k} of {} labels for {} instances with {} rule(s)",
        count(classifier.labels),
        count(shard.total_rows),
        mixture.rules.len()
    ));
    console.wrote(&typed.out);
    console.line("");
    console.line(phases.table());
    console.json(world, || {
        json!({
            "k": k,
            "n": shard.total_rows,
            "m": classifier.labels,
            "seed": typed.seed,
            "seconds": {
                "load": phases.seconds("load"),
                "predict": phases.seconds("predict"),
                "write": phases.seconds("write"),
                "total": phases.total(),
            },
            "peak_rss_bytes": phases.peak(),
        })
    })
}

/// Scores are stored as f32. SciPy drops explicit zeros here and there, and with them the label;
/// so a score of zero is stored as the smallest positive number.
fn stored_score(pick: &Pick) -> f32 {
    let score = pick.score as f32;
    if score == 0.0 { f32::MIN_POSITIVE } else { score }
}
