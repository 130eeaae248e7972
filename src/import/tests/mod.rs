//! Tests of each format and each error message, and of random bytes.

mod arff;
mod arrays;
mod fuzz;
mod inputs;
mod lines;
mod predictions;
mod zip;

use std::path::PathBuf;

use tempfile::TempDir;

use clap::ValueEnum;

use super::{Format, ImportError, ImportOptions, Imported, Input, import};
use crate::sparse::{Csr, RowsView};

/// A temporary directory of input files.
struct Files(TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().expect("a temporary directory"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn add(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Files {
        std::fs::write(self.path(name), bytes).expect("a writable file");
        self
    }

    /// Imports files of this directory, named as `[GROUP=]NAME`.
    fn import(&self, inputs: &[&str], options: &ImportOptions) -> Result<Imported, ImportError> {
        let inputs: Vec<Input> = inputs
            .iter()
            .map(|text| {
                let mut input = Input::parse(text).expect("an input");
                input.path = self.0.path().join(&input.path);
                input
            })
            .collect();
        import(&inputs, options)
    }

    /// Returns the error message of an import, without the directory.
    fn error(&self, inputs: &[&str], options: &ImportOptions) -> String {
        let error = self.import(inputs, options).expect_err("must be refused");
        let directory = format!("{}/", self.0.path().display());
        error.to_string().replace(&directory, "")
    }
}

/// Imports one file with the default options.
fn read(name: &str, bytes: impl AsRef<[u8]>) -> Imported {
    let files = Files::new();
    files
        .add(name, bytes)
        .import(&[name], &ImportOptions::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the error message of importing one file with the default options.
fn refusal(name: &str, bytes: impl AsRef<[u8]>) -> String {
    let files = Files::new();
    files.add(name, bytes).error(&[name], &ImportOptions::default())
}

fn format(name: &str) -> Format {
    Format::from_str(name, false).unwrap()
}

/// Returns the entries of each row, after checking that values are finite.
fn rows(matrix: &Option<Csr>) -> Vec<Vec<(u32, f32)>> {
    let matrix = matrix.as_ref().expect("the group was read");
    assert!(matrix.check_compressed_structure().is_ok());
    assert!(matrix.data().iter().all(|value| value.is_finite()));
    let row = |row| {
        let (columns, values) = RowsView::from(matrix).row(row);
        columns.iter().copied().zip(values.iter().copied()).collect()
    };
    (0..matrix.rows()).map(row).collect()
}

/// Returns the columns of each row.
fn columns(matrix: &Option<Csr>) -> Vec<Vec<u32>> {
    let columns = |row: &Vec<(u32, f32)>| row.iter().map(|entry| entry.0).collect();
    rows(matrix).iter().map(columns).collect()
}

fn sizes(matrix: &Option<Csr>) -> (usize, usize) {
    matrix.as_ref().expect("the group was read").shape()
}
