//! Tests of the library from outside. They are not in one binary with the tests of the program, because a program that is
//! started while HDF5 has a file open for writing would inherit its lock.

#[path = "../common/mod.rs"]
mod common;

mod architecture;
mod python_tool_failures;
mod reference;
mod store_round_trip;
