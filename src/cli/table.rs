//! Text in columns, for printed results.

use std::fmt::Write;

/// Lays rows out in columns two spaces apart, indented by two. Cells that look like numbers
/// are set to the right, so that their digits line up.
pub fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    let widths: Vec<usize> =
        (0..count).map(|c| cells(c).map(|s| s.chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::from(" ");
        for (cell, &width) in row.iter().zip(&widths) {
            // Writing to a String cannot fail.
            let _ = match cell.starts_with(|c: char| c.is_ascii_digit()) {
                true => write!(line, " {cell:>width$} "),
                false => write!(line, " {cell:<width$} "),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Bytes in the largest unit that gives at least one.
pub(super) fn size(bytes: f64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let of = |log: u32| bytes / f64::from(1 << log);
    let found = units.into_iter().find(|&(_, log)| of(log) >= 1.0);
    found.map_or(format!("{bytes} B"), |(unit, log)| format!("{:.2} {unit}", of(log)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_left_and_numbers_right() {
        let rows = [["a", "7", "x"], ["long", "12", "yy"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(columns(&rows), "  a      7  x\n  long  12  yy\n");
    }
}
