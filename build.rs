//! Detects features of the installed HDF5 library.

#![allow(clippy::print_stdout, reason = "cargo reads the output of a build script")]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(hdf5_file_locking)");
    // `H5Pset_file_locking` exists since 1.10.7 and, in the 1.12 series, since 1.12.1; the binding has the same conditions.
    let at_least = |version: &str| env::var_os(format!("DEP_HDF5_VERSION_{version}")).is_some();
    if (at_least("1_10_7") && !at_least("1_12_0")) || at_least("1_12_1") {
        println!("cargo::rustc-cfg=hdf5_file_locking");
    }
}
