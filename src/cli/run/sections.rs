//! The sections and keys of job files.

use super::clap_section::keys;
use super::document::{Document, Section};
use super::problem::Result;
use crate::cli::baseline::BaselineOptions;
use crate::cli::evaluate::EvaluateOptions;
use crate::cli::fit::options::FitOptions;
use crate::cli::split::SplitOptions;
use crate::cli::synth::{ProblemOptions, RowOptions};

/// The keys before the first section with defaults and comments: the start of the skeleton, and the values of omitted
/// keys.
pub(super) const DEFAULTS: &str = include_str!("defaults.toml");

/// The sections of a job file.
pub(super) struct Sections<'d> {
    pub top: Section<'d>,
    pub data_fit: Section<'d>,
    pub data_fit_synth: Section<'d>,
    pub data_test: Section<'d>,
    pub data_test_synth: Section<'d>,
    pub data_train: Section<'d>,
    pub data_split: Section<'d>,
    pub synth: Section<'d>,
    pub fit: Section<'d>,
    pub baseline: Section<'d>,
    pub evaluate: Section<'d>,
}

impl<'d> Sections<'d> {
    /// Finds the sections and refuses unknown keys.
    pub fn find(document: &'d Document<'d>, defaults: &Document<'_>) -> Result<Sections<'d>> {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<String>>();
        let mut plain: Vec<String> = defaults.top().items().iter().map(|item| item.key.to_owned()).collect();
        plain.extend(names(&["data", "synth", "fit", "baseline", "evaluate"]));
        let top = document.top();
        let rows = names(&["marginals", "labels", "clamp", "synth"]);
        let layout: [(&'static str, Vec<String>); 12] = [
            ("", plain),
            ("fit", keys::<FitOptions>()),
            ("baseline", keys::<BaselineOptions>()),
            ("evaluate", keys::<EvaluateOptions>()),
            ("synth", keys::<ProblemOptions>()),
            ("data", names(&["fit", "test", "train", "split"])),
            ("data.fit", rows.clone()),
            ("data.test", rows),
            ("data.train", names(&["labels"])),
            ("data.split", [names(&["file", "clamp"]), keys::<SplitOptions>()].concat()),
            ("data.fit.synth", keys::<RowOptions>()),
            ("data.test.synth", keys::<RowOptions>()),
        ];
        let mut found = Vec::new();
        for (name, allowed) in &layout {
            let section = section_at(top, name)?;
            section.check_keys(allowed)?;
            found.push(section);
        }
        let section = |name: &str| {
            let at = layout.iter().position(|(known, _)| *known == name).unwrap_or(0);
            found[at]
        };
        Ok(Sections {
            top,
            data_fit: section("data.fit"),
            data_fit_synth: section("data.fit.synth"),
            data_test: section("data.test"),
            data_test_synth: section("data.test.synth"),
            data_train: section("data.train"),
            data_split: section("data.split"),
            synth: section("synth"),
            fit: section("fit"),
            baseline: section("baseline"),
            evaluate: section("evaluate"),
        })
    }
}

/// The section with this full name.
fn section_at<'d>(top: Section<'d>, name: &'static str) -> Result<Section<'d>> {
    match name.rsplit_once('.') {
        _ if name.is_empty() => Ok(top),
        Some((outer, key)) => section_at(top, outer)?.section(key, name),
        None => top.section(name, name),
    }
}
