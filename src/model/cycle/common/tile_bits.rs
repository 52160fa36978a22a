//! Sets of tiles, and iteration over set bits.

/// Iterates over the set bits' numbers, lowest first.
pub fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(bit)
    })
}

/// Set of tiles; tile (x, y) is bit `y * cols + x`.
pub type TileBits = [u64; 4];

/// Returns the set of one tile.
pub fn only(tile: usize) -> TileBits {
    let mut set = [0; 4];
    set[tile / 64] = 1 << (tile % 64);
    set
}

/// True if the set has more than one tile.
pub fn several(set: &TileBits) -> bool {
    set.iter().map(|word| word.count_ones()).sum::<u32>() > 1
}

/// Returns the tiles of `set` that are not in `other`.
pub fn without(set: &TileBits, other: &TileBits) -> TileBits {
    std::array::from_fn(|i| set[i] & !other[i])
}

/// Returns the tiles of either set.
pub fn union(set: &TileBits, other: &TileBits) -> TileBits {
    std::array::from_fn(|i| set[i] | other[i])
}

/// The sets have a tile in common.
pub fn meet(set: &TileBits, other: &TileBits) -> bool {
    (0..4).any(|i| set[i] & other[i] != 0)
}

/// The set is not empty.
pub fn some(set: &TileBits) -> bool {
    set[0] | set[1] | set[2] | set[3] != 0
}

/// Returns the lowest tile of a set.
pub fn lowest(set: &TileBits) -> Option<usize> {
    let word = set.iter().position(|&word| word != 0)?;
    Some(word * 64 + set[word].trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_tells_its_lowest_tile() {
        let set = union(&only(200), &only(70));
        assert_eq!((lowest(&set), lowest(&without(&set, &only(70)))), (Some(70), Some(200)));
        assert!(some(&set) && meet(&set, &only(200)) && lowest(&[0; 4]).is_none());
    }
}
