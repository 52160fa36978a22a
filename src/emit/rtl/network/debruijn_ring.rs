//! Order of the slots of a ring buffer such that each follows from the one before by one shift.
//!
//! A ring buffer needs only a fixed succession, so slots need not be counted: shifting in one bit,
//! a function of the slot, costs one look-up table where an adder costs one a bit. Such a ring of
//! any length is a cycle of the de Bruijn graph, here one that contains slot 1: slot 0 is not
//! part of the ring of two.

use crate::design::index_bits;

/// Steps of the search before the other preference is tried; lengths up to 64 need less than half.
const PATIENCE: u32 = 50_000;

/// A ring of slots that starts at slot 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ring {
    width: u32,
    order: Vec<u32>,
}

impl Ring {
    /// The ring of `length` slots, 2 to 64.
    ///
    /// # Panics
    /// On another length; the configuration allows none.
    pub(super) fn of(length: u32) -> Ring {
        let width = index_bits(length).max(2);
        // The bit to try first. Always 1 finds most rings at once; the feedback of a shift
        // register of maximal length finds the rings of 2^n - 1, which always 1 misses.
        let register = |slot: u32| {
            let tap = if width == 6 { 4 } else { (width / 2).min(2) };
            1 ^ (slot >> (width - 1) & 1) ^ (slot >> tap.min(width - 1) & 1)
        };
        let order = search(width, length, |_| 1).or_else(|| search(width, length, register));
        let order = order.unwrap_or_else(|| panic!("no ring of {length} slots"));
        Ring { width, order }
    }

    /// Bits of a slot number, at least two.
    pub(super) fn width(&self) -> u32 {
        self.width
    }

    /// Verilog literal whose bit s is shifted in behind slot s.
    pub(super) fn literal(&self) -> String {
        let next = self.order.iter().cycle().skip(1);
        let bits =
            self.order.iter().zip(next).fold(0_u64, |bits, (slot, next)| bits | u64::from(next & 1) << slot);
        let size = 1_usize << self.width;
        format!("{size}'h{bits:0digits$x}", digits = size.div_ceil(4))
    }

    /// The slot `steps` before slot 1, as a Verilog literal.
    pub(super) fn before_first(&self, steps: u32) -> String {
        let place = self.order.len() - steps as usize;
        format!("{}'d{}", self.width, self.order[place % self.order.len()])
    }

    /// The place of every slot in the ring, that of slot 0 in the lowest `width` bits, as a Verilog
    /// literal. The ring has as many slots as `width` bits can name.
    pub(super) fn places_literal(&self) -> String {
        let size = self.order.len();
        let mut places = vec![0; size];
        self.order.iter().zip(0..).for_each(|(&slot, place)| places[slot as usize] = place);
        let bits: String =
            places.iter().rev().map(|place| format!("{place:0w$b}", w = self.width as usize)).collect();
        format!("{}'b{bits}", bits.len())
    }
}

/// Depth first: a path of `length` distinct slots that starts at 1 and closes.
fn search(width: u32, length: u32, preferred: impl Fn(u32) -> u32) -> Option<Vec<u32>> {
    let mask = (1 << width) - 1;
    let mut path = vec![(1_u32, 0_u32)];
    let mut used = 1_u64 << 1;
    for _ in 0..PATIENCE {
        let full = path.len() == length as usize;
        let (slot, tried) = path.last_mut()?;
        if *tried == 2 {
            used &= !(1 << *slot);
            path.pop();
            continue;
        }
        let next = (*slot << 1 | preferred(*slot) ^ *tried) & mask;
        *tried += 1;
        if full && next == 1 {
            return Some(path.into_iter().map(|(slot, _)| slot).collect());
        }
        if !full && used >> next & 1 == 0 {
            used |= 1 << next;
            path.push((next, 0));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_depth_has_a_ring_that_passes_each_slot_once() {
        for length in 2..=64 {
            let ring = Ring::of(length);
            let bits = u64::from_str_radix(ring.literal().split_once("'h").unwrap().1, 16).unwrap();
            let (mut slot, mut passed) = (1_u64, 0_u64);
            for _ in 0..length {
                assert_eq!(passed >> slot & 1, 0, "{length}: slot {slot} twice");
                passed |= 1 << slot;
                slot = (slot << 1 | bits >> slot & 1) & ((1 << ring.width) - 1);
            }
            assert_eq!(slot, 1, "{length}: the ring does not close");
        }
    }

    #[test]
    fn the_slot_before_the_first_is_the_last() {
        let ring = Ring::of(4);
        assert_eq!((ring.before_first(1), ring.before_first(4)), ("2'd0".to_owned(), "2'd1".to_owned()));
    }

    #[test]
    fn places_number_the_slots_in_their_order() {
        let ring = Ring::of(4);
        assert_eq!(ring.order, [1, 3, 2, 0]);
        assert_eq!(ring.places_literal(), "8'b01100011");
    }
}
