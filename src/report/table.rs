//! Plain tables that read well in a terminal and in a Slurm log.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// A table without lines.
pub struct Table {
    aligns: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Columns with their alignment.
    pub fn new(columns: &[(&str, Align)]) -> Table {
        let header = columns.iter().map(|column| column.0.to_owned()).collect();
        Table { aligns: columns.iter().map(|column| column.1).collect(), rows: vec![header] }
    }

    pub fn row<T: ToString>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(|cell| cell.to_string()).collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.aligns.len()).map(width).collect();
        let lines: Vec<String> = self
            .rows
            .iter()
            .map(|row| {
                let cells =
                    row.iter().zip(&widths).zip(&self.aligns).map(|((cell, &width), align)| match align {
                        Align::Left => format!("{cell:<width$}"),
                        Align::Right => format!("{cell:>width$}"),
                    });
                cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
            })
            .collect();
        write!(f, "{}", lines.join("\n"))
    }
}

/// `1186239` as `1,186,239`.
pub fn count(value: u64) -> String {
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

/// Bytes in the unit that suits them.
pub fn bytes(value: u64) -> String {
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
pub fn seconds(value: f64) -> String {
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
        assert_eq!(count(1_186_239), "1,186,239");
        assert_eq!(count(12), "12");
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(3 << 29), "1.5 GiB");
        assert_eq!(seconds(0.0123), "12.3 ms");
        assert_eq!(seconds(1.26e-6), "1.3 µs");
    }

    #[test]
    fn tables_have_no_trailing_space() {
        let mut table = Table::new(&[("name", Align::Left), ("value", Align::Right)]);
        table.row(["a", "1.5"]);
        table.row(["longer", "22.25"]);
        assert_eq!(table.to_string(), "name    value\na         1.5\nlonger  22.25");
    }
}
