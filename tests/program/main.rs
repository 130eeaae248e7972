//! Tests of the program, in one binary, so that they are linked once and share the cores of the machine.
//!
//! Every file next to this one is a module here: `cargo test --test program ranks::` runs the tests in `ranks.rs`.

#[path = "../common/mod.rs"]
mod common;

mod bad_input;
mod bad_jobs;
mod calibration;
mod checkpoint;
mod commands_agree;
mod data_sets;
mod doctor;
mod failures;
mod help;
mod launchers;
mod locks;
mod many_labels;
mod memory;
mod network;
mod paper;
mod ranks;
mod run;
mod run_stopped;
mod signals;
mod slurm;
mod split;
mod stall;
mod train;

#[test]
fn every_test_file_is_a_module() {
    for folder in ["program", "library"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
        let main = std::fs::read_to_string(path.join("main.rs")).unwrap();
        for name in common::names(&path).iter().filter(|name| *name != "main.rs") {
            let module = format!("mod {};", name.trim_end_matches(".rs"));
            let listed = main.lines().any(|line| line == module);
            assert!(listed, "tests/{folder}/{name} is never run: add `{module}` to main.rs there");
        }
    }
}
