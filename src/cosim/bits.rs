//! Bit fields of packed ports, which are arrays of little-endian words.

/// The word with all of a field of at most 32 bits, the field's shift in it, and its mask there; `None` for
/// a field that is wider or reaches into the next word.
#[inline(always)]
pub(super) fn in_one_word(begin: usize, width: u32) -> Option<(usize, u32, u32)> {
    let (at, shift) = (begin / 32, (begin % 32) as u32);
    (shift + width <= 32 && width > 0).then(|| (at, shift, (u32::MAX >> (32 - width)) << shift))
}

/// Writes `width` bits of `words` from bit `begin` on.
pub(super) fn put_bits(words: &mut [u32], begin: usize, width: u32, value: &[u32]) {
    for bit in (0..width as usize).step_by(32) {
        let left = (width as usize - bit).min(32);
        let mask = u64::MAX >> (64 - left);
        let (at, shift) = ((begin + bit) / 32, (begin + bit) % 32);
        let wide = (u64::from(value[bit / 32]) & mask) << shift;
        let mask = mask << shift;
        words[at] = words[at] & !(mask as u32) | wide as u32;
        if mask >> 32 != 0 {
            words[at + 1] = words[at + 1] & !((mask >> 32) as u32) | (wide >> 32) as u32;
        }
    }
}

/// Reads `width` bits of `words` from bit `begin` on, as words.
pub(super) fn get_bits(words: &[u32], begin: usize, width: u32) -> impl Iterator<Item = u32> + '_ {
    (0..width as usize).step_by(32).map(move |bit| {
        let (at, shift) = ((begin + bit) / 32, (begin + bit) % 32);
        let low = words[at] >> shift;
        let high = if shift == 0 { 0 } else { words.get(at + 1).copied().unwrap_or(0) << (32 - shift) };
        let left = width as usize - bit;
        (low | high) & if left >= 32 { u32::MAX } else { (1 << left) - 1 }
    })
}
