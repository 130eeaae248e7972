//! Hashes of files, which depend on the content only.
//!
//! All threads read pieces of the file, and all ranks if they see it; the hash does not depend on their numbers.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use crate::error::Result;
use crate::store::StoreError;
use crate::world::World;

/// Bytes read at a time by one thread.
const PIECE: u64 = 4 << 20;

/// Returns the hash of a file that all ranks can read, on every rank. Collective.
pub(super) fn hash_file(world: &World, path: &Path, bytes: u64) -> Result<String> {
    let pieces = bytes.div_ceil(PIECE);
    let start = |rank: usize| (u128::from(pieces) * rank as u128 / world.size() as u128) as u64;
    let mine = world.agree(hash_pieces(path, bytes, start(world.rank())..start(world.rank() + 1)))?;
    let mut all: Vec<u64> = world.gather(&mine).unwrap_or_default().into_iter().flatten().collect();
    world.broadcast(&mut all);
    Ok(combine(bytes, &all))
}

/// Returns the hash of a file, read by this process alone.
pub(super) fn hash_file_alone(path: &Path, bytes: u64) -> Result<String> {
    Ok(combine(bytes, &hash_pieces(path, bytes, 0..bytes.div_ceil(PIECE))?))
}

/// Returns the hashes of pieces, two numbers for each.
fn hash_pieces(path: &Path, bytes: u64, pieces: std::ops::Range<u64>) -> Result<Vec<u64>> {
    let io = |source| StoreError::Io { file: path.into(), action: "read it", source };
    let file = File::open(path).map_err(io)?;
    let hash = |buffer: &mut Vec<u8>, piece: u64| {
        let at = piece * PIECE;
        buffer.resize((bytes - at).min(PIECE) as usize, 0);
        file.read_exact_at(buffer, at).map_err(io)?;
        let hash = xxh3_128(buffer);
        Ok([(hash >> 64) as u64, hash as u64])
    };
    let hashes: Result<Vec<[u64; 2]>> = pieces.into_par_iter().map_init(Vec::new, hash).collect();
    Ok(hashes?.into_iter().flatten().collect())
}

fn combine(bytes: u64, pieces: &[u64]) -> String {
    let all: Vec<u8> = std::iter::once(&bytes).chain(pieces).flat_map(|half| half.to_le_bytes()).collect();
    format!("{:032x}", xxh3_128(&all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(bytes: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, bytes).unwrap();
        hash_file_alone(&path, bytes.len() as u64).unwrap()
    }

    #[test]
    fn the_hash_depends_on_every_byte() {
        let bytes = vec![7u8; 2 * PIECE as usize + 5];
        let whole = hash(&bytes);
        assert_eq!(whole, hash(&bytes));
        for at in [0, PIECE as usize - 1, PIECE as usize, bytes.len() - 1] {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert_ne!(hash(&changed), whole, "byte {at}");
        }
        assert_ne!(hash(&bytes[..bytes.len() - 1]), whole);
        assert_ne!(hash(&[]), hash(&[0]));
    }

    #[test]
    fn fails_for_a_file_shorter_than_expected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [1, 2, 3]).unwrap();
        assert!(hash_file_alone(&path, 4).unwrap_err().to_string().contains("cannot read it"));
    }
}
