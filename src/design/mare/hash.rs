//! Matrices of the H3 hash functions (Carter and Wegman, 1979).
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

/// `rows` rows of `cols` random bits, at most 128, row 0 first. Each `seed` gives another function.
pub fn matrix(seed: u64, rows: u32, cols: u32) -> Vec<u128> {
    let mut random = SplitMix(seed);
    // Bits are drawn from the highest of the last row down, the order of a literal.
    let mut row = || (0..cols).fold(0, |row, _| row << 1 | u128::from(random.next() >> 63));
    let mut all: Vec<_> = (0..rows).map(|_| row()).collect();
    all.reverse();
    all
}

/// Seeds of the two hash functions of a Bloom filter.
pub const BLOOM_SEEDS: [u64; 2] = [1, 2];

#[cfg(test)]
mod tests {
    use crate::design::mare::hash::*;

    #[test]
    fn a_matrix_has_its_size_and_about_as_many_ones_as_zeros() {
        let rows = matrix(1, 7, 40);
        let ones: u32 = rows.iter().map(|row| row.count_ones()).sum();
        assert!(rows.len() == 7 && rows.iter().all(|row| row >> 40 == 0), "{rows:x?}");
        assert!((110..170).contains(&ones), "{rows:x?}");
        assert_ne!(rows, matrix(2, 7, 40));
    }
}
