//! One part of a file that is divided into rows to fit on and rows to test on.

use serde_json::json;

use super::step::Part;
use super::worker::Outcome;
use super::{Divided, Site};
use crate::format::count;
use crate::split::{Origin, Parts, Source};
use crate::store::{Overwrite, Role, publish};

/// Writes the labels and marginals of a part. Each part is a step of its own: who goes where is decided again, and the
/// same. Collective.
pub(super) fn divide(site: Site<'_>, divided: &Divided, part: Part) -> Outcome {
    let Site { world, folder, .. } = site;
    let source = Source::open(world, &divided.file, &[Role::Labels, Role::Marginals])?;
    let assignment = divided.split.assign(world, &source)?;
    let number = part as usize;
    let parts = Parts::read(world, &source, &assignment, &[number])?;
    let name = divided.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let origin = Origin { file: name, split: divided.split.clone() };
    let path = folder.made(part);
    let written = parts.write(world, &source, &assignment, &origin, &[&path], Overwrite::Replace)?;
    publish(world, written)?;
    let (n, m) = (assignment.sizes[number], source.labels().map_or(0, |labels| labels.columns));
    Ok((json!({ "n": n, "m": m }), format!("{} of {} instances", count(n), count(source.rows()))))
}
