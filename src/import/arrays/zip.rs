//! The members of a zip archive in the variants that NumPy writes: stored or deflated, also zip64.
//!
//! Section numbers refer to PKWARE's APPNOTE 6.3. Every offset in the file is checked.

use std::io::Read;

use flate2::Crc;
use flate2::read::DeflateDecoder;

const END_SIGNATURE: &[u8] = b"PK\x05\x06";
const END_LENGTH: usize = 22;
const LONGEST_COMMENT: usize = u16::MAX as usize;
const ZIP64_MARKER: u64 = u32::MAX as u64;

/// A packed file in the archive.
#[derive(Debug)]
pub(super) struct Member {
    pub name: String,
    encrypted: bool,
    method: u16,
    checksum: u32,
    packed_size: u64,
    size: u64,
    offset: u64,
}

/// Reads the central directory (4.3.12).
pub(super) fn members(bytes: &[u8]) -> Result<Vec<Member>, String> {
    let (count, offset) = find_directory(bytes).ok_or("it has no end record")?;
    let mut rest = bytes_from(bytes, offset).ok_or("its directory is out of range")?;
    let mut members = Vec::new();
    for at in 0..count {
        let (member, after) =
            read_entry(rest).ok_or_else(|| format!("entry {at} of its directory is damaged"))?;
        members.push(member);
        rest = after;
    }
    Ok(members)
}

impl Member {
    /// Unpacks the bytes and checks them against the size and checksum in the directory.
    pub fn unpack(&self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        if self.encrypted {
            return Err("it is encrypted".to_owned());
        }
        let packed = self.packed(bytes).ok_or("its data is out of range")?;
        let mut unpacked = Vec::new();
        // One byte more than promised suffices to detect an excess.
        let limit = self.size.saturating_add(1);
        match self.method {
            0 => packed.take(limit).read_to_end(&mut unpacked),
            8 => DeflateDecoder::new(packed).take(limit).read_to_end(&mut unpacked),
            other => return Err(format!("compression method {other} is not supported")),
        }
        .map_err(|error| error.to_string())?;
        if unpacked.len() as u64 != self.size {
            return Err(format!("its size is not {} bytes", self.size));
        }
        let mut checksum = Crc::new();
        checksum.update(&unpacked);
        if checksum.sum() != self.checksum {
            return Err("its checksum is wrong".to_owned());
        }
        Ok(unpacked)
    }

    /// Returns the data after the local header (4.3.7).
    fn packed<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let local = bytes_from(bytes, self.offset)?;
        local.strip_prefix(b"PK\x03\x04")?;
        let start = 30 + u64::from(u16_at(local, 26)?) + u64::from(u16_at(local, 28)?);
        bytes_from(local, start)?.get(..usize::try_from(self.packed_size).ok()?)
    }
}

/// Returns the number of entries and the offset of the directory (4.3.16; 4.3.14 and 4.3.15 for zip64).
fn find_directory(bytes: &[u8]) -> Option<(u64, u64)> {
    let last = bytes.len().checked_sub(END_LENGTH)?;
    let first = last.saturating_sub(LONGEST_COMMENT);
    let end = (first..=last).rev().find(|&at| {
        bytes[at..].starts_with(END_SIGNATURE)
            && u16_at(bytes, at + 20).is_some_and(|comment| at + END_LENGTH + comment as usize == bytes.len())
    })?;
    let count = u16_at(bytes, end + 10)?;
    let offset = u64::from(u32_at(bytes, end + 16)?);
    if count != u16::MAX && offset != ZIP64_MARKER {
        return Some((u64::from(count), offset));
    }
    let locator = &bytes[end.checked_sub(20)?..];
    locator.strip_prefix(b"PK\x06\x07")?;
    let record = bytes_from(bytes, u64_at(locator, 8)?)?;
    record.strip_prefix(b"PK\x06\x06")?;
    Some((u64_at(record, 32)?, u64_at(record, 48)?))
}

fn read_entry(entry: &[u8]) -> Option<(Member, &[u8])> {
    entry.strip_prefix(b"PK\x01\x02")?;
    let [name, extra, comment] = [u16_at(entry, 28)?, u16_at(entry, 30)?, u16_at(entry, 32)?];
    let name_end = 46 + name as usize;
    let extra_end = name_end + extra as usize;
    let mut member = Member {
        name: String::from_utf8_lossy(entry.get(46..name_end)?).into_owned(),
        encrypted: u16_at(entry, 8)? & 1 == 1,
        method: u16_at(entry, 10)?,
        checksum: u32_at(entry, 16)?,
        packed_size: u32_at(entry, 20)?.into(),
        size: u32_at(entry, 24)?.into(),
        offset: u32_at(entry, 42)?.into(),
    };
    read_zip64(entry.get(name_end..extra_end)?, &mut member)?;
    Some((member, entry.get(extra_end + comment as usize..)?))
}

/// Replaces sizes that do not fit 32 bits by those in the extra field (4.5.3).
fn read_zip64(mut extra: &[u8], member: &mut Member) -> Option<()> {
    while extra.len() >= 4 {
        let (id, length) = (u16_at(extra, 0)?, u16_at(extra, 2)? as usize);
        let body = extra.get(4..4 + length)?;
        extra = &extra[4 + length..];
        if id != 1 {
            continue;
        }
        let mut at = 0;
        for field in [&mut member.size, &mut member.packed_size, &mut member.offset] {
            if *field == ZIP64_MARKER {
                *field = u64_at(body, at)?;
                at += 8;
            }
        }
    }
    Some(())
}

fn bytes_from(bytes: &[u8], from: u64) -> Option<&[u8]> {
    bytes.get(usize::try_from(from).ok()?..)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|&b| u16::from_le_bytes(b))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|&b| u32::from_le_bytes(b))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|&b| u64::from_le_bytes(b))
}
