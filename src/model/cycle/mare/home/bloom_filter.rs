//! Bloom filter in front of the exact tags (`meshkv_bloom_filter`).

use crate::design::mare::hash::{matrix, BLOOM_SEEDS};
use crate::model::cycle::mare::params::MareParams;

/// Two banks that alternate. Each hash function owns half of a bank's bits.
#[derive(Debug, Clone)]
pub(in crate::model::cycle::mare) struct BloomFilter {
    rows: [Vec<u128>; 2],
    /// By bank, then by hash function.
    banks: [[Vec<u64>; 2]; 2],
}

impl BloomFilter {
    pub(in crate::model::cycle::mare) fn new(params: &MareParams) -> BloomFilter {
        let half = params.mare.bloom_bits / 2;
        let name = params.key_width + params.index_width;
        let bits = || vec![0; half.div_ceil(64) as usize];
        BloomFilter {
            rows: BLOOM_SEEDS.map(|seed| matrix(seed, half.ilog2(), name)),
            banks: std::array::from_fn(|_| [bits(), bits()]),
        }
    }

    fn hashes(&self, name: u128) -> [usize; 2] {
        let parity = |row: &u128| (row & name).count_ones() as usize & 1;
        [0, 1].map(|i| {
            let of = &self.rows[i];
            of.iter().enumerate().fold(0, |hash, (bit, row)| hash | parity(row) << bit)
        })
    }

    /// The name may have been inserted in this refresh period or the one before.
    pub(in crate::model::cycle::mare) fn saw(&self, name: u128) -> bool {
        let hashes = self.hashes(name);
        let found =
            |bank: &[Vec<u64>; 2]| (0..2).all(|i| bank[i][hashes[i] / 64] >> (hashes[i] % 64) & 1 == 1);
        self.banks.iter().any(found)
    }

    /// Inserts a name in a period of this parity.
    pub(in crate::model::cycle::mare) fn insert(&mut self, name: u128, odd: bool) {
        let hashes = self.hashes(name);
        for (part, hash) in self.banks[usize::from(odd)].iter_mut().zip(hashes) {
            part[hash / 64] |= 1 << (hash % 64);
        }
    }

    /// Ends a period of this parity: clears the bank that the next one fills.
    pub(in crate::model::cycle::mare) fn tick(&mut self, odd: bool) {
        self.banks[usize::from(!odd)].iter_mut().for_each(|part| part.fill(0));
    }
}
