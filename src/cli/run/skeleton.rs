//! A job file to start from: every key with its default and meaning.

use super::clap_section::skeleton_section;
use super::sections::DEFAULTS;
use crate::cli::baseline::BaselineOptions;
use crate::cli::evaluate::EvaluateOptions;
use crate::cli::fit::options::FitOptions;
use crate::cli::split::SplitOptions;
use crate::cli::synth::{ProblemOptions, RowOptions};

/// Rows generated for fitting, and again for testing.
const ROWS: u64 = 2000;

/// Returns a complete job file, which runs as it is, on generated data.
pub(super) fn skeleton() -> String {
    let test = skeleton_section::<RowOptions>().replace("first-row = 0", &format!("first-row = {ROWS}"));
    let split: String =
        skeleton_section::<SplitOptions>().lines().map(|line| format!("#   {line}\n")).collect();
    format!(
        "\
# A job for `macrok run`. Every key is listed with its default; omit those that you do not change.

{DEFAULTS}
# The rows to fit on, preferably rows that the estimator was not trained on. To use your own rows, write
#
#   [data.fit]
#   marginals = \"{{data}}/dev.h5\"     # FILE.h5 or FILE.h5:GROUP; {{data}} is the folder that --data names
#   labels = \"{{data}}/dev.h5\"        # omit it to fit to expected labels
#   clamp = false                   # true moves marginals outside [0, 1] to the nearest bound
#
# Here they are generated from the problem in section [synth] below.
[data.fit.synth]
{}
# The rows to compare on: marginals, labels and clamp, or, as here, other rows of the same problem.
[data.test.synth]
{test}
# Instead of both, a single file that is split into rows to fit on and rows to test on:
#
#   [data.split]
#   # The groups labels and marginals of this file are split
#   file = \"{{data}}/all.h5\"
#   clamp = false
{split}
# The labels of the rows that the estimator was trained on, for priors and propensities. Default: those of [data.fit].
#
#   [data.train]
#   labels = \"{{data}}/train.h5\"

# The problem of generated rows: the options of `macrok synth`.
[synth]
{}
# The Frank-Wolfe search: the options of `macrok fit`.
[fit]
{}
# The options of `macrok baseline`.
[baseline]
{}
# The options of `macrok evaluate`.
[evaluate]
{}",
        skeleton_section::<RowOptions>(),
        skeleton_section::<ProblemOptions>(),
        skeleton_section::<FitOptions>(),
        skeleton_section::<BaselineOptions>(),
        skeleton_section::<EvaluateOptions>(),
    )
}
