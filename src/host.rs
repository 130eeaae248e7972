//! The name of this host.

use std::path::Path;

/// Returns the name of this node for messages. `root` is `/`, except in tests.
pub fn host_name(root: &Path) -> String {
    let name = std::fs::read_to_string(root.join("proc/sys/kernel/hostname")).unwrap_or_default();
    if name.trim().is_empty() { "(unnamed host)".into() } else { name.trim().into() }
}
