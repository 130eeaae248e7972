//! The library from outside. Not one binary with the tests of the program: a program that is started while HDF5 has a file
//! open for writing here would inherit its lock.

mod python_tool_failures;
mod reference;
mod store_round_trip;
