//! Every example of the help runs.

use std::path::Path;

use crate::common::{launcher, limited, macrok, open_mpi_variables, program, run, text};

/// Files in examples that only users have.
const BROUGHT: [&str; 3] = ["emotions.arff", "Y.npz", "P.npz"];

fn help(args: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    macrok(folder.path(), args).ok().stdout
}

/// Returns the commands that the help lists, so that new ones are tested too.
fn commands() -> Vec<String> {
    let text = help(&["--help"]);
    let listed = text.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let lines = listed.take_while(|line| line.starts_with("  ")).filter(|line| !line.starts_with("   "));
    let names = lines.filter_map(|line| line.split_whitespace().next()).filter(|&name| name != "help");
    names.map(str::to_owned).collect()
}

/// Returns the example commands in a help text; a backslash at the end of a line continues it.
fn examples(help: &str) -> Vec<String> {
    let mut lines = help.lines();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        let starts = ["  macrok ", "  mpirun ", "  printf "];
        if !starts.iter().any(|start| line.starts_with(start)) {
            continue;
        }
        let mut command = line.trim().to_owned();
        while let Some(more) = command.strip_suffix('\\') {
            command = format!("{}{}", more, lines.next().unwrap_or_default().trim());
        }
        found.push(command);
    }
    found
}

fn can_run(example: &str) -> bool {
    !BROUGHT.iter().any(|file| example.contains(file))
        && (!example.starts_with("mpirun") || launcher().is_some())
}

fn run_example(folder: &Path, example: &str) {
    let mut path = vec![program().parent().unwrap().to_path_buf()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let mut command = limited(60);
    command.args(["sh", "-c", example]).current_dir(folder).envs(open_mpi_variables());
    command.env("PATH", std::env::join_paths(path).unwrap());
    run(command).ok();
}

fn run_examples(help: &str) {
    let folder = tempfile::tempdir().unwrap();
    let examples = examples(help);
    assert!(!examples.is_empty(), "no example in\n{help}");
    for example in examples.iter().filter(|example| can_run(example)) {
        run_example(folder.path(), example);
    }
}

#[test]
fn the_examples_of_the_program_run() {
    run_examples(&help(&["--help"]));
}

#[test]
fn the_examples_of_every_command_run() {
    for command in commands() {
        let text = help(&[&command, "--help"]);
        assert!(text.contains("Example"), "{command} shows no example:\n{text}");
        run_examples(&text);
    }
}

#[test]
fn the_commands_are_listed() {
    let commands = commands();
    for known in ["synth", "import", "inspect", "fit", "baseline", "predict", "evaluate", "run"] {
        assert!(commands.iter().any(|command| command == known), "{known} is not among {commands:?}");
    }
}

#[test]
fn examples_are_found_and_joined() {
    let text =
        "Example:\n  macrok fit --out a \\\n    --metric 'x y'\nprose\n  printf '1' > a.txt\n  import h5py\n";
    assert_eq!(examples(text), ["macrok fit --out a --metric 'x y'", "printf '1' > a.txt"]);
}

#[test]
fn metric_help_lists_the_metrics() {
    let text = help(&["fit", "--metric", "help"]);
    let names = "accuracy precision recall f1 fbeta(2) jaccard balanced-accuracy gmean hmean auc";
    let wanted = ["macro-f1", "micro-", "instance-precision", "coverage", "gmean-labels", "min-labels", "tp"];
    for name in names.split(' ').map(|name| name.trim_end_matches("(2)")).chain(wanted) {
        assert!(text.contains(name), "{name} is missing in\n{text}");
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    assert_eq!(help(&["--version"]).trim(), format!("macrok {}", env!("CARGO_PKG_VERSION")));
    assert!(text(program()).contains("macrok"));
}
