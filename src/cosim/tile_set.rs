//! Sets of tiles of a mesh.

use crate::design::NodeId;

/// A set of tiles of a mesh with at most 256 tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TileSet([u64; 4]);

impl TileSet {
    /// The set without a tile.
    pub const EMPTY: TileSet = TileSet([0; 4]);

    /// The set of one tile.
    #[inline]
    pub fn one(tile: NodeId) -> TileSet {
        let mut set = TileSet::EMPTY;
        set.insert(tile.index());
        set
    }

    /// The set of the tiles whose bits are set.
    pub fn of_bits(words: [u64; 4]) -> TileSet {
        TileSet(words)
    }

    /// The tiles' bits.
    pub fn bits(&self) -> [u64; 4] {
        self.0
    }

    /// Adds the tile with this index; false if it was there.
    #[inline]
    pub fn insert(&mut self, index: usize) -> bool {
        let fresh = !self.contains(index);
        self.0[index / 64] |= 1 << (index % 64);
        fresh
    }

    /// Removes the tile with this index.
    #[inline]
    pub fn remove(&mut self, index: usize) {
        self.0[index / 64] &= !(1 << (index % 64));
    }

    /// True if the tile with this index is in the set.
    #[inline]
    pub fn contains(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }

    /// The tile of a set of exactly one.
    #[inline]
    pub fn only(&self) -> Option<usize> {
        let at = self.0.iter().position(|&w| w != 0)?;
        let (word, others) = (self.0[at], &self.0[at + 1..]);
        let one = word & (word - 1) == 0 && others.iter().all(|&w| w == 0);
        one.then(|| at * 64 + word.trailing_zeros() as usize)
    }

    /// Number of tiles.
    #[inline]
    pub fn len(&self) -> u32 {
        // Most sets have one tile.
        let of_word = |&w: &u64| if w & w.wrapping_sub(1) == 0 { u32::from(w != 0) } else { w.count_ones() };
        self.0.iter().map(of_word).sum()
    }

    /// True if the set has no tile.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// Tile indices in rising order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(w, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(w * 64 + bit)
            })
        })
    }
}
