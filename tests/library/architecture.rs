//! The modules of `src` keep to the table of allowed dependencies in `docs/architecture.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A row of the table: a module and the modules it may use.
struct Row {
    module: String,
    may_use: BTreeSet<String>,
}

#[test]
fn the_table_lists_every_module_once() {
    let listed: Vec<String> = table().into_iter().map(|row| row.module).collect();
    let once: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), once.len(), "a module has two rows: {listed:?}");
    assert_eq!(once, modules(), "docs/architecture.md (left) and src (right) name different modules");
}

#[test]
fn a_module_may_use_only_modules_above_it_so_there_are_no_cycles() {
    let mut above = BTreeSet::new();
    for row in table() {
        let wrong: Vec<_> = row.may_use.difference(&above).collect();
        assert!(wrong.is_empty(), "`{}` may use {wrong:?}, which its row does not follow", row.module);
        above.insert(row.module);
    }
}

#[test]
fn modules_use_what_the_table_allows_and_nothing_else() {
    let used = used_modules();
    let mut wrong = Vec::new();
    for row in table() {
        let uses = &used[&row.module];
        wrong.extend(
            uses.iter()
                .filter(|(name, _)| !row.may_use.contains(*name))
                .map(|(name, file)| format!("`{}` uses `{name}` in {}", row.module, file.display())),
        );
        wrong.extend(row.may_use.iter().filter(|name| !uses.contains_key(*name)).map(|name| {
            format!("`{}` may use `{name}`, but does not: remove it from the table", row.module)
        }));
    }
    assert!(wrong.is_empty(), "docs/architecture.md does not allow this:\n{}", wrong.join("\n"));
}

#[test]
fn rows_in_memory_know_neither_mpi_nor_hdf5() {
    let used = used_modules();
    for pure in ["shard", "classifier", "measure"] {
        let mut reached = BTreeSet::from([pure.to_owned()]);
        let mut open = vec![pure.to_owned()];
        while let Some(module) = open.pop() {
            for name in used[&module]
                .keys()
                .filter(|name| reached.insert((*name).clone()))
                .cloned()
                .collect::<Vec<_>>()
            {
                open.push(name);
            }
        }
        for module in reached {
            for file in sources(&module) {
                let text = without_comments_and_tests(&read(&file));
                for library in ["mpi::", "hdf5::", "hdf5_metno"] {
                    assert!(
                        !text.contains(library),
                        "{} uses {library}, and `{pure}` depends on it",
                        file.display()
                    );
                }
            }
        }
    }
}

#[test]
fn references_are_found_in_all_their_forms() {
    let text = "
use crate::store::{Matrix, rows};
use crate::{
    world::World, // crate::comment
    shard::{self, code::Code},
    format,
};
fn f() -> crate::error::Error { crate::job::stop() }
#[cfg(test)]
mod tests {
    use crate::synth::Problem;
}
";
    let found = references(&without_comments_and_tests(text));
    let expected = ["error", "format", "job", "shard", "store", "world"].map(str::to_owned);
    assert_eq!(found, BTreeSet::from(expected));
}

/// The rows between the markers of the table in `docs/architecture.md`.
fn table() -> Vec<Row> {
    let page = read(&root().join("docs/architecture.md"));
    let (_, rest) = page.split_once("<!-- allowed dependencies: begin -->").expect("the table begins");
    let (lines, _) = rest.split_once("<!-- allowed dependencies: end -->").expect("the table ends");
    let rows: Vec<Row> = lines
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [module, _, may_use] = cells[..] else { panic!("expected three cells: {line}") };
            let name = |text: &str| text.trim().trim_matches('`').to_owned();
            let may_use = may_use.split(',').map(name).filter(|name| !name.is_empty()).collect();
            Row { module: name(module), may_use }
        })
        .collect();
    assert!(rows.len() > 20, "the table is there");
    rows
}

/// Which other modules each module uses, each with the first file that does.
fn used_modules() -> BTreeMap<String, BTreeMap<String, PathBuf>> {
    let modules = modules();
    modules
        .iter()
        .map(|module| {
            let mut uses = BTreeMap::new();
            for file in sources(module) {
                for name in references(&without_comments_and_tests(&read(&file))) {
                    assert!(
                        modules.contains(&name),
                        "{} names crate::{name}, which is no module",
                        file.display()
                    );
                    if name != *module {
                        uses.entry(name)
                            .or_insert_with(|| file.strip_prefix(root()).expect("below").to_owned());
                    }
                }
            }
            (module.clone(), uses)
        })
        .collect()
}

/// The modules that `src/lib.rs` declares.
fn modules() -> BTreeSet<String> {
    read(&root().join("src/lib.rs"))
        .lines()
        .filter_map(|line| {
            line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned)
        })
        .collect()
}

/// The source files of a module, without files that hold tests only.
fn sources(module: &str) -> Vec<PathBuf> {
    let file = root().join("src").join(module).with_extension("rs");
    let mut found = Vec::new();
    if file.exists() {
        found.push(file);
    }
    collect(&root().join("src").join(module), &mut found);
    assert!(!found.is_empty(), "`{module}` has source files");
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.expect("readable").path()) {
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if stem == "tests" || stem.ends_with("_tests") {
            continue;
        }
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The text up to the module of unit tests at its end, without comments.
fn without_comments_and_tests(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("#[cfg(test)]") && lines.peek().is_some_and(|next| next.ends_with('{')) {
            for line in lines.by_ref() {
                if line == "}" {
                    break;
                }
            }
            continue;
        }
        kept.push_str(line.split("//").next().unwrap_or_default());
        kept.push('\n');
    }
    kept
}

/// The first names of all paths that begin with `crate::`.
fn references(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for rest in text.split("crate::").skip(1) {
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 0;
            let mut at_start = true;
            for (at, letter) in group.char_indices() {
                match letter {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => at_start = true,
                    _ if at_start && !letter.is_whitespace() => {
                        found.insert(identifier(&group[at..]));
                        at_start = false;
                    }
                    _ => {}
                }
            }
        } else {
            found.insert(identifier(rest));
        }
    }
    found.remove("");
    found
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
