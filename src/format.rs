//! Numbers for people: counts, bytes, seconds.

/// `1186239` as `1,186,239`.
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

/// A number of things: `1 rank`, `3 ranks`.
pub fn count_noun(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", format_count(count as u64), if count == 1 { "" } else { "s" })
}

/// Bytes in the unit that suits them.
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

/// Seconds with as many digits as mean something.
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
    fn numbers_read_well() {
        assert_eq!(format_count(1_186_239), "1,186,239");
        assert_eq!(format_count(12), "12");
        assert_eq!(format_bytes(512), "512 B");
        assert_eq!(format_bytes(3 << 29), "1.5 GiB");
        assert_eq!(format_seconds(0.0123), "12.3 ms");
        assert_eq!(format_seconds(1.26e-6), "1.3 µs");
    }
}
