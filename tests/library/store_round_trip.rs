//! Matrices are read as they were written, by macrok or in any layout that readers accept.

use std::collections::BTreeMap;
use std::path::Path;

use hdf5::types::VarLenUnicode;
use macrok::load::read_csr;
use macrok::sparse::{Csr, RowsView};
use macrok::store::{LocalMatrix, Location, MatrixFile, Overwrite, Role, ValueKind, write_file, write_text};
use macrok::world::World;
use proptest::prelude::*;

/// Rows of a matrix: ascending columns with their values.
#[derive(Clone, Debug, PartialEq)]
struct Rows {
    columns: usize,
    rows: Vec<Vec<(u32, f32)>>,
}

impl Rows {
    fn indptr(&self) -> Vec<usize> {
        let lengths = self.rows.iter().map(Vec::len);
        std::iter::once(0)
            .chain(lengths.scan(0, |end, length| {
                *end += length;
                Some(*end)
            }))
            .collect()
    }

    fn indices(&self) -> Vec<u32> {
        self.rows.iter().flatten().map(|entry| entry.0).collect()
    }

    fn values(&self) -> Vec<f32> {
        self.rows.iter().flatten().map(|entry| entry.1).collect()
    }

    fn without_zeros(&self) -> Rows {
        let keep = |row: &Vec<(u32, f32)>| row.iter().copied().filter(|entry| entry.1 != 0.0).collect();
        Rows { columns: self.columns, rows: self.rows.iter().map(keep).collect() }
    }
}

impl From<&Csr> for Rows {
    fn from(matrix: &Csr) -> Rows {
        let row = |local| {
            let (columns, values) = RowsView::from(matrix).row(local);
            columns.iter().copied().zip(values.iter().copied()).collect()
        };
        Rows { columns: matrix.cols(), rows: (0..matrix.rows()).map(row).collect() }
    }
}

/// Returns random rows with values of `value`; some rows are empty.
fn rows(value: impl Strategy<Value = f32> + Clone) -> impl Strategy<Value = Rows> {
    (1usize..30).prop_flat_map(move |columns| {
        let row = prop::collection::btree_map(0..columns as u32, value.clone(), 0..=columns.min(8));
        prop::collection::vec(row, 1..20).prop_map(move |rows: Vec<BTreeMap<u32, f32>>| Rows {
            columns,
            rows: rows.into_iter().map(|row| row.into_iter().collect()).collect(),
        })
    })
}

/// Reads a matrix in `parts` consecutive ranges.
fn read(path: &Path, content: ValueKind, parts: usize) -> Rows {
    let location = Location { file: path.into(), group: Role::Marginals.group().into() };
    let matrix = MatrixFile::open(location).unwrap();
    let mut whole = Rows { columns: matrix.shape().1 as usize, rows: Vec::new() };
    for range in matrix.balanced_row_ranges(parts).unwrap() {
        assert_eq!(range.start, whole.rows.len() as u64, "ranges follow one another");
        let starts = matrix.row_starts(range.clone()).unwrap();
        let part = read_csr(&matrix, &starts, content).unwrap();
        assert_eq!(part.rows() as u64, range.end - range.start);
        whole.rows.extend(Rows::from(&part).rows);
    }
    assert_eq!(whole.rows.len() as u64, matrix.shape().0, "ranges cover all rows");
    whole
}

fn write_ours(path: &Path, rows: &Rows) -> macrok::error::Result<()> {
    let (indptr, indices, values) = (rows.indptr(), rows.indices(), rows.values());
    let matrix = LocalMatrix {
        group: "marginals",
        rows: rows.rows.len() as u64,
        columns: rows.columns as u64,
        local: RowsView::new(&indptr, &indices, &values),
    };
    write_file(&World::alone(), path, Overwrite::Refuse, &[matrix], |_| Ok(()))
}

#[derive(Clone, Copy, Debug)]
enum IndexType {
    I32,
    I64,
    U32,
    U64,
    U16,
}

#[derive(Clone, Copy, Debug)]
enum DataType {
    F32,
    F64,
    I8,
    U8,
    I32,
    I64,
    U64,
    Bool,
}

/// Ways in which another program may have stored a matrix.
#[derive(Clone, Copy, Debug)]
struct Foreign {
    indices: IndexType,
    indptr: IndexType,
    data: DataType,
    deflate: bool,
    reversed: bool,
    shape_as_dataset: bool,
    encoding: bool,
}

fn foreign() -> impl Strategy<Value = Foreign> {
    use DataType::*;
    let index = || {
        prop::sample::select(vec![
            IndexType::I32,
            IndexType::I64,
            IndexType::U32,
            IndexType::U64,
            IndexType::U16,
        ])
    };
    let data = prop::sample::select(vec![F32, F64, I8, U8, I32, I64, DataType::U64, Bool]);
    (index(), index(), data, any::<[bool; 4]>()).prop_map(
        |(indices, indptr, data, [deflate, reversed, shape_as_dataset, encoding])| Foreign {
            indices,
            indptr,
            data,
            deflate,
            reversed,
            shape_as_dataset,
            encoding,
        },
    )
}

fn dataset<T: hdf5::H5Type>(group: &hdf5::Group, name: &str, values: &[T], deflate: bool) {
    let builder = group.new_dataset_builder();
    let builder = match deflate && !values.is_empty() {
        true => builder.chunk(values.len().min(7)).shuffle().deflate(4),
        false => builder,
    };
    builder.with_data(values).create(name).unwrap();
}

fn whole_numbers(group: &hdf5::Group, name: &str, values: &[i64], kind: IndexType, deflate: bool) {
    match kind {
        IndexType::I32 => dataset(group, name, &to(values, |v| v as i32), deflate),
        IndexType::I64 => dataset(group, name, values, deflate),
        IndexType::U32 => dataset(group, name, &to(values, |v| v as u32), deflate),
        IndexType::U64 => dataset(group, name, &to(values, |v| v as u64), deflate),
        IndexType::U16 => dataset(group, name, &to(values, |v| v as u16), deflate),
    }
}

fn numbers(group: &hdf5::Group, name: &str, values: &[f32], kind: DataType, deflate: bool) {
    match kind {
        DataType::F32 => dataset(group, name, values, deflate),
        DataType::F64 => dataset(group, name, &to(values, f64::from), deflate),
        DataType::I8 => dataset(group, name, &to(values, |v| v as i8), deflate),
        DataType::U8 => dataset(group, name, &to(values, |v| v as u8), deflate),
        DataType::I32 => dataset(group, name, &to(values, |v| v as i32), deflate),
        DataType::I64 => dataset(group, name, &to(values, |v| v as i64), deflate),
        DataType::U64 => dataset(group, name, &to(values, |v| v as u64), deflate),
        DataType::Bool => dataset(group, name, &to(values, |v| v != 0.0), deflate),
    }
}

fn to<A: Copy, B>(values: &[A], convert: impl Fn(A) -> B) -> Vec<B> {
    values.iter().map(|&value| convert(value)).collect()
}

fn write_foreign(path: &Path, rows: &Rows, how: Foreign) {
    let mut stored = rows.clone();
    if how.reversed {
        stored.rows.iter_mut().for_each(|row| row.reverse());
    }
    let file = hdf5::File::create(path).unwrap();
    let group = file.create_group("marginals").unwrap();
    if how.encoding {
        let text: VarLenUnicode = "csr_matrix".parse().unwrap();
        group.new_attr::<VarLenUnicode>().create("encoding-type").unwrap().write_scalar(&text).unwrap();
    }
    let shape = [rows.rows.len() as i64, rows.columns as i64];
    match how.shape_as_dataset {
        true => dataset(&group, "shape", &shape, false),
        false => drop(group.new_attr_builder().with_data(&shape).create("shape").unwrap()),
    }
    let indptr: Vec<i64> = stored.indptr().iter().map(|&at| at as i64).collect();
    whole_numbers(&group, "indptr", &indptr, how.indptr, how.deflate);
    whole_numbers(&group, "indices", &to(&stored.indices(), i64::from), how.indices, how.deflate);
    numbers(&group, "data", &stored.values(), how.data, how.deflate);
}

/// Returns 0 or 1, which every type can hold.
fn zero_or_one() -> impl Strategy<Value = f32> + Clone {
    prop::sample::select(vec![0.0f32, 1.0])
}

fn finite() -> impl Strategy<Value = f32> + Clone {
    prop::num::f32::NORMAL | prop::num::f32::SUBNORMAL | prop::num::f32::ZERO
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..Default::default() })]

    #[test]
    fn what_we_write_we_read(rows in rows(finite()), parts in 1usize..9) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.h5");
        write_ours(&path, &rows).unwrap();
        prop_assert_eq!(read(&path, ValueKind::Finite, parts), rows);
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn every_way_to_store_a_matrix_is_read(rows in rows(zero_or_one()), how in foreign(), parts in 1usize..9) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.h5");
        write_foreign(&path, &rows, how);
        // A stored zero is an entry of a matrix of numbers, but not a label.
        prop_assert_eq!(&read(&path, ValueKind::Finite, parts), &rows);
        prop_assert_eq!(&read(&path, ValueKind::Probabilities { clamp: false }, parts), &rows);
        prop_assert_eq!(read(&path, ValueKind::Labels, parts), rows.without_zeros());
    }

    #[test]
    fn single_and_double_precision_keep_every_bit_of_a_float(rows in rows(finite()), double: bool, reversed: bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.h5");
        let data = if double { DataType::F64 } else { DataType::F32 };
        let (indices, indptr) = (IndexType::I32, IndexType::I64);
        let how = Foreign { indices, indptr, data, deflate: true, reversed, shape_as_dataset: false, encoding: true };
        write_foreign(&path, &rows, how);
        let read = read(&path, ValueKind::Finite, 3);
        prop_assert_eq!(to(&read.values(), f32::to_bits), to(&rows.values(), f32::to_bits));
        prop_assert_eq!(read, rows);
    }

    #[test]
    fn a_dense_matrix_is_read_as_a_sparse_one(rows in rows(zero_or_one()), kind in 0..4, deflate: bool, parts in 1usize..9) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.h5");
        let shape = (rows.rows.len(), rows.columns);
        let mut dense = ndarray::Array2::<f32>::zeros(shape);
        for (at, row) in rows.rows.iter().enumerate() {
            row.iter().for_each(|&(column, value)| dense[[at, column as usize]] = value);
        }
        let file = hdf5::File::create(&path).unwrap();
        let builder = file.new_dataset_builder();
        let builder = if deflate { builder.chunk((2.min(shape.0), 3.min(shape.1))).deflate(1) } else { builder };
        match kind {
            0 => builder.with_data(&dense).create("marginals").unwrap(),
            1 => builder.with_data(&dense.mapv(f64::from)).create("marginals").unwrap(),
            2 => builder.with_data(&dense.mapv(|v| v as i32)).create("marginals").unwrap(),
            _ => builder.with_data(&dense.mapv(|v| v != 0.0)).create("marginals").unwrap(),
        };
        drop(file);
        prop_assert_eq!(read(&path, ValueKind::Finite, parts), rows.without_zeros());
    }

    #[test]
    fn shares_differ_by_less_than_two_rows(lengths in prop::collection::vec(0usize..40, 1..60), parts in 1usize..12) {
        let entries = |length: usize| (0..length as u32).map(|column| (column, 1.0)).collect();
        let rows = Rows { columns: 40, rows: lengths.iter().map(|&length| entries(length)).collect() };
        let shares = shares(&rows, parts);
        let longest = *lengths.iter().max().unwrap() as f64;
        let even = lengths.iter().sum::<usize>() as f64 / parts as f64;
        // The last reader also gets the rows after the last entry.
        for (_, entries) in &shares {
            prop_assert!((*entries as f64 - even).abs() <= longest + 1.0, "{:?} of {}", shares, even);
        }
    }
}

/// Returns the rows and entries of each of `parts` readers.
fn shares(rows: &Rows, parts: usize) -> Vec<(u64, usize)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.h5");
    write_ours(&path, rows).unwrap();
    let matrix = MatrixFile::open(Location { file: path, group: "marginals".into() }).unwrap();
    let indptr = rows.indptr();
    let share = |range: std::ops::Range<u64>| {
        (range.end - range.start, indptr[range.end as usize] - indptr[range.start as usize])
    };
    matrix.balanced_row_ranges(parts).unwrap().into_iter().map(share).collect()
}

#[test]
fn shares_are_balanced_by_entries_not_by_rows() {
    let entries = |length: u32| (0..length).map(|column| (column, 1.0)).collect::<Vec<_>>();
    let rows =
        Rows { columns: 91, rows: (0..1000).map(|row| entries(if row < 900 { 1 } else { 91 })).collect() };
    let shares = shares(&rows, 4);
    let (fewest, most) = (shares.iter().map(|s| s.1).min(), shares.iter().map(|s| s.1).max());
    let ratio = most.unwrap() as f64 / fewest.unwrap() as f64;
    assert!(ratio < 1.1, "{shares:?}");
    assert!(shares[0].0 > 30 * shares[3].0, "the first reader has many short rows: {shares:?}");
}

/// Several threads read a part each, with different numbers of zeros.
#[test]
fn many_labels_are_read_without_their_zeros() {
    let value = |row: u32, column: u32| if (row * 7 + column * column) % 11 < 6 { 1.0 } else { 0.0 };
    let row = |row: u32| (0..row % 29).map(|column| (column, value(row, column))).collect();
    let rows = Rows { columns: 29, rows: (0..60_000).map(row).collect() };
    assert!(rows.values().len() > 3 << 18, "more than a thread reads at a time");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.h5");
    write_ours(&path, &rows).unwrap();
    assert!(read(&path, ValueKind::Labels, 1) == rows.without_zeros());
    assert!(read(&path, ValueKind::Finite, 1) == rows);
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

fn small() -> Rows {
    Rows { columns: 3, rows: vec![vec![(0, 0.5)], vec![(1, 0.25), (2, 1.0)]] }
}

#[test]
fn a_failed_write_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.h5");
    let failed = write_file(&World::alone(), &path, Overwrite::Refuse, &[], |file| {
        file.new_attr::<u64>().create("k")?.write_scalar(&1u64)?;
        Err(hdf5::Error::Internal("the disk is full".into()))
    });
    let message = failed.unwrap_err().to_string();
    assert!(message.contains("m.h5") && message.contains("the disk is full"), "{message}");
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn a_failed_write_onto_a_folder_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.h5");
    std::fs::create_dir(&path).unwrap();
    let world = World::alone();
    assert!(write_file(&world, &path, Overwrite::Replace, &[], |_| Ok(())).is_err());
    assert!(write_text(&path, Overwrite::Replace, "text").is_err());
    assert_eq!(names(folder.path()), ["m.h5"]);
}

#[test]
fn a_file_that_exists_is_kept_unless_it_may_be_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.h5");
    write_ours(&path, &small()).unwrap();
    let before = std::fs::read(&path).unwrap();
    let other = Rows { columns: 9, ..small() };
    assert!(write_ours(&path, &other).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), before);
    write_file(&World::alone(), &path, Overwrite::Replace, &[], |_| Ok(())).unwrap();
    assert_ne!(std::fs::read(&path).unwrap(), before);
    assert_eq!(names(folder.path()), ["m.h5"]);
}

#[test]
fn a_text_file_is_written_atomically() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("facts.json");
    write_text(&path, Overwrite::Refuse, "{}\n").unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n");
    assert!(write_text(&path, Overwrite::Refuse, "other").is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n");
    assert_eq!(names(folder.path()), ["facts.json"]);
}
