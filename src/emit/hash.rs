//! Matrices of the H3 hash functions (Carter and Wegman, 1979) as Verilog literals.
//!
//! Bit i of a hash is the parity of the key under row i. With random rows any two keys collide
//! with probability one in the number of hashes, whatever the keys are.

/// A fixed pseudo-random sequence (SplitMix64): the same matrices in every run and version.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// `rows` rows of `cols` random bits, row 0 lowest, as a binary literal; `seed` tells functions apart.
pub(super) fn matrix_literal(seed: u64, rows: u32, cols: u32) -> String {
    let mut random = SplitMix(seed);
    let bits: String = (0..rows * cols).map(|_| if random.next() >> 63 == 1 { '1' } else { '0' }).collect();
    format!("{}'b{bits}", bits.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_has_its_size_and_about_as_many_ones_as_zeros() {
        let literal = matrix_literal(1, 7, 40);
        let bits = literal.strip_prefix("280'b").expect("the width first");
        let ones = bits.chars().filter(|&b| b == '1').count();
        assert!(bits.len() == 280 && (110..170).contains(&ones), "{literal}");
        assert_ne!(literal, matrix_literal(2, 7, 40));
    }
}
