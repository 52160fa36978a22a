//! Bit-parallel lanes: a `u64` has a byte for each of five outputs, and in it a bit for each virtual channel.
//! Or a byte for each of five inputs, and a bit for each output.
//!
//! A vector of `5 * VCS` bits in the Verilog is one word here, so one operation covers all outputs. Bits
//! above the fifth byte are always zero.

/// Lowest bit of every lane.
const ONES: u64 = 0x01_0101_0101;

/// Multiplier that gathers bits 0, 8, .. 32 side by side, from bit 32 up.
const GATHER: u64 = 1 << 32 | 1 << 25 | 1 << 18 | 1 << 11 | 1 << 4;

/// `SCATTER[outputs]` has the lowest bit of every lane in `outputs`.
const SCATTER: [u64; 32] = {
    let mut table = [0; 32];
    let mut outputs = 0;
    while outputs < 32 {
        let mut o = 0;
        while o < 5 {
            table[outputs] |= ((outputs as u64 >> o) & 1) << (8 * o);
            o += 1;
        }
        outputs += 1;
    }
    table
};

/// Copies `bits` to every lane.
#[inline(always)]
pub(in crate::model::cycle::network) fn spread(bits: u8) -> u64 {
    u64::from(bits) * ONES
}

/// Sets bit `vc` of every lane in `outputs`.
#[inline(always)]
pub(in crate::model::cycle::network) fn scatter(outputs: u8, vc: u8) -> u64 {
    SCATTER[usize::from(outputs & 31)] << (vc & 7)
}

/// Sets all bits of every lane in `lanes`.
#[inline(always)]
pub(in crate::model::cycle::network) fn scatter_all(lanes: u8) -> u64 {
    SCATTER[usize::from(lanes & 31)] * 0xff
}

/// Returns the bits of one lane.
#[inline(always)]
pub(in crate::model::cycle::network) fn lane(word: u64, output: usize) -> u8 {
    (word >> (8 * output)) as u8
}

/// Sets the lowest bit of every lane that is not zero.
#[inline(always)]
pub(in crate::model::cycle::network) fn nonzero(word: u64) -> u64 {
    let low = 0x7f * ONES;
    (((word & low) + low) | word) >> 7 & ONES
}

/// Returns the lanes that are not zero, a bit each.
#[inline(always)]
pub(in crate::model::cycle::network) fn any(word: u64) -> u8 {
    gather(nonzero(word))
}

/// Gathers the lowest bits of all lanes side by side.
#[inline(always)]
pub(in crate::model::cycle::network) fn gather(word: u64) -> u8 {
    ((word & ONES).wrapping_mul(GATHER) >> 32) as u8 & 31
}

/// Iterates over the set bits' numbers, lowest first.
#[inline(always)]
pub(in crate::model::cycle::network) fn bits(set: u8) -> Bits {
    Bits(u32::from(set))
}

/// Iterator of [`bits`].
pub(in crate::model::cycle::network) struct Bits(u32);

impl Iterator for Bits {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(bit as usize)
    }
}

#[cfg(test)]
mod tests {
    use crate::model::cycle::network::flits::lanes::*;

    #[test]
    fn lanes_that_hold_a_bit_are_found_whatever_stands_beside_it() {
        for outputs in 0..32 {
            for vc in 0..8 {
                let word = scatter(outputs, vc);
                assert_eq!(any(word), outputs);
                assert_eq!(any(word | spread(1 << (7 - vc))), 31);
                let lanes = (0..5).filter(|&o| lane(word, o) == 1 << vc).map(|o| 1 << o).sum::<u8>();
                assert_eq!(lanes, outputs);
            }
        }
        assert_eq!(any(spread(0xff)), 31);
        assert_eq!(bits(0b10110).collect::<Vec<_>>(), [1, 2, 4]);
    }
}
