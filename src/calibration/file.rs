//! A map in a model file: the group `calibration`.

use hdf5::types::VarLenUnicode;

use super::map::is_valid;
use super::{Map, Method};
use crate::store::{Hdf5File, StoreError};

const GROUP: &str = "calibration";

impl Map {
    /// Writes the group: datasets `from` and `to`, the corners of the map, and the attribute `method`.
    pub fn write(&self, file: &hdf5::File) -> hdf5::Result<()> {
        let group = file.create_group(GROUP)?;
        let (from, to): (Vec<f64>, Vec<f64>) = self.knots.iter().copied().unzip();
        group.new_dataset_builder().with_data(&from).create("from")?;
        group.new_dataset_builder().with_data(&to).create("to")?;
        let name: VarLenUnicode = self.method.name().parse().unwrap_or_default();
        group.new_attr::<VarLenUnicode>().create("method")?.write_scalar(&name)
    }

    /// The map of a file; `None` where it has none.
    pub fn read(file: &Hdf5File) -> Result<Option<Map>, StoreError> {
        if !file.has(GROUP) {
            return Ok(None);
        }
        let wrong = |detail: &str| StoreError::WrongKind {
            file: file.path().into(),
            wanted: "model",
            detail: format!("its group {GROUP} {detail}"),
        };
        let list = |name: &str| {
            let dataset = file.dataset(&format!("{GROUP}/{name}"));
            dataset
                .and_then(|dataset| dataset.read_raw::<f64>().ok())
                .ok_or_else(|| wrong(&format!("has no numbers '{name}'")))
        };
        let (from, to) = (list("from")?, list("to")?);
        let method = file.text_attribute(GROUP, "method").unwrap_or_default();
        let method = [Method::Isotonic, Method::Platt].into_iter().find(|known| known.name() == method);
        let method = method.ok_or_else(|| wrong("has a method that this version does not know"))?;
        let knots: Vec<(f64, f64)> = from.iter().copied().zip(to.iter().copied()).collect();
        if from.len() != to.len() || !is_valid(&knots) {
            return Err(wrong("is no rising map of [0, 1]"));
        }
        Ok(Some(Map { method, knots }))
    }
}
