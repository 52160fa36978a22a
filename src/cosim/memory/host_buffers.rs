//! Buffers of a host: bytes at any address.

/// A set of buffers by address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bytes {
    buffers: Vec<(u64, Vec<u8>)>,
}

impl Bytes {
    /// Adds a buffer, or replaces the one at the same address.
    pub fn put(&mut self, address: u64, bytes: Vec<u8>) {
        self.buffers.retain(|(at, _)| *at != address);
        self.buffers.push((address, bytes));
    }

    /// The buffer at an address.
    pub fn at(&self, address: u64) -> Option<&[u8]> {
        self.buffers.iter().find(|(at, _)| *at == address).map(|(_, bytes)| bytes.as_slice())
    }

    /// Reads words, little-endian. False if the first byte is in no buffer. Bytes past the end of a
    /// buffer are zero.
    pub fn read(&self, address: u64, words: &mut [u32]) -> bool {
        words.fill(0);
        let holds = |(at, bytes): &&(u64, Vec<u8>)| (*at..at + bytes.len() as u64).contains(&address);
        let Some((at, bytes)) = self.buffers.iter().find(holds) else { return false };
        let here = &bytes[(address - at) as usize..];
        for (word, four) in words.iter_mut().zip(here.chunks(4)) {
            let mut whole = [0; 4];
            whole[..four.len()].copy_from_slice(four);
            *word = u32::from_le_bytes(whole);
        }
        true
    }

    /// True if all bytes of words that `strobes` select are in a buffer.
    pub fn holds(&self, address: u64, words: &[u32], strobes: u128) -> bool {
        let chosen = strobes & (u128::MAX >> (128 - 4 * words.len()));
        if chosen == 0 {
            return true;
        }
        let (first, last) = (u64::from(chosen.trailing_zeros()), u64::from(127 - chosen.leading_zeros()));
        let holds = |(at, bytes): &(u64, Vec<u8>)| {
            address + first >= *at && address + last < *at + bytes.len() as u64
        };
        self.buffers.iter().any(holds)
    }

    /// Writes the bytes of words that `strobes` select. False, without a write, if one of them is
    /// in no buffer.
    pub fn write(&mut self, address: u64, words: &[u32], strobes: u128) -> bool {
        let chosen: Vec<u64> = (0..4 * words.len() as u64).filter(|i| strobes >> i & 1 == 1).collect();
        let Some((first, last)) = chosen.first().zip(chosen.last()) else { return true };
        let holds = |(at, bytes): &&mut (u64, Vec<u8>)| {
            address + first >= *at && address + last < *at + bytes.len() as u64
        };
        let Some((at, bytes)) = self.buffers.iter_mut().find(holds) else { return false };
        for i in chosen {
            bytes[(address + i - *at) as usize] = words[i as usize / 4].to_le_bytes()[i as usize % 4];
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_beside_it_changes() {
        let mut bytes = Bytes::default();
        bytes.put(0x100, vec![0xee; 16]);
        bytes.put(0x200, vec![0; 6]);
        assert!(bytes.write(0x100, &[0x0403_0201, 0x0807_0605], 0b1111_0011));
        assert_eq!(bytes.at(0x100).unwrap()[..9], [1, 2, 0xee, 0xee, 5, 6, 7, 8, 0xee]);
        let mut words = [9; 2];
        assert!(bytes.read(0x104, &mut words));
        assert_eq!(words, [0x0807_0605, 0xeeee_eeee]);
        assert!(bytes.write(0x204, &[0x0201], 0b11) && bytes.read(0x204, &mut words));
        assert_eq!(words, [0x0201, 0], "beyond its end a buffer is zero");
    }

    #[test]
    fn outside_every_buffer_there_is_nothing() {
        let mut bytes = Bytes::default();
        bytes.put(0x100, vec![7; 16]);
        let mut words = [9; 2];
        assert!(!bytes.read(0xf8, &mut words) && !bytes.read(0x110, &mut words));
        for (address, strobes) in [(0xfc, 0xff), (0x10c, 0xff), (0x300, 1)] {
            assert!(!bytes.write(address, &[1, 2], strobes));
        }
        assert!(bytes.write(0xfc, &[1, 2], 0xf0) && bytes.write(0x300, &[1, 2], 0));
        assert_eq!(bytes.at(0x100).unwrap()[..5], [2, 0, 0, 0, 7]);
    }
}
