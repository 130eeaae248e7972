//! The file of one snapshot: the parts, their index, and the position of the index. Reading starts at the end, so a truncated
//! file is recognised.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::error::Damage;
use super::{Fingerprint, Snapshot, SnapshotPart};

/// The line end changes if a copy treats the file as text.
const MAGIC: &[u8; 16] = b"macrok saved 1\r\n";
const END_MARK: &[u8; 8] = b"complete";
/// Size of the index's length and checksum and the end mark.
const TRAILER: u64 = 8 + 4 + END_MARK.len() as u64;

/// The contents of the file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Index {
    #[serde(rename = "facts")]
    pub fingerprint: Fingerprint,
    lasting: Vec<PartRecord>,
    fresh: PartRecord,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PartRecord {
    bytes: u64,
    checksum: u32,
}

/// A lasting part and its place in a file.
struct WrittenPart {
    part: Arc<dyn SnapshotPart>,
    place: PartRecord,
    end: u64,
}

/// The parts in a file that this process wrote, which need not be written again.
#[derive(Default)]
pub(super) struct WrittenParts(Vec<WrittenPart>);

impl WrittenParts {
    /// Writes `snapshot` to `file`, which has these parts, keeping the parts that both start with. Returns the bytes written.
    pub fn update(
        &mut self,
        file: &mut File,
        fingerprint: &Fingerprint,
        snapshot: &Snapshot,
    ) -> io::Result<u64> {
        let same =
            |(written, part): &(&WrittenPart, &Arc<dyn SnapshotPart>)| Arc::ptr_eq(&written.part, part);
        let kept = self.0.iter().zip(&snapshot.lasting).take_while(same).count();
        self.0.truncate(kept);
        let mut end = self.0.last().map_or(0, |written| written.end);
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        let mut bytes = 0;
        if end == 0 {
            file.write_all(MAGIC)?;
            end = MAGIC.len() as u64;
            bytes = end;
        }
        for part in &snapshot.lasting[kept..] {
            let place = write_part(file, &part.pieces())?;
            end += place.bytes;
            bytes += place.bytes;
            self.0.push(WrittenPart { part: Arc::clone(part), place, end });
        }
        let fresh = write_part(file, &[&snapshot.fresh])?;
        let lasting = self.0.iter().map(|written| written.place).collect();
        let index = serde_json::to_vec(&Index { fingerprint: fingerprint.clone(), lasting, fresh })?;
        let place = write_part(file, &[&index])?;
        let mut trailer = Vec::with_capacity(TRAILER as usize);
        trailer.extend(place.bytes.to_le_bytes());
        trailer.extend(place.checksum.to_le_bytes());
        trailer.extend(END_MARK);
        file.write_all(&trailer)?;
        Ok(bytes + fresh.bytes + place.bytes + TRAILER)
    }
}

fn write_part(file: &mut File, pieces: &[&[u8]]) -> io::Result<PartRecord> {
    let mut checksum = crc32fast::Hasher::new();
    let mut bytes = 0;
    for piece in pieces {
        checksum.update(piece);
        file.write_all(piece)?;
        bytes += piece.len() as u64;
    }
    Ok(PartRecord { bytes, checksum: checksum.finalize() })
}

/// Reads the index of a file.
pub(super) fn read_index(path: &Path) -> Result<(Index, File), Damage> {
    let mut file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Damage::Missing,
        _ => Damage::Unreadable(error),
    })?;
    let length = file.metadata().map_err(Damage::Unreadable)?.len();
    let short = || Damage::Truncated { bytes: length };
    let begin = MAGIC.len() as u64;
    if length < begin + TRAILER {
        return Err(short());
    }
    let mut first = [0; MAGIC.len()];
    file.read_exact(&mut first).map_err(Damage::Unreadable)?;
    if first != *MAGIC {
        return Err(Damage::NotACheckpoint);
    }
    let trailer = read_at(&mut file, length - TRAILER, TRAILER)?;
    let (numbers, end) = trailer.split_at(12);
    let (bytes, checksum) = numbers.split_at(8);
    let bytes = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    let checksum = u32::from_le_bytes(checksum.try_into().unwrap_or_default());
    if end != END_MARK {
        return Err(short());
    }
    let wrong = Damage::Checksum { what: "its index" };
    let Some(start) = (length - TRAILER).checked_sub(bytes).filter(|&start| start >= begin) else {
        return Err(wrong);
    };
    let text = read_at(&mut file, start, bytes)?;
    if crc32fast::hash(&text) != checksum {
        return Err(wrong);
    }
    let index: Index = serde_json::from_slice(&text).map_err(|_| Damage::NotACheckpoint)?;
    let parts = index.lasting.iter().chain([&index.fresh]);
    if parts.fold(begin, |sum, place| sum.saturating_add(place.bytes)) != start {
        return Err(short());
    }
    file.seek(SeekFrom::Start(begin)).map_err(Damage::Unreadable)?;
    Ok((index, file))
}

/// Reads the lasting parts and the fresh part of a file whose index has just been read.
pub(super) fn read_parts(index: &Index, file: &mut File) -> Result<(Vec<Vec<u8>>, Vec<u8>), Damage> {
    let mut read = |place: &PartRecord| {
        let part = read_bytes(file, place.bytes)?;
        if crc32fast::hash(&part) != place.checksum {
            return Err(Damage::Checksum { what: "a part" });
        }
        Ok(part)
    };
    let lasting = index.lasting.iter().map(&mut read).collect::<Result<_, _>>()?;
    Ok((lasting, read(&index.fresh)?))
}

fn read_at(file: &mut File, start: u64, bytes: u64) -> Result<Vec<u8>, Damage> {
    file.seek(SeekFrom::Start(start)).map_err(Damage::Unreadable)?;
    read_bytes(file, bytes)
}

/// Reads `bytes` bytes. Callers check them against the file's length, so that damage cannot request all memory.
fn read_bytes(file: &mut File, bytes: u64) -> Result<Vec<u8>, Damage> {
    let mut part = vec![0; bytes as usize];
    file.read_exact(&mut part).map_err(Damage::Unreadable)?;
    Ok(part)
}
