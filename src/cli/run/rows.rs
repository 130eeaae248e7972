//! The data of a job: files, or rows to be made.

use super::document::Section;
use super::item::Item;
use super::options::{explain, read};
use super::paths::Places;
use super::problem::{Problem, Result};
use super::sections::Sections;
use crate::cli::{
    split::SplitOptions,
    synth::{ProblemOptions, RowOptions},
};
use crate::experiment::{Data, Divided};
use crate::load::LoadOptions;
use crate::store::{Location, Role};

/// A file that a job names, and where it does.
pub(super) struct Named<'d> {
    pub item: Item<'d>,
    pub location: Location,
}

impl<'d> Named<'d> {
    fn find(section: Section<'d>, key: &str, role: Role, places: &Places) -> Result<Option<Named<'d>>> {
        let Some(item) = section.item(key) else { return Ok(None) };
        let location = Location::parse(&places.resolve(&item)?, role);
        Ok(Some(Named { item, location }))
    }
}

/// A sample as the job has it.
pub(super) struct Rows<'d> {
    pub data: Data,
    pub marginals: Option<Named<'d>>,
    pub labels: Option<Named<'d>>,
}

impl<'d> Rows<'d> {
    /// Where the marginals are named, if they are.
    pub fn place(&self) -> Option<Item<'d>> {
        self.marginals.as_ref().map(|named| named.item)
    }

    pub fn has_labels(&self) -> bool {
        !matches!(self.data, Data::Files(_)) || self.labels.is_some()
    }
}

/// All data of a job.
pub(super) struct AllRows<'d> {
    pub fit: Rows<'d>,
    pub test: Rows<'d>,
    pub train: Option<Named<'d>>,
}

impl<'d> AllRows<'d> {
    pub fn read(sections: &Sections<'d>, places: &Places) -> Result<AllRows<'d>> {
        let train = Named::find(sections.train_rows, "labels", Role::Labels, places)?;
        if sections.train_rows.exists() && train.is_none() {
            let why = "those of the rows the estimator was trained on, for priors and propensities";
            return Err(missing(sections.train_rows, "labels", why));
        }
        if sections.split_rows.exists() {
            let (fit, test) = divided(sections, places)?;
            return Ok(AllRows { fit, test, train });
        }
        let problem = read::<ProblemOptions>(sections.synth)?;
        let fit = rows(sections.fit_rows, sections.fit_synth, &problem, sections.synth, places)?;
        let test = rows(sections.test_rows, sections.test_synth, &problem, sections.synth, places)?;
        if !test.has_labels() {
            let why = "the true labels of the test rows, by which everything is judged";
            return Err(missing(sections.test_rows, "labels", why));
        }
        Ok(AllRows { fit, test, train })
    }
}

fn missing(section: Section<'_>, key: &'static str, why: &'static str) -> super::problem::JobError {
    section.error(Problem::Missing { section: section.name, key, why })
}

/// Rows to fit on and rows to test on, of one file.
fn divided<'d>(sections: &Sections<'d>, places: &Places) -> Result<(Rows<'d>, Rows<'d>)> {
    let section = sections.split_rows;
    let both = [(sections.fit_rows, "data.fit"), (sections.test_rows, "data.test")];
    if let Some((other, name)) = both.into_iter().find(|(other, _)| other.exists()) {
        let text = format!(
            "[data.split] has both the rows to fit on and those to test on, so [{name}] is one too many; leave one out"
        );
        return Err(other.error(Problem::Unfit(text)));
    }
    let Some(item) = section.item("file") else {
        let why = "the data, with the groups labels and marginals, of which one part is to fit on and one to test on";
        return Err(missing(section, "file", why));
    };
    let file = std::path::PathBuf::from(places.resolve(&item)?);
    let split = read::<SplitOptions>(section)?.check();
    let split = split.map_err(|error| explain::<SplitOptions>(section, &error))?;
    if split.fractions.parts() != 2 {
        let item = section.item("fractions").unwrap_or(item);
        return Err(item.wrong("two numbers: the share to fit on, and the share to test on"));
    }
    let clamp = clamp(section)?;
    let rows = || {
        let at = |role: Role| Named {
            item,
            location: Location { file: file.clone(), group: role.group().into() },
        };
        Rows {
            data: Data::Divided(Divided { file: file.clone(), split: split.clone(), clamp }),
            marginals: Some(at(Role::Marginals)),
            labels: Some(at(Role::Labels)),
        }
    };
    Ok((rows(), rows()))
}

/// The key `clamp` of a section.
fn clamp(section: Section<'_>) -> Result<bool> {
    match section.item("clamp") {
        Some(item) => item.value.as_bool().ok_or_else(|| item.wrong("true or false")),
        None => Ok(false),
    }
}

fn rows<'d>(
    section: Section<'d>,
    synth: Section<'d>,
    problem: &ProblemOptions,
    problem_section: Section<'d>,
    places: &Places,
) -> Result<Rows<'d>> {
    let marginals = Named::find(section, "marginals", Role::Marginals, places)?;
    let labels = Named::find(section, "labels", Role::Labels, places)?;
    if synth.exists() {
        let files = [
            (marginals.is_some(), "marginals"),
            (labels.is_some(), "labels"),
            (section.item("clamp").is_some(), "clamp"),
        ];
        if let Some((_, first)) = files.into_iter().find(|(given, _)| *given) {
            return Err(synth.error(Problem::Both { section: section.name, first, second: "synth" }));
        }
        let rows = read::<RowOptions>(synth)?;
        let sample = problem.check(&rows).map_err(|error| {
            let of_rows =
                ["--instances", "--first-row"].iter().any(|name| error.to_string().starts_with(name));
            if of_rows {
                explain::<RowOptions>(synth, &error)
            } else {
                explain::<ProblemOptions>(problem_section, &error)
            }
        })?;
        return Ok(Rows { data: Data::Made(sample), marginals: None, labels: None });
    }
    let Some(marginals) = marginals else {
        let why = "the estimated probabilities, FILE.h5 or FILE.h5:GROUP; or have rows made with `synth`";
        return Err(missing(section, "marginals", why));
    };
    let files = LoadOptions {
        marginals: marginals.location.clone(),
        labels: labels.as_ref().map(|labels| labels.location.clone()),
        clamp: clamp(section)?,
    };
    Ok(Rows { data: Data::Files(files), marginals: Some(marginals), labels })
}
