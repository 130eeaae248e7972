//! Checks of the files a job names: they exist, they have the right content, and they fit together.

use super::data::{JobSample, NamedFile};
use super::job::Job;
use super::problem::{Problem, Result};
use crate::classifier_file::ClassifierFile;
use crate::experiment::DataSource;
use crate::optimize::InitialSource;
use crate::store::{MatrixFile, StoreError};

/// Opens every file and reads its shape.
pub(super) fn check_inputs(job: &Job<'_>) -> Result<()> {
    let (fit, name) = check_rows(&job.rows.fit, "[data.fit]")?;
    let (test, test_name) = check_rows(&job.rows.test, "[data.test]")?;
    let mut others = vec![(job.rows.test.marginals_item(), test_name, test)];
    if let Some(train) = &job.rows.train {
        let (_, labels) = shape(train)?;
        others.push((Some(train.item), train.location.to_string(), labels));
    }
    if let (InitialSource::File(path), Some(item)) = (&job.experiment.search.initial, job.init) {
        let file = ClassifierFile::read(path).map_err(|error| match error {
            StoreError::NotFound { .. } => item.invalid(InitialSource::CHOICES),
            _ => item.error(Problem::File(error.into())),
        })?;
        others.push((Some(item), path.display().to_string(), file.labels()));
    }
    for (item, other, labels) in others {
        if labels != fit {
            let text =
                format!("{other} is for {labels} labels, but {name} is for {fit}; the numbers must be equal");
            return Err(match item.or_else(|| job.rows.fit.marginals_item()) {
                Some(item) => item.error(Problem::Inconsistent(text)),
                None => job.budgets[0].0.section.error(Problem::Inconsistent(text)),
            });
        }
    }
    if let Some((item, k)) = job.budgets.iter().find(|(_, k)| *k as u64 > fit) {
        let text = format!("`k` has {k}, but {name} has only {fit} labels");
        return Err(item.error(Problem::Inconsistent(text)));
    }
    Ok(())
}

/// Returns the number of labels of a sample, and its name in messages.
fn check_rows(rows: &JobSample<'_>, made: &str) -> Result<(u64, String)> {
    if let DataSource::Synthetic(sample) = &rows.data {
        return Ok((sample.shape.labels.into(), made.to_owned()));
    }
    if let (DataSource::Split(split_file), Some(marginals)) = (&rows.data, &rows.marginals) {
        let (all, _) = shape(marginals)?;
        let sizes = split_file.split.fractions.sizes(all);
        sizes
            .map_err(|error| marginals.item.error(Problem::Inconsistent(format!("[data.split]: {error}"))))?;
    }
    let Some(marginals) = &rows.marginals else { return Ok((0, made.to_owned())) };
    let a = shape(marginals)?;
    if let Some(labels) = &rows.labels {
        let b = shape(labels)?;
        if a != b {
            let (first, second) = (marginals.location.to_string(), labels.location.to_string());
            let error = StoreError::ShapesDiffer { first, a, second, b };
            return Err(labels.item.error(Problem::File(error.into())));
        }
    }
    Ok((a.1, marginals.location.to_string()))
}

fn shape(named: &NamedFile<'_>) -> Result<(u64, u64)> {
    let opened = MatrixFile::open(named.location.clone());
    Ok(opened.map_err(|error| named.item.error(Problem::File(error.into())))?.shape())
}
