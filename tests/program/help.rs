//! Help, completions, manual pages, and output on terminals and pipes. Every example of the help runs.

use std::path::Path;
use std::process::Command;

use crate::common::{
    launcher, limited, macrok, macrok_with, missing, names, open_mpi_variables, output, program, run, text,
};

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

/// In one folder, as a reader of all the help texts would run them: they must not need each other's file names.
#[test]
fn examples_of_all_commands_run_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let mut texts = vec![help(&["--help"])];
    texts.extend(commands().iter().map(|command| help(&[command, "--help"])));
    for text in texts {
        let examples = examples(&text);
        assert!(!examples.is_empty(), "no example in\n{text}");
        for example in examples.iter().filter(|example| can_run(example)) {
            run_example(folder.path(), example);
        }
    }
}

#[test]
fn short_help_is_shorter_and_fits_a_page() {
    for command in commands() {
        let (short, long) = (help(&[&command, "-h"]), help(&[&command, "--help"]));
        assert!(short.lines().count() < long.lines().count(), "{command}\n{short}");
        assert!(short.lines().count() <= 50, "{command}\n{short}");
        assert!(long.lines().count() <= 110, "{command}\n{long}");
        assert_eq!(help(&["help", &command]), long);
    }
}

#[test]
fn options_are_named_alike_in_all_commands() {
    for command in commands() {
        let text = help(&[&command, "--help"]);
        assert!(text.contains("-q, --quiet"), "{text}");
        assert!(!text.contains("--out <") || text.contains("-o, --out"), "{text}");
        assert!(!text.contains("  -k <K>") || text.contains("[alias: --k]"), "{text}");
    }
}

#[test]
fn completions_are_valid_for_bash() {
    let folder = tempfile::tempdir().unwrap();
    let script = macrok(folder.path(), &["completions", "bash"]).ok().stdout;
    assert!(script.contains("--marginals") && script.contains("power-law"), "{script}");
    std::fs::write(folder.path().join("macrok.bash"), script).unwrap();
    let mut command = limited(20);
    command.args(["bash", "-n", "macrok.bash"]).current_dir(folder.path());
    run(command).ok();
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        let script = macrok(folder.path(), &["completions", shell]).ok().stdout;
        assert!(script.contains("marginals"), "{shell}: {script}");
    }
}

#[test]
fn manual_pages_are_complete() {
    let folder = tempfile::tempdir().unwrap();
    macrok(folder.path(), &["man", "-o", "man1"]).ok();
    assert_eq!(names(&folder.path().join("man1")).len(), commands().len() + 1);
    for name in names(&folder.path().join("man1")) {
        let page = std::fs::read_to_string(folder.path().join("man1").join(&name)).unwrap();
        let lines: Vec<&str> = page.lines().collect();
        let sections = lines.iter().enumerate().filter(|(_, line)| line.starts_with(".SH "));
        for (at, section) in sections {
            let next = lines.get(at + 1).unwrap_or(&".SH");
            assert!(!next.starts_with(".SH"), "{name}: {section} is empty");
        }
        assert!(page.contains(".SH SYNOPSIS") && page.contains("macrok"), "{name}");
        let mut command = limited(20);
        command.args(["sh", "-c", "command -v groff > /dev/null || exit 0; groff -man -Tascii -ww -z $0"]);
        command.arg(&name).current_dir(folder.path().join("man1"));
        let ran = run(command).ok();
        assert!(!ran.stderr.contains("error"), "{ran}");
    }
    assert!(macrok(folder.path(), &["man"]).ok().stdout.starts_with(".ie"));
    assert_eq!(macrok(folder.path(), &["man", "-o", "man1"]).status, Some(2), "existing pages are kept");
}

#[test]
fn quiet_prints_only_what_was_requested() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert_eq!(macrok(folder, &["synth", "-q", "-o", "d.h5"]).ok().stdout, "");
    let fit = "fit -q --marginals d.h5 --labels d.h5 --k 3 -o clf.h5 --max-iters 2 --json -";
    let ran = macrok(folder, &fit.split(' ').collect::<Vec<_>>()).ok();
    assert!(ran.stdout.starts_with('{') && ran.stderr.is_empty(), "{ran}");
    let evaluate = "evaluate -q clf.h5 --marginals d.h5 --labels d.h5";
    let ran = macrok(folder, &evaluate.split(' ').collect::<Vec<_>>()).ok();
    assert_eq!(format!("{}{}", ran.stdout, ran.stderr), "");
    let failed = macrok(folder, &["inspect", "-q", "none.h5"]);
    assert!(failed.status == Some(2) && failed.errors().len() == 1, "{failed}");
    assert!(macrok(folder, &["run", "-q", "--skeleton"]).ok().stdout.contains("[fit]"));
}

/// Runs a command on a pseudo-terminal and returns its output; `None`, after a notice, without `script`.
fn on_terminal(folder: &Path, line: &str, variables: &[(&str, &str)]) -> Option<String> {
    let mut command = limited(60);
    command.args(["script", "-qec", &format!("{} {line}", text(program())), "/dev/null"]);
    command.current_dir(folder).env("TERM", "xterm").env_remove("NO_COLOR").envs(variables.iter().copied());
    if output(Command::new("script").arg("--version")).is_err() {
        missing("the program `script`, for a pseudo-terminal");
        return None;
    }
    Some(run(command).ok().stdout)
}

#[test]
fn only_terminals_get_colours_and_bars() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    macrok(folder, &["synth", "d.h5", "--instances", "200"]).ok();
    let fit = "fit --marginals d.h5 --labels d.h5 -k 3 --out clf.h5 --force --max-iters 3";
    let piped = macrok_with(folder, &fit.split(' ').collect::<Vec<_>>(), &[("TERM", "xterm")]).ok();
    assert!(!format!("{}{}", piped.stdout, piped.stderr).contains('\x1b'), "{piped}");
    let Some(shown) = on_terminal(folder, fit, &[]) else { return };
    assert!(shown.contains("\x1b[1m") && shown.contains("fitting"), "{shown:?}");
    let plain = on_terminal(folder, fit, &[("TERM", "dumb")]).unwrap_or_default();
    assert!(plain.contains("wrote clf.h5") && !plain.contains('\x1b'), "{plain:?}");
    let without_colour = on_terminal(folder, fit, &[("NO_COLOR", "1")]).unwrap_or_default();
    assert!(!without_colour.contains("\x1b[1m") && without_colour.contains("fitting"), "{without_colour:?}");
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
