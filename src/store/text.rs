//! Text in HDF5 files: attributes, and the optional names of labels and instances.

use hdf5::types::{FixedAscii, FixedUnicode, VarLenAscii, VarLenUnicode};

use super::hdf5_file::Hdf5File;

/// Converts text for storage. A NUL would end it early for every reader.
fn to_stored(text: &str) -> VarLenUnicode {
    text.replace('\0', " ").parse().unwrap_or_default()
}

/// Reads a text attribute in any of the encodings that HDF5 has.
pub fn read_text_attribute(location: &hdf5::Location, name: &str) -> Option<String> {
    let attribute = location.attr(name).ok()?;
    attribute
        .read_scalar::<VarLenUnicode>()
        .map(|text| text.to_string())
        .or_else(|_| attribute.read_scalar::<VarLenAscii>().map(|text| text.to_string()))
        .or_else(|_| attribute.read_scalar::<FixedUnicode<256>>().map(|text| text.to_string()))
        .or_else(|_| attribute.read_scalar::<FixedAscii<256>>().map(|text| text.to_string()))
        .ok()
}

pub fn write_text_attribute(at: &hdf5::Location, name: &str, text: &str) -> hdf5::Result<()> {
    at.new_attr::<VarLenUnicode>().create(name)?.write_scalar(&to_stored(text))
}

/// Reads the strings of a dataset, if it exists and holds text.
pub fn read_names(file: &Hdf5File, dataset: &str) -> Option<Vec<String>> {
    let dataset = file.file.dataset(dataset).ok()?;
    let unicode =
        dataset.read_raw::<VarLenUnicode>().map(|names| names.iter().map(ToString::to_string).collect());
    let ascii =
        |_| dataset.read_raw::<VarLenAscii>().map(|names| names.iter().map(ToString::to_string).collect());
    unicode.or_else(ascii).ok()
}

/// Writes `names` as the dataset `dataset`.
pub fn write_names(file: &hdf5::File, dataset: &str, names: &[String]) -> hdf5::Result<()> {
    let names: Vec<VarLenUnicode> = names.iter().map(|name| to_stored(name)).collect();
    file.new_dataset_builder().with_data(&names).create(dataset)?;
    Ok(())
}
