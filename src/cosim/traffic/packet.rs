//! Packets, and the bits of their flits.
//!
//! Every flit has a 64-bit key. The key, scrambled, is the first 64 bits of the payload. The rest
//! of the payload and the free header fields are hashes of it. So any flit can be identified, and
//! each of its bits checked. This module knows the layout, not the network.

use crate::cosim::hash::{mix, unmix};
use crate::cosim::tile_set::TileSet;
use crate::design::{index_bits, Class, Design, DestKind, Field, Mesh, NodeId};

/// A packet: some flits of one class from a tile to a set of tiles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Packet {
    /// Sending tile.
    pub source: NodeId,
    /// Receiving tiles: one for PART and KV_FETCH, never the source.
    pub dests: TileSet,
    /// Class of all its flits.
    pub class: Class,
    /// Flits: one wormhole packet for PART, that many flits of one tag otherwise.
    pub flits: u32,
    /// Cycle of its generation.
    pub cycle: u64,
    /// True if it belongs to the sample of the figures.
    pub measured: bool,
    /// Tag of a trace; without one, every packet has a tag of its own.
    pub tag: Option<u64>,
}

/// Contents of the header of one flit.
#[derive(Debug, Clone, Copy)]
pub struct Header {
    /// Class, which determines the fields.
    pub class: Class,
    /// Sending tile.
    pub source: NodeId,
    /// Number of the tag: the packet's own, or a trace's.
    pub tag: u64,
    /// Position in the packet, from 0.
    pub index: u32,
    /// Flits of the packet.
    pub flits: u32,
    /// True if the flit has more than one destination.
    pub several: bool,
}

/// Writes the bits of flits in the design's layout.
#[derive(Debug, Clone)]
pub struct FlitBits {
    mesh: Mesh,
    dest_kind: DestKind,
    dest_words: usize,
    head_words: usize,
    data_words: usize,
    fields: [Vec<Part>; 3],
}

/// A field of a header.
#[derive(Debug, Clone, Copy)]
struct Part {
    meaning: Meaning,
    offset: u32,
    width: u32,
    /// The lowest `width` bits.
    mask: u128,
}

impl Part {
    fn of(class: Class, field: &Field) -> Part {
        let mask = u128::MAX.checked_shl(field.width).map_or(u128::MAX, |above| !above);
        Part { meaning: Meaning::of(class, field), offset: field.offset, width: field.width, mask }
    }
}

/// Meaning of a header field, looked up once by its name: names are slow to compare per flit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Several,
    Last,
    First,
    SourceX,
    SourceY,
    Index,
    Tag,
    Free,
}

impl Meaning {
    fn of(class: Class, field: &Field) -> Meaning {
        match (field.name, class) {
            ("last", _) => Meaning::Last,
            ("several", _) => Meaning::Several,
            ("first", _) => Meaning::First,
            ("x", _) => Meaning::SourceX,
            ("y", _) => Meaning::SourceY,
            ("flit_index", _) => Meaning::Index,
            ("stream" | "layer" | "segment" | "slice" | "generation", Class::KvFetch | Class::KvData) => {
                Meaning::Tag
            }
            _ => Meaning::Free,
        }
    }
}

impl FlitBits {
    /// The bits of this design's flits.
    pub fn new(design: &Design) -> FlitBits {
        let flit = &design.flit;
        FlitBits {
            mesh: design.mesh,
            dest_kind: flit.dest_kind,
            dest_words: flit.dest_width.div_ceil(32) as usize,
            head_words: flit.head_width.div_ceil(32) as usize,
            data_words: flit.data_width.div_ceil(32) as usize,
            fields: Class::ALL
                .map(|class| flit.fields(class).iter().map(|field| Part::of(class, field)).collect()),
        }
    }

    /// The same where only so many words of a payload are carried.
    pub fn carrying(self, data_words: usize) -> FlitBits {
        FlitBits { data_words, ..self }
    }

    /// Words of `dest`, `head` and `data`.
    pub fn words(&self) -> [usize; 3] {
        [self.dest_words, self.head_words, self.data_words]
    }

    /// Writes the payload of the flit with this key.
    #[inline]
    pub fn write_data(&self, key: u64, words: &mut Vec<u32>) {
        let id = mix(key);
        words.clear();
        words.extend([id as u32, (id >> 32) as u32]);
        for k in 1..self.data_words as u64 / 2 {
            let bits = mix(id ^ k);
            words.extend([bits as u32, (bits >> 32) as u32]);
        }
    }

    /// True if a payload is that of the flit with this key, to the last bit.
    #[inline]
    pub fn is_data(&self, key: u64, data: &[u32]) -> bool {
        let id = mix(key);
        let pair = |k: usize| u64::from(data[2 * k]) | u64::from(data[2 * k + 1]) << 32;
        data.len() == self.data_words
            && pair(0) == id
            && (1..self.data_words / 2).all(|k| pair(k) == mix(id ^ k as u64))
    }

    /// The key in a payload.
    #[inline]
    pub fn key(&self, data: &[u32]) -> u64 {
        unmix(u64::from(data[0]) | u64::from(data[1]) << 32)
    }

    /// Writes the header.
    #[inline]
    pub fn write_head(&self, header: &Header, words: &mut Vec<u32>) {
        let (x, y) = self.mesh.coords(header.source);
        let mut head = 0_u128;
        let mut tag = header.tag;
        // Fields without a meaning here change from packet to packet, so that a stuck wire is
        // found.
        let mut free = mix(header.tag ^ (header.source.index() as u64) << 48);
        for part in &self.fields[header.class as usize] {
            let value = match part.meaning {
                Meaning::Last => u64::from(header.index + 1 == header.flits),
                Meaning::First => u64::from(header.index == 0),
                Meaning::Several => u64::from(header.several),
                Meaning::SourceX => u64::from(x),
                Meaning::SourceY => u64::from(y),
                Meaning::Index => u64::from(header.index),
                // Counted up rather than hashed: tags then stay distinct as long as possible, as
                // routers that suppress duplicates need.
                Meaning::Tag => {
                    let value = tag;
                    tag = tag.checked_shr(part.width).unwrap_or(0);
                    value
                }
                Meaning::Free => {
                    free = mix(free);
                    free
                }
            };
            // Bits above 64 repeat it.
            let value = u128::from(value);
            head |= ((value | value << 64) & part.mask) << part.offset;
        }
        words.clear();
        let all = [head as u32, (head >> 32) as u32, (head >> 64) as u32, (head >> 96) as u32];
        words.extend_from_slice(&all[..self.head_words]);
    }

    /// Writes the destination bits. Coordinates are those of the first tile of the set.
    #[inline]
    pub fn write_dest(&self, dests: &TileSet, words: &mut Vec<u32>) {
        words.clear();
        words.resize(self.dest_words, 0);
        match self.dest_kind {
            DestKind::Set => {
                for index in dests.iter() {
                    words[index / 32] |= 1 << (index % 32);
                }
            }
            DestKind::Coord => {
                let first = dests.iter().next().unwrap_or(0) as u32;
                let (x, y) = (first % self.mesh.cols(), first / self.mesh.cols());
                words[0] = y << index_bits(self.mesh.cols()) | x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn design(multicast: bool) -> Design {
        let mut config = Config::default();
        config.mare.multicast = multicast;
        Design::from_config("test", &config).expect("the default configuration is legal")
    }

    #[test]
    fn unmix_undoes_mix() {
        for x in [0, 1, 0xdead_beef, u64::MAX, 0x8000_0000_0000_0000] {
            assert_eq!(unmix(mix(x)), x);
            assert_eq!(mix(unmix(x)), x);
        }
    }

    #[test]
    fn payload_names_its_key_and_differs_in_every_word() {
        let bits = FlitBits::new(&design(true));
        let (mut a, mut b) = (Vec::new(), Vec::new());
        bits.write_data(77, &mut a);
        bits.write_data(78, &mut b);
        assert_eq!(bits.key(&a), 77);
        assert!(bits.is_data(77, &a) && !bits.is_data(78, &a) && !bits.is_data(77, &a[..14]));
        for bit in 0..512 {
            let mut spoilt = a.clone();
            spoilt[bit / 32] ^= 1 << (bit % 32);
            assert!(!bits.is_data(77, &spoilt), "bit {bit}");
        }
        assert_eq!(a.len(), 16);
        assert!(a.iter().zip(&b).all(|(x, y)| x != y));
    }

    #[test]
    fn destination_bits_are_those_of_the_layout() {
        for multicast in [true, false] {
            let design = design(multicast);
            let bits = FlitBits::new(&design);
            for tile in design.mesh.nodes() {
                let mut words = Vec::new();
                bits.write_dest(&TileSet::one(tile), &mut words);
                assert_eq!(words, design.flit.dest_words(design.mesh, &[tile]));
            }
        }
    }

    #[test]
    fn header_carries_sender_index_and_ends_of_the_packet() {
        let design = design(true);
        let bits = FlitBits::new(&design);
        let source = design.mesh.node(5, 3).expect("8x8 has (5, 3)");
        let mut words = Vec::new();
        let read = |words: &[u32], class, name| {
            let field = design.flit.fields(class).iter().find(|f| f.name == name).expect("field");
            (0..field.width)
                .map(|b| field.offset + b)
                .enumerate()
                .fold(0u32, |v, (i, b)| v | (words[(b / 32) as usize] >> (b % 32) & 1) << i)
        };
        for index in 0..3 {
            let header = |class, several| Header { class, source, tag: 9, index, flits: 3, several };
            bits.write_head(&header(Class::Part, false), &mut words);
            assert_eq!(read(&words, Class::Part, "x"), 5);
            assert_eq!(read(&words, Class::Part, "y"), 3);
            assert_eq!(read(&words, Class::Part, "first"), u32::from(index == 0));
            assert_eq!(read(&words, Class::Part, "last"), u32::from(index == 2));
            for several in [false, true] {
                bits.write_head(&header(Class::KvData, several), &mut words);
                assert_eq!(read(&words, Class::KvData, "several"), u32::from(several));
            }
            assert_eq!(read(&words, Class::KvData, "flit_index"), index);
            // 9 over three bits of stream and five of layer.
            assert_eq!(read(&words, Class::KvData, "stream"), 1);
            assert_eq!(read(&words, Class::KvData, "layer"), 1);
        }
    }

    #[test]
    fn set_lists_what_was_put_in() {
        let mut set = TileSet::default();
        for index in [0, 63, 64, 255] {
            assert!(set.insert(index));
            assert!(!set.insert(index));
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 63, 64, 255]);
        set.remove(64);
        assert_eq!(set.len(), 3);
        assert!(!set.contains(64) && !set.is_empty());
    }
}
