//! Each format read back, each error by its message, and bytes nobody meant.

mod arff;
mod arrays;
mod fuzz;
mod inputs;
mod lines;
mod predictions;
mod zip;

use std::path::PathBuf;

use tempfile::TempDir;

use super::{ImportError, ImportOptions, Imported, Input, SparseMatrix, import};

/// A directory of hand-made inputs.
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

    /// Imports `[GROUP=]NAME`s of this directory.
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

    /// The message of the error, with the directory left out.
    fn error(&self, inputs: &[&str], options: &ImportOptions) -> String {
        let error = self.import(inputs, options).expect_err("must be refused");
        let directory = format!("{}/", self.0.path().display());
        error.to_string().replace(&directory, "")
    }
}

/// One file imported with the default options.
fn read(name: &str, bytes: impl AsRef<[u8]>) -> Imported {
    let files = Files::new();
    files
        .add(name, bytes)
        .import(&[name], &ImportOptions::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The message when one file is imported with the default options.
fn refusal(name: &str, bytes: impl AsRef<[u8]>) -> String {
    let files = Files::new();
    files.add(name, bytes).error(&[name], &ImportOptions::default())
}

/// The entries of each row, after checking what [`SparseMatrix`] promises.
fn rows(matrix: &Option<SparseMatrix>) -> Vec<Vec<(u32, f32)>> {
    let matrix = matrix.as_ref().expect("the group was read");
    assert_eq!(matrix.indptr.len(), matrix.rows + 1);
    assert_eq!(matrix.indptr[0], 0);
    assert_eq!(matrix.indptr[matrix.rows], matrix.indices.len());
    assert_eq!(matrix.values.len(), matrix.indices.len());
    assert!(matrix.values.iter().all(|value| value.is_finite()));
    let entries: Vec<(u32, f32)> =
        matrix.indices.iter().copied().zip(matrix.values.iter().copied()).collect();
    let rows = matrix.indptr.windows(2).map(|ends| entries[ends[0]..ends[1]].to_vec());
    let rows: Vec<_> = rows.collect();
    for row in &rows {
        assert!(row.is_sorted_by(|a, b| a.0 < b.0), "{row:?}");
        assert!(row.iter().all(|entry| (entry.0 as usize) < matrix.columns));
    }
    rows
}

/// The columns of each row.
fn columns(matrix: &Option<SparseMatrix>) -> Vec<Vec<u32>> {
    let entries = rows(matrix);
    let columns = |row: &Vec<(u32, f32)>| row.iter().map(|entry| entry.0).collect();
    entries.iter().map(columns).collect()
}

fn sizes(matrix: &Option<SparseMatrix>) -> (usize, usize) {
    let matrix = matrix.as_ref().expect("the group was read");
    (matrix.rows, matrix.columns)
}
