//! The memory of the node.

use std::path::Path;

use super::{LimitSource, MemoryLimit};
use crate::machine::proc_field;

/// What the kernel says can be taken without swapping: free memory and the caches it would give up.
pub(super) fn limit(root: &Path) -> Option<MemoryLimit> {
    let text = std::fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let available = proc_field(&text, "MemAvailable")?;
    let total = proc_field(&text, "MemTotal").unwrap_or(available);
    Some(MemoryLimit { available, total, source: LimitSource::Node })
}
