//! Writing one part of a data file that is split into fitting rows and test rows.

use serde_json::json;

use super::step::FitOrTest;
use super::step_runner::StepOutcome;
use super::{RunContext, SplitFile};
use crate::format::format_count;
use crate::split::{Origin, Parts, SplitSource};
use crate::store::{Overwrite, Role, publish};

/// Writes the labels and marginals of a part. The assignment of rows to parts is the same in the step of the other part.
/// Collective.
pub(super) fn write_split_part(
    context: RunContext<'_>,
    split_file: &SplitFile,
    part: FitOrTest,
) -> StepOutcome {
    let RunContext { world, folder, .. } = context;
    let source = SplitSource::open(world, &split_file.file, &[Role::Labels, Role::Marginals])?;
    let assignment = split_file.split.assign(world, &source)?;
    let number = part as usize;
    let parts = Parts::read(world, &source, &assignment, &[number])?;
    let name = split_file.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let origin = Origin { file: name, split: split_file.split.clone() };
    let path = folder.data_file(part);
    let written = parts.write(world, &source, &assignment, &origin, &[&path], Overwrite::Replace)?;
    publish(world, written)?;
    let (n, m) = (assignment.sizes[number], source.labels().map_or(0, |labels| labels.columns));
    let text = format!("{} of {} instances", format_count(n), format_count(source.rows()));
    Ok((json!({ "n": n, "m": m }), text))
}
