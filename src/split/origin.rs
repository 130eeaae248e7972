//! The record of a part's origin: the dataset `rows` and its attributes.

use super::Split;
use crate::store::{Hdf5File, read_text_attribute, write_text_attribute};

/// The origin of a part's rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// Name of the file that was split, without its folder.
    pub file: String,
    pub split: Split,
}

/// The record in a part.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedSplit {
    pub source: String,
    pub method: String,
    pub seed: u64,
    pub fractions: Vec<f64>,
    /// Number of the part, from 1.
    pub part: u64,
}

impl Origin {
    /// Writes the row numbers in the file that was split, from 0, and the options of the split.
    pub(super) fn write(&self, file: &hdf5::File, part: usize, rows: &[i64]) -> hdf5::Result<()> {
        let dataset = file.new_dataset_builder().with_data(rows).create("rows")?;
        let Split { fractions, seed, method } = &self.split;
        dataset.new_attr::<u64>().create("seed")?.write_scalar(seed)?;
        dataset.new_attr_builder().with_data(fractions.values()).create("fractions")?;
        dataset.new_attr::<u64>().create("part")?.write_scalar(&(part as u64 + 1))?;
        for (name, text) in [("method", method.name()), ("source", self.file.as_str())] {
            write_text_attribute(&dataset, name, text)?;
        }
        Ok(())
    }
}

/// Returns the record of a file, if it is a part.
pub fn read_recorded_split(file: &Hdf5File) -> Option<RecordedSplit> {
    let rows = file.hdf5().dataset("rows").ok()?;
    let text = |name: &str| read_text_attribute(&rows, name);
    let number = |name: &str| rows.attr(name).ok()?.read_scalar::<u64>().ok();
    Some(RecordedSplit {
        source: text("source")?,
        method: text("method")?,
        seed: number("seed")?,
        fractions: rows.attr("fractions").ok()?.read_raw().ok()?,
        part: number("part")?,
    })
}
