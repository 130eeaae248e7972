//! Plain tables for terminals and log files.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// A table without ruling lines.
pub struct Table {
    aligns: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table from the names and alignments of its columns.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_no_trailing_space() {
        let mut table = Table::new(&[("name", Align::Left), ("value", Align::Right)]);
        table.row(["a", "1.5"]);
        table.row(["longer", "22.25"]);
        assert_eq!(table.to_string(), "name    value\na         1.5\nlonger  22.25");
    }
}
