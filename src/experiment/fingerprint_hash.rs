//! A number for what a result depends on.

use xxhash_rust::xxh3::xxh3_128;

use crate::checkpoint::Fingerprint;

/// The same for the same facts, in hexadecimal digits.
pub(super) fn fingerprint_hash(facts: &Fingerprint) -> String {
    format!("{:032x}", xxh3_128(facts.to_text().as_bytes()))
}
