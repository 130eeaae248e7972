//! A sparse or dense matrix in a file: its datasets, checked against each other.

use std::ops::Range;

use super::error::{Result, StoreError};
use super::file_kind::FileKind;
use super::hdf5_file::Hdf5File;
use super::location::Location;
use super::number_dataset::NumberDataset;
use super::text::read_text_attribute;

/// An opened matrix, of which only the shape has been read.
pub struct MatrixFile {
    pub(super) location: Location,
    pub(super) rows: u64,
    pub(super) columns: u64,
    pub(super) parts: MatrixDatasets,
}

// Few values exist, so their size does not matter.
#[allow(clippy::large_enum_variant)]
pub(super) enum MatrixDatasets {
    Csr { data: NumberDataset, indices: NumberDataset, indptr: NumberDataset },
    Dense(NumberDataset),
}

impl MatrixFile {
    pub fn open(location: Location) -> Result<MatrixFile> {
        MatrixFile::open_in(&Hdf5File::open(&location.file)?, location)
    }

    /// Opens a matrix of a file that is already open.
    pub fn open_in(file: &Hdf5File, location: Location) -> Result<MatrixFile> {
        let place = location.to_string();
        if let Ok(dataset) = file.file.dataset(&location.group) {
            return MatrixFile::open_dense(file, location, dataset);
        }
        let Ok(group) = file.file.group(&location.group) else {
            let (path, group) = (location.file, location.group);
            return Err(match file.kind() {
                found @ (FileKind::Classifier | FileKind::Model) => {
                    let expected = format!("a data file with a group '{group}'");
                    StoreError::WrongKind { file: path, found, expected }
                }
                _ => {
                    let names = file.members();
                    let available = if names.is_empty() { "no groups".into() } else { names.join(", ") };
                    StoreError::MissingGroup { file: path, group, available }
                }
            });
        };
        if let Some(found) = read_text_attribute(&group, "encoding-type")
            && found != "csr_matrix"
        {
            return Err(StoreError::NotCsr { place, found });
        }
        let bad_type = |part: &str, found, allowed| {
            let (place, part) = (place.clone(), part.to_owned());
            StoreError::BadType { place, part, found, allowed }
        };
        let part = |part: &'static str| {
            let missing = |_| StoreError::MissingPart { place: place.clone(), part };
            let dataset = group.dataset(part).map_err(missing)?;
            if dataset.ndim() != 1 {
                let found = format!("an array of {} dimensions", dataset.ndim());
                return Err(bad_type(part, found, "a list"));
            }
            NumberDataset::open(file, format!("{}/{part}", location.group), dataset)
        };
        let (data, indices, indptr) = (part("data")?, part("indices")?, part("indptr")?);
        for (name, numbers) in [("indices", &indices), ("indptr", &indptr)] {
            if !numbers.is_integer() {
                return Err(bad_type(name, numbers.stored.clone(), "integers"));
            }
        }
        let (rows, columns) = shape(&group, &place)?;
        let lengths = (data.dataset.size() as u64, indices.dataset.size() as u64);
        if lengths.0 != lengths.1 {
            return Err(StoreError::LengthsDiffer { place, data: lengths.0, indices: lengths.1 });
        }
        let found = indptr.dataset.size() as u64;
        if found != rows + 1 {
            return Err(StoreError::IndptrLength { place, rows, found });
        }
        let ends = [("starts", indptr.read_integer(0)?, 0), ("ends", indptr.read_integer(rows)?, lengths.0)];
        for (which, found, expected) in ends {
            if found != expected.into() {
                return Err(StoreError::IndptrEnd { place, which, found, expected });
            }
        }
        let parts = MatrixDatasets::Csr { data, indices, indptr };
        MatrixFile { location, rows, columns, parts }.check_size()
    }

    fn open_dense(file: &Hdf5File, location: Location, dataset: hdf5::Dataset) -> Result<Self> {
        let &[rows, columns] = dataset.shape().as_slice() else {
            let found = format!("{:?}", dataset.shape());
            return Err(StoreError::BadShape { place: location.to_string(), found });
        };
        let numbers = NumberDataset::open(file, location.group.clone(), dataset)?;
        let parts = MatrixDatasets::Dense(numbers);
        MatrixFile { location, rows: rows as u64, columns: columns as u64, parts }.check_size()
    }

    fn check_size(self) -> Result<Self> {
        let (place, rows, columns) = (self.location.to_string(), self.rows, self.columns);
        if rows == 0 || columns == 0 {
            return Err(StoreError::Empty { place, rows, columns });
        }
        if columns > u64::from(u32::MAX) {
            return Err(StoreError::TooWide { place, columns });
        }
        Ok(self)
    }

    pub fn location(&self) -> &Location {
        &self.location
    }

    pub fn shape(&self) -> (u64, u64) {
        (self.rows, self.columns)
    }

    /// Returns the number of stored entries; of a dense matrix, the number of cells.
    pub fn entries(&self) -> u64 {
        match &self.parts {
            MatrixDatasets::Csr { data, .. } => data.dataset.size() as u64,
            MatrixDatasets::Dense(_) => self.rows * self.columns,
        }
    }

    /// Returns contiguous row ranges for `parts` readers, balanced by stored entries. Reads only a few numbers of
    /// `indptr`. With more readers than rows some ranges are empty.
    pub fn balanced_row_ranges(&self, parts: usize) -> Result<Vec<Range<u64>>> {
        let mut bounds = vec![0];
        for part in 1..parts as u64 {
            let wanted = u128::from(self.entries()) * u128::from(part) / parts as u128;
            let at = self.first_row_starting_at(wanted as i128)?;
            bounds.push(at.max(bounds[bounds.len() - 1]));
        }
        bounds.push(self.rows);
        Ok(bounds.windows(2).map(|pair| pair[0]..pair[1]).collect())
    }

    fn first_row_starting_at(&self, entry: i128) -> Result<u64> {
        let indptr = match &self.parts {
            MatrixDatasets::Csr { indptr, .. } => indptr,
            MatrixDatasets::Dense(_) => return Ok((entry as u64).div_ceil(self.columns)),
        };
        let (mut low, mut high) = (0, self.rows);
        while low < high {
            let middle = low + (high - low) / 2;
            if indptr.read_integer(middle)? < entry { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }
}

/// Reads `shape`, an attribute in AnnData's layout and a dataset in some others.
fn shape(group: &hdf5::Group, place: &str) -> Result<(u64, u64)> {
    let numbers = match (group.attr("shape"), group.dataset("shape")) {
        (Ok(attribute), _) => attribute.read_raw::<i64>(),
        (_, Ok(dataset)) => dataset.read_raw::<i64>(),
        _ => return Err(StoreError::MissingPart { place: place.into(), part: "shape" }),
    };
    match numbers.as_deref() {
        Ok(&[rows, columns]) if rows >= 0 && columns >= 0 => Ok((rows as u64, columns as u64)),
        Ok(other) => Err(StoreError::BadShape { place: place.into(), found: format!("{other:?}") }),
        Err(error) => Err(StoreError::BadShape { place: place.into(), found: error.to_string() }),
    }
}
