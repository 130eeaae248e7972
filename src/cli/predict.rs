//! `macrok predict`: predicts k labels per instance.

use std::path::PathBuf;

use serde_json::json;

use super::common::{Context, LoadRequest};
use super::values::output_file;
use crate::classifier::{DrawOptions, Mixture, Pick, Sampling, fold_predictions};
use crate::classifier_file::ClassifierFile;
use crate::error::Result;
use crate::format::{count_noun, format_count};
use crate::load::{ExtraMemory, LoadOptions};
use crate::pipeline::load_for_classifier;
use crate::report::Phases;
use crate::shard::{LabelId, Shard};
use crate::sparse::RowsView;
use crate::store::{LocalMatrix, Location, Role, write_file};

/// Predict k labels per instance, drawn from the classifier's mixture
#[derive(clap::Args)]
#[command(after_long_help = "\
Example:
  macrok synth new.h5
  macrok baseline macro-recall --labels new.h5 -k 3 --out recall.h5
  macrok predict recall.h5 --marginals new.h5 --out pred.h5
The file has a group `predictions` (CSR, k columns per row, data = score). In Python:
  import h5py, scipy.sparse as sp; g = h5py.File('pred.h5')['predictions']
  p = sp.csr_matrix((g['data'][:], g['indices'][:], g['indptr'][:]), shape=g.attrs['shape'])")]
pub(super) struct PredictArgs {
    /// Classifier file
    classifier: PathBuf,
    /// Estimated label probabilities: FILE.h5 or FILE.h5:GROUP
    #[arg(long, value_name = "FILE[:GROUP]")]
    marginals: String,
    /// Predictions file to write
    #[arg(short, long, value_name = "P.h5", value_parser = output_file())]
    out: PathBuf,
    /// Method of drawing from the mixture; both give every label the same probability
    #[arg(long, value_enum, default_value = "rule")]
    sampling: Sampling,
    /// Seed of the draws; the draw of a row depends on the seed and the row only
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Move marginals outside [0, 1] to the nearest bound instead of refusing them
    #[arg(long)]
    clamp: bool,
}

/// Returns what the command would load. Reads the classifier.
pub(super) fn load_request(args: &PredictArgs) -> Result<LoadRequest> {
    let classifier = ClassifierFile::read(&args.classifier)?;
    let marginals = Location::parse(&args.marginals, Role::Marginals);
    let options = LoadOptions { marginals, labels: None, clamp: args.clamp };
    Ok(LoadRequest { options, extra: prediction_memory(&classifier) })
}

/// Memory for labels and scores, and for the row starts, which are held twice while writing.
fn prediction_memory(classifier: &ClassifierFile) -> ExtraMemory {
    let bytes_per_row = 8 * classifier.mixture.k as u64 + 16;
    ExtraMemory { bytes_per_row, ..ExtraMemory::default() }.with_rules(classifier.mixture.rules.len() as u64)
}

pub(super) fn run(context: &Context<'_>, args: &PredictArgs) -> Result<()> {
    let Context { world, console, .. } = context;
    let marginals = Location::parse(&args.marginals, Role::Marginals);
    context.check_output(&args.out, &[&args.classifier, &marginals.file])?;
    let mut phases = Phases::new();
    let classifier = world.agree(ClassifierFile::read(&args.classifier))?;
    let mixture = &classifier.mixture;
    let load = LoadOptions { marginals, labels: None, clamp: args.clamp };
    let extra = prediction_memory(&classifier);
    let shard = load_for_classifier(world, &load, &args.classifier, &classifier, extra)?;
    phases.end("load");
    let draw = DrawOptions { sampling: args.sampling, seed: args.seed, round: 0 };
    let (indices, values) = predict(&shard, mixture, draw);
    phases.end("predict");
    let k = mixture.k;
    let indptr: Vec<usize> = (0..=shard.local_rows()).map(|row| row * k).collect();
    let matrix = LocalMatrix {
        group: "predictions",
        rows: shard.total_rows,
        columns: classifier.labels(),
        local: RowsView::new(&indptr, &indices, &values),
    };
    write_file(world, &args.out, context.overwrite, &[matrix], |file| {
        file.new_attr::<u64>().create("seed")?.write_scalar(&args.seed)?;
        file.new_attr::<u64>().create("k")?.write_scalar(&(k as u64))
    })?;
    phases.end("write");
    phases.max_over_ranks(world);
    console.line(format_args!(
        "predicted {k} of {} labels for {} with {}",
        format_count(classifier.labels()),
        count_noun(shard.total_rows, "instance"),
        count_noun(mixture.rules.len(), "rule")
    ));
    console.wrote(&args.out);
    console.phases(&phases);
    console.json(world, || {
        json!({
            "k": k,
            "n": shard.total_rows,
            "m": classifier.labels(),
            "seed": args.seed,
            "seconds": phases.json(&["load", "predict", "write"]),
            "peak_rss_bytes": phases.peak(),
        })
    })
}

/// Returns labels and scores of all rows in the order of the file.
fn predict(shard: &Shard, mixture: &Mixture, draw: DrawOptions) -> (Vec<u32>, Vec<f32>) {
    let (k, blocks) = (mixture.k, shard.marginals.blocks());
    let mut labels = vec![0; shard.local_rows() * k];
    let mut scores = vec![0.0; shard.local_rows() * k];
    let label_pieces = blocks.pieces(&mut labels, |row| row * k);
    let score_pieces = blocks.pieces(&mut scores, |row| row * k);
    let add = |row: &mut Vec<Pick>, block: usize, local: usize, picks: &[Pick]| {
        row.clear();
        row.extend_from_slice(picks);
        encode_scores(row);
        let at = (local - blocks.rows(block).start) * k;
        let labels = row.iter().map(|pick| pick.label.0);
        label_pieces
            .with(block, |piece| piece[at..at + k].iter_mut().zip(labels).for_each(|(to, v)| *to = v));
        let scores = row.iter().map(|pick| pick.score as f32);
        score_pieces
            .with(block, |piece| piece[at..at + k].iter_mut().zip(scores).for_each(|(to, v)| *to = v));
    };
    fold_predictions(&shard.marginals, shard.rows.start, mixture, draw, Vec::new, add);
    drop((label_pieces, score_pieces));
    (labels, scores)
}

/// Sorts the picks of a row by label, with scores that preserve their order: largest first, ties by the smaller label.
/// If the scores would give another order, because f32 is too coarse or a filler was picked last despite its score, a
/// score is set to the next value below the previous one. Scores are never zero, because some operations of SciPy drop
/// stored zeros, and the label with them.
fn encode_scores(row: &mut [Pick]) {
    let (mut above, mut last) = (f32::INFINITY, LabelId(0));
    for pick in row.iter_mut() {
        let mut score = pick.score as f32;
        if score == 0.0 {
            score = f32::MIN_POSITIVE;
        }
        if score > above || (score == above && pick.label < last) {
            score = above.next_down();
        }
        if score == 0.0 {
            score = -f32::MIN_POSITIVE;
        }
        (above, last) = (score, pick.label);
        pick.score = score.into();
    }
    row.sort_unstable_by_key(|pick| pick.label);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_scores_keep_the_order_of_picks_and_are_never_zero() {
        let scores = [0.5, 0.5, 0.5 - 1e-12, 0.0, 0.0, -0.0, -1e-40, -3.0, -3.0];
        let labels = [7, 3, 9, 1, 0, 2, 5, 4, 6].map(LabelId);
        let mut picks: Vec<Pick> = (0..scores.len())
            .map(|at| Pick { label: labels[at], score: scores[at], marginal: 0.0 })
            .collect();
        encode_scores(&mut picks);
        assert!(picks.is_sorted_by_key(|pick| pick.label));
        assert!(picks.iter().all(|pick| pick.score != 0.0 && f64::from(pick.score as f32) == pick.score));
        picks.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.label.cmp(&b.label)));
        assert_eq!(picks.iter().map(|pick| pick.label).collect::<Vec<_>>(), labels);
    }
}
