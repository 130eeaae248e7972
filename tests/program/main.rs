//! The program from outside, as one test binary: linked once, and all tests share the machine's cores.
//!
//! A file beside this one is a module here: `cargo test --test program ranks::` runs those of `ranks.rs`.

#[path = "../common/mod.rs"]
mod common;

mod bad_input;
mod bad_jobs;
mod checkpoint;
mod commands_agree;
mod doctor;
mod help;
mod launchers;
mod locks;
mod many_labels;
mod memory;
mod paper;
mod ranks;
mod run;
mod run_stopped;
mod signals;
mod slurm;
mod stall;

#[test]
fn every_file_of_this_folder_is_a_module_here() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program");
    for name in common::names(&folder) {
        let module = name.trim_end_matches(".rs");
        let listed = include_str!("main.rs").lines().any(|line| line == format!("mod {module};"));
        assert!(listed || module == "main", "tests/program/{name} is never run: add `mod {module};` to main.rs");
    }
}
