//! Optional names of labels and instances.

use hdf5::types::{VarLenAscii, VarLenUnicode};

use super::hdf5_file::Hdf5File;

/// Reads the strings of a dataset, if it exists and holds text.
pub fn read_names(file: &Hdf5File, dataset: &str) -> Option<Vec<String>> {
    let dataset = file.file.dataset(dataset).ok()?;
    dataset
        .read_raw::<VarLenUnicode>()
        .map(|names| names.iter().map(ToString::to_string).collect())
        .or_else(|_| {
            dataset.read_raw::<VarLenAscii>().map(|names| names.iter().map(ToString::to_string).collect())
        })
        .ok()
}

/// Writes `names` as the dataset `dataset`.
pub fn write_names(file: &hdf5::File, dataset: &str, names: &[String]) -> hdf5::Result<()> {
    let names: Vec<VarLenUnicode> =
        names.iter().map(|name| name.replace('\0', " ").parse().unwrap_or_default()).collect();
    file.new_dataset_builder().with_data(&names).create(dataset)?;
    Ok(())
}
