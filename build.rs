//! Finds out what the HDF5 library at hand can do.

#![allow(clippy::print_stdout, reason = "that is how a build script talks to cargo")]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(hdf5_file_locking)");
    // `H5Pset_file_locking` came with 1.10.7 and again with 1.12.1; the binding has it under the same conditions.
    let at_least = |version: &str| env::var_os(format!("DEP_HDF5_VERSION_{version}")).is_some();
    if (at_least("1_10_7") && !at_least("1_12_0")) || at_least("1_12_1") {
        println!("cargo::rustc-cfg=hdf5_file_locking");
    }
}
