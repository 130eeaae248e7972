//! Paths in a job file: relative to the file, or to the folder given by --data.

use std::path::{Path, PathBuf};

use super::item::Item;
use super::problem::{Problem, Result};

/// Resolves the paths of a job file.
pub(super) struct PathResolver {
    /// The folder of the job file.
    pub folder: PathBuf,
    /// The name of the job file without `.toml`.
    pub name: String,
    /// The folder given by `--data`.
    pub data: Option<PathBuf>,
}

impl PathResolver {
    pub fn new(job: &Path, data: Option<&Path>) -> PathResolver {
        PathResolver {
            folder: job.parent().unwrap_or(Path::new("")).into(),
            name: job.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            data: data.map(Into::into),
        }
    }

    /// Returns the path that an item names, as the program can open it. A group may follow the name of the file.
    pub fn resolve(&self, item: &Item<'_>) -> Result<String> {
        let text = item.text()?;
        let (key, section) = item.key_and_section();
        let found = item.source_text();
        let (folder, rest) = match text.strip_prefix("{data}") {
            None => (self.folder.as_path(), text),
            Some(rest) => match &self.data {
                Some(data) => (data.as_path(), rest.trim_start_matches('/')),
                None => {
                    let file = item.section.document.file.clone();
                    return Err(item.error(Problem::NoDataFolder { key, section, found, file }));
                }
            },
        };
        let rest = rest.replace("{name}", &self.name);
        if rest.contains(['{', '}']) {
            return Err(item.error(Problem::Placeholder { key, section, found }));
        }
        if rest.is_empty() && folder == self.folder {
            return Err(item.invalid("the name of a file or folder"));
        }
        // `join` keeps absolute paths.
        Ok(folder.join(rest).to_string_lossy().into_owned())
    }
}
