use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::background_writer::CheckpointWriter;
use super::load_newest::{is_resumable, load};
use super::snapshot_files::Checkpoint;
use super::*;

fn fingerprint() -> Fingerprint {
    Fingerprint::default().with("k", 3)
}

fn part(text: &str) -> Arc<dyn SnapshotPart> {
    Arc::new(text.as_bytes().to_vec())
}

fn snapshot(lasting: &[&Arc<dyn SnapshotPart>], fresh: &str) -> Snapshot {
    Snapshot { lasting: lasting.iter().map(|&part| Arc::clone(part)).collect(), fresh: fresh.into() }
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("work.checkpoint");
    (folder, file)
}

/// Returns the parts of the newest intact snapshot as text, and whether it is the one before the newest.
fn found(file: &Path) -> (Vec<String>, String, bool) {
    let found = load(file, &fingerprint()).unwrap().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let SavedParts { lasting, fresh, .. } = found.parts;
    (lasting.into_iter().map(text).collect(), text(fresh), found.newest_damage.is_some())
}

fn names(folder: &tempfile::TempDir) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Saves two snapshots, the second with one part more.
fn saved(file: &Path) -> Checkpoint {
    let (one, two) = (part("one"), part("two"));
    let mut checkpoint = Checkpoint::begin(file, fingerprint());
    checkpoint.save(&snapshot(&[&one], "first")).unwrap();
    checkpoint.save(&snapshot(&[&one, &two], "second")).unwrap();
    checkpoint
}

#[test]
fn finds_the_newest_and_keeps_the_one_before() {
    let (folder, file) = folder();
    saved(&file);
    assert_eq!(found(&file), (vec!["one".into(), "two".into()], "second".into(), false));
    assert_eq!(names(&folder), ["work.checkpoint", "work.checkpoint.previous"]);
    fs::rename(file.with_extension("checkpoint.previous"), &file).unwrap();
    assert_eq!(found(&file), (vec!["one".into()], "first".into(), false));
}

#[test]
fn finds_nothing_without_files() {
    let (_folder, file) = folder();
    assert!(load(&file, &fingerprint()).unwrap().is_none());
    assert!(!is_resumable(&file, &fingerprint()).unwrap());
}

/// Consecutive snapshots have parts in common in all ways that two files can.
#[test]
fn saves_every_snapshot_whatever_the_files_contain() {
    let (folder, file) = folder();
    let parts: Vec<Arc<dyn SnapshotPart>> =
        (0..6).map(|number| part(&format!("part {number} {}", "x".repeat(number * 7)))).collect();
    let mut checkpoint = Checkpoint::begin(&file, fingerprint());
    let lists: [&[usize]; 10] =
        [&[], &[0], &[0, 1], &[0, 1, 2], &[0, 1, 2, 3], &[3], &[3, 4], &[1, 4], &[], &[0, 1, 2, 3, 4, 5]];
    for (at, list) in lists.iter().enumerate() {
        let fresh = format!("state {at} {}", "y".repeat(100 - at * 9));
        let chosen: Vec<&Arc<dyn SnapshotPart>> = list.iter().map(|&part| &parts[part]).collect();
        checkpoint.save(&snapshot(&chosen, &fresh)).unwrap();
        let wanted: Vec<String> =
            list.iter().map(|&number| format!("part {number} {}", "x".repeat(number * 7))).collect();
        assert_eq!(found(&file), (wanted, fresh, false), "snapshot {at}");
    }
    checkpoint.remove().unwrap();
    assert!(names(&folder).is_empty());
}

#[test]
fn does_not_write_parts_again() {
    let (_folder, file) = folder();
    let large: Arc<dyn SnapshotPart> = Arc::new(vec![7u8; 1 << 20]);
    let mut checkpoint = Checkpoint::begin(&file, fingerprint());
    let bytes: Vec<u64> = (0..4).map(|_| checkpoint.save(&snapshot(&[&large], "state")).unwrap()).collect();
    assert!(bytes[0] > 1 << 20 && bytes[1] > 1 << 20, "{bytes:?}");
    assert!(bytes[2] < 1000 && bytes[3] < 1000, "{bytes:?}");
}

#[test]
fn a_truncated_newest_gives_way_to_the_one_before() {
    let (_folder, file) = folder();
    saved(&file);
    let whole = fs::read(&file).unwrap();
    for length in 0..whole.len() {
        fs::write(&file, &whole[..length]).unwrap();
        assert_eq!(found(&file).1, "first", "cut at {length}");
    }
}

#[test]
fn a_newest_with_any_bit_flipped_gives_way_to_the_one_before() {
    let (_folder, file) = folder();
    saved(&file);
    let whole = fs::read(&file).unwrap();
    for bit in 0..whole.len() * 8 {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        fs::write(&file, damaged).unwrap();
        assert_eq!(found(&file).1, "first", "bit {bit}");
    }
}

#[test]
fn names_the_damage_of_both_files() {
    let (_folder, file) = folder();
    saved(&file);
    fs::write(&file, "").unwrap();
    fs::write(file.with_extension("checkpoint.previous"), "not a checkpoint, but long enough to be one")
        .unwrap();
    let error = load(&file, &fingerprint()).err().unwrap().to_string();
    assert!(error.contains("work.checkpoint: is damaged: it is truncated at 0 bytes"), "{error}");
    assert!(error.contains("work.checkpoint.previous: not a macrok checkpoint"), "{error}");
    assert!(error.contains("delete them to start from the beginning"), "{error}");
}

#[test]
fn a_damaged_newest_does_not_replace_the_one_before() {
    let (_folder, file) = folder();
    saved(&file);
    fs::write(&file, "").unwrap();
    let mut found_before = load(&file, &fingerprint()).unwrap().unwrap();
    found_before.checkpoint.save(&snapshot(&[], "third")).unwrap();
    assert_eq!(found(&file).1, "third");
    fs::write(&file, "").unwrap();
    assert_eq!(found(&file).1, "first");
}

#[test]
fn refuses_the_checkpoint_of_another_computation_with_the_difference() {
    let (_folder, file) = folder();
    saved(&file);
    let other = Fingerprint::default().with("k", 5);
    for error in [load(&file, &other).err().unwrap(), is_resumable(&file, &other).unwrap_err()] {
        let text = error.to_string();
        assert!(text.contains("work.checkpoint: was made with k = 3, but this run has k = 5"), "{text}");
    }
    assert!(is_resumable(&file, &fingerprint()).unwrap());
}

#[test]
fn a_new_checkpoint_replaces_another_at_its_first_save() {
    let (folder, file) = folder();
    saved(&file);
    let mut checkpoint = Checkpoint::begin(&file, fingerprint());
    assert_eq!(found(&file).1, "second", "not before the first save");
    checkpoint.save(&snapshot(&[], "new")).unwrap();
    assert_eq!(found(&file).1, "new");
    assert_eq!(names(&folder), ["work.checkpoint"]);
}

/// Files stay intact if two jobs have the same checkpoint by mistake, or if a user deletes files.
#[test]
fn does_not_rely_on_files_that_others_have_changed() {
    let (_folder, file) = folder();
    let parts = [part("one"), part("two"), part("three")];
    let (mut mine, mut theirs) =
        (Checkpoint::begin(&file, fingerprint()), Checkpoint::begin(&file, fingerprint()));
    for round in 0..6 {
        mine.save(&snapshot(&[&parts[0], &parts[1]], &format!("mine {round}"))).unwrap();
        assert_eq!(found(&file).1, format!("mine {round}"));
        if round % 2 == 1 {
            theirs.save(&snapshot(&[&parts[2]], &format!("theirs {round}"))).unwrap();
            assert_eq!(found(&file).1, format!("theirs {round}"));
        }
        if round == 3 {
            fs::remove_file(&file).unwrap();
        }
    }
}

#[test]
fn the_writer_saves_the_last_snapshot() {
    let (folder, file) = folder();
    let writer = CheckpointWriter::new(Checkpoint::begin(&file, fingerprint())).unwrap();
    for number in 0..50 {
        let mut space = writer.recycled_buffer();
        assert!(space.is_empty());
        space.extend(format!("state {number}").bytes());
        writer.offer(number, Snapshot { lasting: Vec::new(), fresh: space });
    }
    let report = writer.flush();
    assert_eq!(report.newest, Some(49));
    assert!(report.failure.is_none() && (1..=50).contains(&report.written), "{report:?}");
    assert_eq!(found(&file).1, "state 49");
    writer.remove().unwrap();
    assert!(names(&folder).is_empty());
}

#[test]
fn a_dropped_writer_has_saved_its_snapshot() {
    let (_folder, file) = folder();
    let writer = CheckpointWriter::new(Checkpoint::begin(&file, fingerprint())).unwrap();
    writer.offer(0, snapshot(&[], "last words"));
    drop(writer);
    assert_eq!(found(&file).1, "last words");
}

#[test]
fn a_writer_reports_the_error_of_writing() {
    let (folder, file) = folder();
    let file = file.join("no such folder");
    let writer = CheckpointWriter::new(Checkpoint::begin(&file, fingerprint())).unwrap();
    writer.offer(0, snapshot(&[], "state"));
    let report = writer.flush();
    assert_eq!(report.newest, None);
    assert!(report.failure.unwrap().contains("No such file or directory"));
    assert!(names(&folder).is_empty());
}
