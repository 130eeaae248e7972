//! Plain tables for terminals and log files.

use std::fmt;

/// A table without ruling lines.
pub struct Table {
    /// For each column, whether it is aligned to the right.
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Creates a table from the names of its columns; `>` before a name aligns the column to the right.
    pub fn new<N: AsRef<str>>(columns: &[N]) -> Table {
        let name = |column: &N| column.as_ref().trim_start_matches('>').to_owned();
        let right = columns.iter().map(|column| column.as_ref().starts_with('>')).collect();
        Table { right, rows: vec![columns.iter().map(name).collect()] }
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
        let widths: Vec<usize> = (0..self.right.len()).map(width).collect();
        let lines: Vec<String> = self
            .rows
            .iter()
            .map(|row| {
                let cells =
                    row.iter().zip(&widths).zip(&self.right).map(|((cell, &width), right)| match right {
                        false => format!("{cell:<width$}"),
                        true => format!("{cell:>width$}"),
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
        let mut table = Table::new(&["name", ">value"]);
        table.row(["a", "1.5"]);
        table.row(["longer", "22.25"]);
        assert_eq!(table.to_string(), "name    value\na         1.5\nlonger  22.25");
    }
}
