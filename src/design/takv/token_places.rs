//! Places of a token's K and V in external memory.

use crate::design::design::Design;
use crate::design::mare::slice::TOKEN_SCALE_BITS;
use crate::design::takv::append::word_elements;

impl Design {
    /// Bytes that K and V of a token take in the cache of a layer, all KV heads, its scales among them.
    pub fn cached_token_bytes(&self) -> u64 {
        let scales = if self.pe.has_token_scales() { TOKEN_SCALE_BITS / 8 } else { 0 };
        let row = self.model.head_dim * self.pe.format.bytes();
        u64::from(self.model.kv_heads) * u64::from(2 * row + scales)
    }

    /// Words of 64 bits that hold a token for [`Design::token_places`]: K, V, then one with its scales, if tokens have some.
    pub fn token_words(&self) -> usize {
        let rows = 2 * self.pe.head_dim / word_elements(self.pe.format);
        rows as usize + usize::from(self.pe.has_token_scales())
    }

    /// Where K, V and scales of a token lie in its slice: addresses, each with the bytes there. K is one run; of V every element
    /// has a place of its own, a flit after the one before. `words` are K, then V, as they lie in memory,
    /// 64 bits each, then one with the scales, if tokens have some.
    ///
    /// # Panics
    /// If there are fewer words than a token has.
    pub fn token_places(&self, number: u64, row: u32, words: &[u64]) -> Vec<(u64, Vec<u8>)> {
        let (slice, lanes) = (self.memory.address_of(number), self.flit.elements);
        let (dim, flit) = (self.pe.head_dim, u64::from(self.flit.data_width / 8));
        let element = u64::from(self.pe.format.bytes());
        let mut key: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let row_bytes = (u64::from(dim) * element) as usize;
        let mut value = key.split_off(row_bytes);
        let scales = value.split_off(row_bytes);
        let keys = slice + u64::from(self.mare.key_base) * flit;
        let block = keys + u64::from(self.mare.half_flits + row / lanes * dim) * flit;
        let lane = u64::from(row % lanes) * element;
        let of_value = value.chunks(element as usize).zip(0..u64::from(dim));
        let mut all = vec![(keys + u64::from(row * dim) * element, key)];
        all.extend(of_value.map(|(bytes, d)| (block + d * flit + lane, bytes.to_vec())));
        if self.pe.has_token_scales() {
            const BYTES: usize = TOKEN_SCALE_BITS as usize / 8;
            all.push((slice + u64::from(row) * BYTES as u64, scales[..BYTES].to_vec()));
        }
        all
    }
}
