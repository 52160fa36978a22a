//! Matrices of hash functions as Verilog literals.

use crate::design::mare::hash::matrix;

/// The matrix of this seed, row 0 lowest, as a binary literal.
pub(super) fn matrix_literal(seed: u64, rows: u32, cols: u32) -> String {
    let width = cols as usize;
    let bits: String = matrix(seed, rows, cols).iter().rev().map(|row| format!("{row:0width$b}")).collect();
    format!("{}'b{bits}", bits.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_has_the_width_of_the_matrix_and_its_last_row_first() {
        let literal = matrix_literal(1, 7, 40);
        let bits = literal.strip_prefix("280'b").expect("the width first");
        assert_eq!(bits.len(), 280);
        assert_eq!(u128::from_str_radix(&bits[240..], 2), Ok(matrix(1, 7, 40)[0]));
    }
}
