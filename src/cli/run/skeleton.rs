//! A job file to begin with: every key with its default and what it means.

use super::clap_section::skeleton_section;
use super::sections::DEFAULTS;
use crate::cli::baseline::BaselineOptions;
use crate::cli::evaluate::EvaluateOptions;
use crate::cli::fit::options::FitOptions;
use crate::cli::split::SplitOptions;
use crate::cli::synth::{ProblemOptions, RowOptions};

/// Rows made for fitting and testing in the skeleton.
const ROWS: u64 = 2000;

/// A complete job file, which runs as it is, on data it makes itself.
pub(super) fn skeleton() -> String {
    let test = skeleton_section::<RowOptions>().replace("first-row = 0", &format!("first-row = {ROWS}"));
    let split: String =
        skeleton_section::<SplitOptions>().lines().map(|line| format!("#   {line}\n")).collect();
    format!(
        "\
# A job for `macrok run`. Every key is here with its default: leave out what you do not change.

{DEFAULTS}
# The rows to fit on; best rows that the estimator was not trained on. For rows of your own write
#
#   [data.fit]
#   marginals = \"{{data}}/dev.h5\"     # FILE.h5 or FILE.h5:GROUP; {{data}} is the folder that --data names
#   labels = \"{{data}}/dev.h5\"        # leave it out to fit to expected labels
#   clamp = false                   # true moves marginals outside [0, 1] to the nearer end
#
# Here they are made, from the problem of the section [synth] below.
[data.fit.synth]
{}
# The rows that everything is compared on: marginals, labels and clamp, or, as here, other rows of the same problem.
[data.test.synth]
{test}
# In place of both, one file of which one part is to fit on and the other to test on:
#
#   [data.split]
#   # Its groups labels and marginals are divided
#   file = \"{{data}}/all.h5\"
#   clamp = false
{split}
# The labels of the rows that the estimator was trained on, for priors and propensities. Without this section those
# of [data.fit] are taken.
#
#   [data.train]
#   labels = \"{{data}}/train.h5\"

# The problem of rows that are made: the options of `macrok synth`.
[synth]
{}
# How Frank-Wolfe searches: the options of `macrok fit`.
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
