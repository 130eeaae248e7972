//! The model file: a trained estimator, and how it was trained.
//!
//! This module defines the attributes that every model has, and named arrays. The estimators define what the arrays mean.

use std::path::Path;

use hdf5::types::{FloatSize, IntSize, TypeDescriptor};
use serde_json::Value;

use super::atomic_write::Overwrite;
use super::error::{Result, StoreError};
use super::file_kind::FileKind;
use super::hdf5_file::Hdf5File;
use super::parallel_write::write_file;
use super::text::{read_text_attribute, write_text_attribute};
use crate::error;
use crate::world::World;

/// Version of the layout; newer ones are refused.
const MODEL_VERSION: u64 = 1;

/// The contents of a model file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelFile {
    /// The kind of estimator: `plt`, `linear`, `mlp`.
    pub estimator: String,
    /// Number of feature columns.
    pub features: u64,
    /// Number of labels.
    pub labels: u64,
    pub seed: u64,
    /// The options that determined the model, by name.
    pub options: Value,
    /// Sizes and counts that training recorded; two equal runs record the same.
    pub record: Value,
    /// Duration of training; the only field that differs between two equal runs.
    pub seconds: f64,
    /// Everything that determined the bits of the model, as text; `None` if that was not recorded.
    pub fingerprint: Option<String>,
    pub(crate) arrays: Vec<(String, ModelArray)>,
}

/// Numbers of a given shape, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelArray {
    pub shape: Vec<usize>,
    pub numbers: ArrayNumbers,
}

/// The element types of arrays.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrayNumbers {
    F32(Vec<f32>),
    F64(Vec<f64>),
    U32(Vec<u32>),
    U64(Vec<u64>),
}

macro_rules! array_of {
    ($($kind:ident, $number:ty, $into:ident);*) => {
        $(impl From<Vec<$number>> for ModelArray {
            fn from(numbers: Vec<$number>) -> ModelArray {
                ModelArray { shape: vec![numbers.len()], numbers: ArrayNumbers::$kind(numbers) }
            }
        })*
        impl ModelArray {
            $(/// Returns the numbers if they are of this type.
            pub fn $into(self) -> Option<Vec<$number>> {
                match self.numbers {
                    ArrayNumbers::$kind(numbers) => Some(numbers),
                    _ => None,
                }
            })*

            fn write(&self, file: &hdf5::File, name: &str) -> hdf5::Result<()> {
                match &self.numbers {
                    $(ArrayNumbers::$kind(numbers) => {
                        let dataset =
                            file.new_dataset::<$number>().shape(self.shape.clone()).create(name)?;
                        if !numbers.is_empty() {
                            dataset.write_raw(numbers)?;
                        }
                    })*
                }
                Ok(())
            }
        }
    };
}

array_of!(F32, f32, into_f32; F64, f64, into_f64; U32, u32, into_u32; U64, u64, into_u64);

impl ModelArray {
    /// Reshapes the numbers into rows of `columns`.
    pub fn with_columns(mut self, columns: usize) -> ModelArray {
        let rows = self.shape.iter().product::<usize>().checked_div(columns).unwrap_or(0);
        self.shape = vec![rows, columns];
        self
    }

    fn read(dataset: &hdf5::Dataset) -> hdf5::Result<Option<ModelArray>> {
        let shape = dataset.shape();
        let numbers = match dataset.dtype()?.to_descriptor()? {
            TypeDescriptor::Float(FloatSize::U4) => ArrayNumbers::F32(dataset.read_raw()?),
            TypeDescriptor::Float(FloatSize::U8) => ArrayNumbers::F64(dataset.read_raw()?),
            TypeDescriptor::Unsigned(IntSize::U4) => ArrayNumbers::U32(dataset.read_raw()?),
            TypeDescriptor::Unsigned(IntSize::U8) => ArrayNumbers::U64(dataset.read_raw()?),
            _ => return Ok(None),
        };
        Ok(Some(ModelArray { shape, numbers }))
    }
}

impl ModelFile {
    /// Adds an array under `name`, which may contain groups: `plt/weights/data`.
    pub fn put(&mut self, name: &str, array: impl Into<ModelArray>) {
        self.arrays.push((name.into(), array.into()));
    }

    /// Removes and returns an array, if it exists.
    pub fn take(&mut self, name: &str) -> Option<ModelArray> {
        let at = self.arrays.iter().position(|array| array.0 == name)?;
        Some(self.arrays.swap_remove(at).1)
    }

    /// Returns names and shapes of the arrays, sorted by name.
    pub fn arrays(&self) -> Vec<(&str, &[usize])> {
        let mut all: Vec<_> =
            self.arrays.iter().map(|(name, array)| (name.as_str(), array.shape.as_slice())).collect();
        all.sort_unstable();
        all
    }

    pub fn read(path: &Path) -> Result<ModelFile> {
        let file = Hdf5File::open(path)?;
        file.require(FileKind::Model)?;
        let mut model = ModelFile::read_header(&file)?;
        model.read_arrays(&file, &file.file, "")?;
        Ok(model)
    }

    fn read_header(file: &Hdf5File) -> Result<ModelFile> {
        let wrong =
            |detail: String| StoreError::Malformed { file: file.path.to_path_buf(), kind: "model", detail };
        let whole = |name: &str| -> Result<u64> {
            let found = file.file.attr(name).and_then(|attribute| attribute.read_scalar());
            found.map_err(|_| wrong(format!("it has no attribute '{name}'")))
        };
        let version = whole("model-version")?;
        if version == 0 || version > MODEL_VERSION {
            return Err(wrong(format!(
                "its model-version is {version}, but this program reads 1 to {MODEL_VERSION}; use the macrok that wrote it"
            )));
        }
        let text = |name: &str| {
            read_text_attribute(&file.file, name)
                .ok_or_else(|| wrong(format!("it has no attribute '{name}'")))
        };
        let json = |name: &str| -> Value {
            text(name).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
        };
        let seconds = file.file.attr("seconds").and_then(|attribute| attribute.read_scalar());
        Ok(ModelFile {
            estimator: text("estimator")?,
            features: whole("features")?,
            labels: whole("labels")?,
            seed: whole("seed")?,
            options: json("options"),
            record: json("record"),
            seconds: seconds.unwrap_or(0.0),
            fingerprint: text("made_from").ok(),
            arrays: Vec::new(),
        })
    }

    /// Reads the arrays of a group and of the groups within it.
    fn read_arrays(&mut self, file: &Hdf5File, group: &hdf5::Group, folder: &str) -> Result<()> {
        let members =
            group.member_names().map_err(|error| file.hdf5_error(folder, "reading the names", &error))?;
        for member in members {
            let name = if folder.is_empty() { member.clone() } else { format!("{folder}/{member}") };
            if let Ok(dataset) = group.dataset(&member) {
                let array =
                    ModelArray::read(&dataset).map_err(|error| file.hdf5_error(&name, "reading", &error))?;
                self.arrays.extend(array.map(|array| (name, array)));
            } else if let Ok(inner) = group.group(&member) {
                self.read_arrays(file, &inner, &name)?;
            }
        }
        Ok(())
    }

    /// Writes the file from rank 0. Collective.
    pub fn write(&self, world: &World, path: &Path, overwrite: Overwrite) -> error::Result<()> {
        write_file(world, path, overwrite, &[], |file| {
            let whole = [
                ("model-version", MODEL_VERSION),
                ("features", self.features),
                ("labels", self.labels),
                ("seed", self.seed),
            ];
            for (name, value) in whole {
                file.new_attr::<u64>().create(name)?.write_scalar(&value)?;
            }
            file.new_attr::<f64>().create("seconds")?.write_scalar(&self.seconds)?;
            let (options, record) = (self.options.to_string(), self.record.to_string());
            let texts = [
                ("estimator", self.estimator.as_str()),
                ("version", env!("CARGO_PKG_VERSION")),
                ("options", &options),
                ("record", &record),
            ];
            for (name, text) in
                texts.into_iter().chain(self.fingerprint.as_deref().map(|it| ("made_from", it)))
            {
                write_text_attribute(file, name, text)?;
            }
            for (name, array) in &self.arrays {
                array.write(file, name)?;
            }
            Ok(())
        })
    }
}
