//! The data of a job: files, or rows to generate.

use super::clap_section::{error_at_key, read_section};
use super::document::Section;
use super::item::Item;
use super::paths::PathResolver;
use super::problem::{Problem, Result};
use super::sections::Sections;
use crate::cli::{
    split::SplitOptions,
    synth::{ProblemOptions, RowOptions},
};
use crate::experiment::{DataSource, SplitFile};
use crate::load::LoadOptions;
use crate::store::{Location, Role};

/// A file named in a job, and the item that names it.
pub(super) struct NamedFile<'d> {
    pub item: Item<'d>,
    pub location: Location,
}

impl<'d> NamedFile<'d> {
    fn find(
        section: Section<'d>,
        key: &str,
        role: Role,
        resolver: &PathResolver,
    ) -> Result<Option<NamedFile<'d>>> {
        let Some(item) = section.item(key) else { return Ok(None) };
        let location = Location::parse(&resolver.resolve(&item)?, role);
        Ok(Some(NamedFile { item, location }))
    }
}

/// The rows to fit on or to test on.
pub(super) struct JobSample<'d> {
    pub data: DataSource,
    pub marginals: Option<NamedFile<'d>>,
    pub labels: Option<NamedFile<'d>>,
}

impl<'d> JobSample<'d> {
    /// The item that names the marginals.
    pub fn marginals_item(&self) -> Option<Item<'d>> {
        self.marginals.as_ref().map(|named| named.item)
    }

    pub fn has_labels(&self) -> bool {
        !matches!(self.data, DataSource::Files(_)) || self.labels.is_some()
    }
}

/// All data of a job.
pub(super) struct JobData<'d> {
    pub fit: JobSample<'d>,
    pub test: JobSample<'d>,
    pub train: Option<NamedFile<'d>>,
}

impl<'d> JobData<'d> {
    pub fn read(sections: &Sections<'d>, resolver: &PathResolver) -> Result<JobData<'d>> {
        let train = NamedFile::find(sections.data_train, "labels", Role::Labels, resolver)?;
        if sections.data_train.exists() && train.is_none() {
            let why = "the labels of the rows that the estimator was trained on, for priors and propensities";
            return Err(missing(sections.data_train, "labels", why));
        }
        if sections.data_split.exists() {
            let (fit, test) = read_split(sections, resolver)?;
            return Ok(JobData { fit, test, train });
        }
        let problem = read_section::<ProblemOptions>(sections.synth)?;
        let fit =
            read_sample(sections.data_fit, sections.data_fit_synth, &problem, sections.synth, resolver)?;
        let test =
            read_sample(sections.data_test, sections.data_test_synth, &problem, sections.synth, resolver)?;
        if !test.has_labels() {
            let why = "the true labels of the test rows";
            return Err(missing(sections.data_test, "labels", why));
        }
        Ok(JobData { fit, test, train })
    }
}

fn missing(section: Section<'_>, key: &'static str, why: &'static str) -> super::problem::JobError {
    section.error(Problem::MissingKey { section: section.name, key, why })
}

/// Reads the rows to fit on and to test on from one file.
fn read_split<'d>(
    sections: &Sections<'d>,
    resolver: &PathResolver,
) -> Result<(JobSample<'d>, JobSample<'d>)> {
    let section = sections.data_split;
    let both = [(sections.data_fit, "data.fit"), (sections.data_test, "data.test")];
    if let Some((other, name)) = both.into_iter().find(|(other, _)| other.exists()) {
        let text = format!(
            "[data.split] and [{name}] cannot be used together: the former has the rows to fit on and to test on"
        );
        return Err(other.error(Problem::Inconsistent(text)));
    }
    let Some(item) = section.item("file") else {
        let why = "the file to split, with the groups labels and marginals";
        return Err(missing(section, "file", why));
    };
    let file = std::path::PathBuf::from(resolver.resolve(&item)?);
    let split = read_section::<SplitOptions>(section)?.check();
    let split = split.map_err(|error| error_at_key::<SplitOptions>(section, &error))?;
    if split.fractions.parts() != 2 {
        let item = section.item("fractions").unwrap_or(item);
        return Err(item.invalid("two numbers: the share to fit on, and the share to test on"));
    }
    let clamp = clamp(section)?;
    let rows = || {
        let at = |role: Role| NamedFile { item, location: Location::in_file(&file, role) };
        JobSample {
            data: DataSource::Split(SplitFile { file: file.clone(), split: split.clone(), clamp }),
            marginals: Some(at(Role::Marginals)),
            labels: Some(at(Role::Labels)),
        }
    };
    Ok((rows(), rows()))
}

/// The key `clamp` of a section.
fn clamp(section: Section<'_>) -> Result<bool> {
    match section.item("clamp") {
        Some(item) => item.value.as_bool().ok_or_else(|| item.invalid("true or false")),
        None => Ok(false),
    }
}

fn read_sample<'d>(
    section: Section<'d>,
    synth: Section<'d>,
    problem: &ProblemOptions,
    problem_section: Section<'d>,
    resolver: &PathResolver,
) -> Result<JobSample<'d>> {
    let marginals = NamedFile::find(section, "marginals", Role::Marginals, resolver)?;
    let labels = NamedFile::find(section, "labels", Role::Labels, resolver)?;
    if synth.exists() {
        let files = [
            (marginals.is_some(), "marginals"),
            (labels.is_some(), "labels"),
            (section.item("clamp").is_some(), "clamp"),
        ];
        if let Some((_, first)) = files.into_iter().find(|(given, _)| *given) {
            return Err(synth.error(Problem::FilesAndSynth {
                section: section.name,
                first,
                second: "synth",
            }));
        }
        let rows = read_section::<RowOptions>(synth)?;
        let sample = problem.check(&rows).map_err(|error| {
            let of_rows =
                ["--instances", "--first-row"].iter().any(|name| error.to_string().starts_with(name));
            if of_rows {
                error_at_key::<RowOptions>(synth, &error)
            } else {
                error_at_key::<ProblemOptions>(problem_section, &error)
            }
        })?;
        return Ok(JobSample { data: DataSource::Synthetic(sample), marginals: None, labels: None });
    }
    let Some(marginals) = marginals else {
        let why = "the estimated probabilities, FILE.h5 or FILE.h5:GROUP; or generate rows with `synth`";
        return Err(missing(section, "marginals", why));
    };
    let files = LoadOptions {
        marginals: marginals.location.clone(),
        labels: labels.as_ref().map(|labels| labels.location.clone()),
        clamp: clamp(section)?,
    };
    Ok(JobSample { data: DataSource::Files(files), marginals: Some(marginals), labels })
}
