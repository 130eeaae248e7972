//! Numbers in text: counts, bytes, seconds.

/// Formats `1186239` as `1,186,239`.
pub fn format_count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count and its noun: `1 rank`, `3 ranks`.
pub fn count_noun(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{} {noun}{}", format_count(count), if count == 1 { "" } else { "s" })
}

/// Formats bytes in the unit that suits them.
pub fn format_bytes(value: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut size = value as f64;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < units.len() {
        size /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{value} B") } else { format!("{size:.1} {}", units[unit]) }
}

/// Formats seconds with the digits that are significant.
pub fn format_seconds(value: f64) -> String {
    match value {
        v if v < 1e-4 => format!("{:.1} µs", v * 1e6),
        v if v < 0.1 => format!("{:.1} ms", v * 1e3),
        v if v < 100.0 => format!("{v:.2} s"),
        v => format!("{v:.0} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_for_people() {
        assert_eq!(format_count(1_186_239), "1,186,239");
        assert_eq!(format_count(12), "12");
        assert_eq!(count_noun(1u64, "step"), "1 step");
        assert_eq!(count_noun(2_000usize, "step"), "2,000 steps");
        assert_eq!(format_bytes(512), "512 B");
        assert_eq!(format_bytes(3 << 29), "1.5 GiB");
        assert_eq!(format_seconds(0.0123), "12.3 ms");
        assert_eq!(format_seconds(1.26e-6), "1.3 µs");
    }
}
