//! Contents of the external memory, by address.

use super::behaviour::Shape;
use super::host_buffers::Bytes;
use crate::cosim::hash::mix;
use std::collections::HashMap;

/// Contents of the external memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Image {
    /// Every eight bytes are a hash of this seed and their address.
    Hash(u64),
    /// Slices by number, each K rows and then V rows. Reads elsewhere get a decode error.
    Slices(HashMap<u64, Vec<u8>>),
    /// Buffers of a host. Other addresses are empty.
    Buffers(Bytes),
    /// Other contents, and what was written over them: eight bytes by their address, and a mask of those written.
    Written(Box<Image>, HashMap<u64, (u64, u64)>),
}

impl Image {
    /// Writes bytes, wherever they are.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        if !matches!(self, Image::Written(..)) {
            let under = std::mem::replace(self, Image::Hash(0));
            *self = Image::Written(Box::new(under), HashMap::new());
        }
        let Image::Written(_, over) = self else { return };
        for (at, &byte) in (address..).zip(bytes) {
            let (value, mask) = over.entry(at / 8).or_default();
            let place = 8 * (at % 8);
            *value = *value & !(0xff << place) | u64::from(byte) << place;
            *mask |= 0xff << place;
        }
    }

    /// The first slice of `wanted` that is not the same here, in words.
    pub fn difference(&self, wanted: &Image) -> Option<String> {
        let (Image::Slices(here), Image::Slices(wanted)) = (self, wanted) else {
            return (self != wanted).then(|| "memory has other contents".to_owned());
        };
        let mut numbers: Vec<_> = wanted.keys().copied().collect();
        numbers.sort_unstable();
        numbers.into_iter().find_map(|number| {
            let (is, should) = (here.get(&number).map(Vec::as_slice).unwrap_or_default(), &wanted[&number]);
            let at = (0..should.len()).find(|&at| is.get(at) != Some(&should[at]))?;
            let found = is.get(at).map_or("nothing".to_owned(), |byte| format!("{byte:#04x}"));
            Some(format!("slice {number} of memory, byte {at}: {found} instead of {:#04x}", should[at]))
        })
    }

    /// Writes the bytes of words that `strobes` select, in runs.
    pub(super) fn write_words(&mut self, shape: &Shape, address: u64, words: &[u32], strobes: u128) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let chosen = |at: usize| at < bytes.len() && strobes >> at & 1 == 1;
        let mut at = 0;
        while at < bytes.len() {
            let run = (at..bytes.len()).take_while(|&i| chosen(i)).count();
            if run > 0 {
                self.write_slices(shape, address + at as u64, &bytes[at..at + run]);
            }
            at += run.max(1);
        }
    }

    /// Writes bytes into slices, also into one that is not there: it becomes one. Other contents as [`Image::write`].
    pub fn write_slices(&mut self, shape: &Shape, address: u64, bytes: &[u8]) {
        let Image::Slices(slices) = self else { return self.write(address, bytes) };
        let Some((number, begin)) = shape.slice_at(address) else { return };
        let begin = begin as usize;
        let here = bytes.len().min(shape.slice_bytes as usize - begin);
        let slice = slices.entry(number).or_default();
        if slice.len() < begin + here {
            slice.resize(begin + here, 0);
        }
        slice[begin..begin + here].copy_from_slice(&bytes[..here]);
        if here < bytes.len() {
            self.write_slices(shape, address + here as u64, &bytes[here..]);
        }
    }

    /// Reads `words` from an address that is a multiple of eight. False if the address is empty;
    /// words that a slice does not fill are zero.
    pub fn read(&self, shape: &Shape, address: u64, words: &mut [u32]) -> bool {
        match self {
            Image::Hash(seed) => {
                for (at, pair) in (address / 8..).zip(words.chunks_mut(2)) {
                    let value = mix(seed ^ mix(at));
                    pair[0] = value as u32;
                    if let Some(high) = pair.get_mut(1) {
                        *high = (value >> 32) as u32;
                    }
                }
                true
            }
            Image::Buffers(bytes) => bytes.read(address, words),
            Image::Written(under, over) => {
                let there = under.read(shape, address, words);
                for (at, pair) in (address / 8..).zip(words.chunks_mut(2)) {
                    let Some((value, mask)) = over.get(&at) else { continue };
                    for (half, word) in pair.iter_mut().enumerate() {
                        let (value, mask) = ((value >> (32 * half)) as u32, (mask >> (32 * half)) as u32);
                        *word = *word & !mask | value & mask;
                    }
                }
                there
            }
            Image::Slices(slices) => {
                words.fill(0);
                let Some((number, begin)) = shape.slice_at(address) else { return false };
                let Some(bytes) = slices.get(&number) else { return false };
                let here = bytes.get(begin as usize..).unwrap_or_default();
                for (word, four) in words.iter_mut().zip(here.chunks(4)) {
                    let mut whole = [0; 4];
                    whole[..four.len()].copy_from_slice(four);
                    *word = u32::from_le_bytes(whole);
                }
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape {
        ports: 1,
        flit_bytes: 8,
        burst_flits: 4,
        slice_bytes: 64,
        regions: 1,
        slices: 4,
        region_width: 8,
        local_width: 2,
    };

    #[test]
    fn a_hash_depends_on_seed_and_address_only() {
        let read = |seed, address| {
            let mut words = [0; 4];
            assert!(Image::Hash(seed).read(&SHAPE, address, &mut words));
            words
        };
        assert_eq!(read(1, 16), read(1, 16));
        assert_ne!(read(1, 16), read(2, 16));
        assert_eq!(read(1, 16)[2..], read(1, 24)[..2], "it is one memory, wherever a read begins");
    }

    #[test]
    fn slices_are_read_where_they_lie() {
        let image = Image::Slices(HashMap::from([(2, (0..20).collect())]));
        let mut words = [9; 2];
        assert!(image.read(&SHAPE, 128 + 8, &mut words));
        assert_eq!(words, [0x0b0a_0908, 0x0f0e_0d0c]);
        assert!(image.read(&SHAPE, 128 + 16, &mut words));
        assert_eq!(words, [0x1312_1110, 0], "beyond its end a slice is zero");
        assert!(!image.read(&SHAPE, 64, &mut words));
    }

    #[test]
    fn what_is_written_into_slices_is_there_also_over_their_bounds() {
        let mut image = Image::Slices(HashMap::from([(1, vec![7; 64])]));
        image.write_slices(&SHAPE, 64 + 60, &[1, 2, 3, 4, 5, 6]);
        let Image::Slices(slices) = image else { panic!("slices stay slices") };
        assert_eq!(slices[&1], [[7; 60].as_slice(), &[1, 2, 3, 4]].concat());
        assert_eq!(slices[&2], [5, 6]);
    }
}
