//! Text in columns, for printed results.

use std::fmt::Write;

/// Widths of columns, of rows that are laid out one by one.
#[derive(Debug, Clone, Default)]
pub struct Widths(Vec<usize>);

impl Widths {
    /// Makes room for a row.
    pub fn see(&mut self, row: &[String]) {
        self.0.resize(self.0.len().max(row.len()), 0);
        for (width, cell) in self.0.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }

    /// A row as a line, with its end: columns are two spaces apart, indented by two. Cells that look like numbers are set
    /// to the right, so that their digits line up.
    pub fn line(&self, row: &[String]) -> String {
        let mut line = String::from(" ");
        for (cell, &width) in row.iter().zip(&self.0) {
            // Writing to a String cannot fail.
            let _ = match cell.starts_with(|c: char| c.is_ascii_digit()) {
                true => write!(line, " {cell:>width$} "),
                false => write!(line, " {cell:<width$} "),
            };
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    }
}

/// Lays rows out in columns.
pub fn columns(rows: &[Vec<String>]) -> String {
    let mut widths = Widths::default();
    rows.iter().for_each(|row| widths.see(row));
    rows.iter().map(|row| widths.line(row)).collect()
}

/// Bytes in the largest unit that gives at least one.
pub(in crate::cli) fn size(bytes: f64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let of = |log: u32| bytes / f64::from(1 << log);
    let found = units.into_iter().find(|&(_, log)| of(log) >= 1.0);
    found.map_or(format!("{bytes} B"), |(unit, log)| format!("{:.2} {unit}", of(log)))
}

#[cfg(test)]
mod tests {
    use crate::cli::output::table::*;

    #[test]
    fn words_stand_left_and_numbers_right() {
        let rows = [["a", "7", "x"], ["long", "12", "yy"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(columns(&rows), "  a      7  x\n  long  12  yy\n");
    }
}
