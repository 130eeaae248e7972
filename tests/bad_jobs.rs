//! Job files that are wrong: one message that names the file, the line and what to write instead, exit status 2, and
//! nothing made.

mod common;

use common::jobs::{SMALL, run, write};
use common::macrok;

/// A change of the small job, and what is said of it.
const CASES: [(&str, &str, &str); 0] = [];

#[test]
fn what_is_wrong_with_a_job_is_said_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    macrok(folder, &["synth", "d.h5", "--labels", "20", "--instances", "50"]).ok();
    for (from, to, says) in CASES {
        assert!(SMALL.contains(from), "{from}");
        write(folder, "job.toml", &SMALL.replacen(from, to, 1));
        let ran = run(folder, "job.toml", &[]);
        println!("{}", ran.stderr);
        assert_eq!(ran.status, Some(2), "{to}\n{ran}");
        assert_eq!(ran.stderr.trim_end(), format!("macrok: error: {says}"), "{to}");
        assert!(!folder.join("out").exists(), "{to}");
    }
}
