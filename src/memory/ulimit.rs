//! The limits that a shell's `ulimit` sets for each process.

use std::path::Path;

use super::{LimitSource, MemoryLimit};
use crate::machine::proc_field;

/// The limits an allocation can meet: the name in `limits`, the use in `status`, the option of `ulimit`.
const LIMITS: [(&str, &str, char); 2] =
    [("Max address space", "VmSize", 'v'), ("Max data size", "VmData", 'd')];

/// What the tighter of the limits leaves to this process; none where both are unlimited.
pub(super) fn limit(root: &Path) -> Option<MemoryLimit> {
    let read = |file: &str| std::fs::read_to_string(root.join("proc/self").join(file));
    let limits = read("limits").ok()?;
    let status = read("status").unwrap_or_default();
    let set_limits = LIMITS.iter().filter_map(|&(limit, used, option)| {
        // The first number of the line is the soft limit, which is the one that holds.
        Some(MemoryLimit::new(
            proc_field(&limits, limit)?,
            proc_field(&status, used),
            LimitSource::Process { option },
        ))
    });
    set_limits.min_by_key(|limit| limit.available)
}
