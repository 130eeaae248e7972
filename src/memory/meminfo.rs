//! The memory of the node.

use std::path::Path;

use super::{Room, Source};
use crate::machine::field;

/// What the kernel says can be taken without swapping: free memory and the caches it would give up.
pub(super) fn room(root: &Path) -> Option<Room> {
    let text = std::fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let available = field(&text, "MemAvailable")?;
    let total = field(&text, "MemTotal").unwrap_or(available);
    Some(Room { bytes: available, limit: total, source: Source::Node })
}
