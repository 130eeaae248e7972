//! HDF5 files written and read with the `hdf5` crate alone, as by another program.

use std::collections::BTreeMap;
use std::path::Path;

use hdf5::types::{FloatSize, IntSize, TypeDescriptor, VarLenUnicode};
use hdf5::{Container, Group};

/// The parts of a CSR matrix, any of which may be invalid.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    pub shape: Vec<i64>,
    pub indptr: Vec<i64>,
    pub indices: Vec<i64>,
    pub data: Vec<f64>,
}

impl Parts {
    pub fn new(columns: usize, rows: &[&[(i64, f64)]]) -> Parts {
        let mut parts = Parts {
            shape: vec![rows.len() as i64, columns as i64],
            indptr: vec![0],
            indices: Vec::new(),
            data: Vec::new(),
        };
        for row in rows {
            parts.indices.extend(row.iter().map(|entry| entry.0));
            parts.data.extend(row.iter().map(|entry| entry.1));
            parts.indptr.push(parts.indices.len() as i64);
        }
        parts
    }

    pub fn write(&self, file: &hdf5::File, name: &str) {
        let group = file.create_group(name).unwrap();
        set_text(&group, "encoding-type", "csr_matrix");
        group.new_attr_builder().with_data(&self.shape).create("shape").unwrap();
        group.new_dataset_builder().with_data(&self.indptr).create("indptr").unwrap();
        group.new_dataset_builder().with_data(&self.indices).create("indices").unwrap();
        group.new_dataset_builder().with_data(&self.data).create("data").unwrap();
    }
}

pub fn set_text(at: &hdf5::Location, name: &str, text: &str) {
    let text: VarLenUnicode = text.parse().unwrap();
    at.new_attr::<VarLenUnicode>().create(name).unwrap().write_scalar(&text).unwrap();
}

/// Creates a file that `fill` writes to.
///
/// No program is started meanwhile: it would inherit the open file and HDF5's lock on it.
pub fn create(path: &Path, fill: impl FnOnce(&hdf5::File)) {
    let _alone = super::alone();
    fill(&hdf5::File::create(path).unwrap());
}

/// Opens an existing file that `change` writes to; no program is started meanwhile, as in [`create`].
pub fn change(path: &Path, change: impl FnOnce(&hdf5::File)) {
    let _alone = super::alone();
    change(&hdf5::File::open_rw(path).unwrap());
}

/// Returns type, shape and bits of every dataset and attribute of a file, by path. Attributes called `seconds` are left
/// out, because they alone may differ between two runs.
pub fn content(path: &Path) -> BTreeMap<String, String> {
    let file = hdf5::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut found = BTreeMap::new();
    collect(&file, "", &mut found);
    found
}

fn collect(group: &Group, prefix: &str, found: &mut BTreeMap<String, String>) {
    attributes(group, prefix, found);
    for name in group.member_names().unwrap() {
        let path = format!("{prefix}/{name}");
        match group.dataset(&name) {
            Ok(dataset) => {
                attributes(&dataset, &path, found);
                found.insert(path, bits(&dataset));
            }
            Err(_) => collect(&group.group(&name).unwrap(), &path, found),
        }
    }
}

fn attributes(at: &hdf5::Location, path: &str, found: &mut BTreeMap<String, String>) {
    for name in at.attr_names().unwrap() {
        if name != "seconds" {
            found.insert(format!("{path}@{name}"), bits(&at.attr(&name).unwrap()));
        }
    }
}

fn bits(container: &Container) -> String {
    let kind = container.dtype().unwrap().to_descriptor().unwrap();
    let values = match kind {
        TypeDescriptor::Float(FloatSize::U4) => {
            hexadecimal(container.read_raw::<f32>().unwrap().iter().map(|v| v.to_bits().into()))
        }
        TypeDescriptor::Float(_) => {
            hexadecimal(container.read_raw::<f64>().unwrap().iter().map(|v| v.to_bits()))
        }
        TypeDescriptor::Integer(IntSize::U4) => format!("{:?}", container.read_raw::<i32>().unwrap()),
        TypeDescriptor::Integer(_) => format!("{:?}", container.read_raw::<i64>().unwrap()),
        TypeDescriptor::Unsigned(_) => format!("{:?}", container.read_raw::<u64>().unwrap()),
        TypeDescriptor::VarLenUnicode => format!("{:?}", container.read_raw::<VarLenUnicode>().unwrap()),
        ref other => panic!("{other} is in none of our files"),
    };
    format!("{kind} {:?} {values}", container.shape())
}

fn hexadecimal(values: impl Iterator<Item = u64>) -> String {
    values.map(|bits| format!("{bits:x} ")).collect()
}

/// Fails with the names of the parts that differ, instead of their contents.
#[track_caller]
pub fn assert_same_content(one: &Path, other: &Path) {
    let (a, b) = (content(one), content(other));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    let differ: Vec<&String> = a.keys().filter(|&name| a[name] != b[name]).collect();
    assert!(differ.is_empty(), "{} and {} differ in {differ:?}", one.display(), other.display());
}

/// Returns the values of an integer dataset.
pub fn integers(path: &Path, dataset: &str) -> Vec<i64> {
    hdf5::File::open(path).unwrap().dataset(dataset).unwrap().read_raw().unwrap()
}
