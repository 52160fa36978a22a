//! Payload of a PART packet.
//!
//! The first flit has m in bits 31:0, as a two's complement integer, and l in bits 63:32. Flits of o follow,
//! 32 bits an element from bit 0. l and o are FP32. All other bits are 0.
//!
//! l is never negative. Its sign says that a logit of the partial result saturated.

/// Sign of an FP32.
const SIGN: u32 = 1 << 31;

/// Numbers of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// m; meaningless where l is 0.
    pub max: i32,
    /// o\[0..head_dim\] and then l, as FP32 bits; the sign of l is a flag.
    pub sums: Vec<u32>,
}

impl Packet {
    /// Number of flits of a packet: the first, and those of o.
    pub fn flits(head_dim: u32, flit_elements: u32) -> u32 {
        1 + (2 * head_dim).div_ceil(flit_elements)
    }

    /// Sets the flag of a saturated logit.
    pub fn set_saturated(&mut self, saturated: bool) {
        let l = self.sums.last_mut().expect("l is always there");
        *l = *l & !SIGN | u32::from(saturated) << 31;
    }

    /// A logit of the partial result saturated.
    pub fn saturated(&self) -> bool {
        self.sums.last().is_some_and(|l| l & SIGN != 0)
    }

    /// Returns the payloads, in order.
    pub fn to_flits(&self, flit_elements: u32) -> Vec<Vec<u16>> {
        let lanes = flit_elements as usize;
        let (l, o) = self.sums.split_last().expect("l is always there");
        let mut head = halves(&[self.max as u32, *l]);
        head.resize(lanes, 0);
        let mut body = halves(o);
        body.resize(body.len().next_multiple_of(lanes), 0);
        std::iter::once(head).chain(body.chunks(lanes).map(<[u16]>::to_vec)).collect()
    }

    /// Reads the payloads of a packet for `head_dim` elements.
    ///
    /// # Panics
    /// When the packet has another number of flits.
    pub fn from_flits(flits: &[Vec<u16>], head_dim: u32) -> Packet {
        let lanes = flits.first().map_or(0, Vec::len) as u32;
        assert!(lanes >= 4, "the first flit has m and l");
        assert_eq!(flits.len() as u32, Self::flits(head_dim, lanes), "flits of a packet");
        let word = |pair: &[u16]| u32::from(pair[1]) << 16 | u32::from(pair[0]);
        let head: Vec<u32> = flits[0].chunks(2).map(word).collect();
        let body = flits[1..].iter().flat_map(|flit| flit.chunks(2).map(word));
        let sums = body.take(head_dim as usize).chain([head[1]]).collect();
        Packet { max: head[0] as i32, sums }
    }
}

fn halves(words: &[u32]) -> Vec<u16> {
    words.iter().flat_map(|word| [*word as u16, (word >> 16) as u16]).collect()
}
