//! Turns of a router: the outputs that flits of each input may take.
//!
//! The router's template takes its masks from this one description, and the graph of [`crate::design::network::deadlock`] is
//! checked against it.

use crate::design::network::mesh::Port;
use Port::{East, Local, North, South, West};

/// The turns of the hardware: row to row, row to column, row or column to the tile, tile to any link. Absent:
/// column to row, back to the sender, and tile to itself.
pub const TURNS: Turns = Turns::of(&[
    (North, &[South, Local]),
    (South, &[North, Local]),
    (East, &[North, South, West, Local]),
    (West, &[North, South, East, Local]),
    (Local, &[North, South, East, West]),
]);

/// Groups of outputs that a router grants in parallel, group by group: an input that wins in one group asks later groups
/// only for copies of that flit. With three stages (`staged`) there are two groups, and the second does not wait for the
/// grants of the first: it goes by those of which an input is sure.
pub fn decided(staged: bool) -> &'static [&'static [Port]] {
    match staged {
        true => &[&[North, South], &[East, West, Local]],
        false => &[&[North, South], &[East, West], &[Local]],
    }
}

/// A set of outputs for each input of a router. An input is named after the side on which its flits arrive:
/// flits at `North` come from the northern neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turns([u8; 5]);

impl Turns {
    /// No turn at all.
    pub const NONE: Turns = Turns([0; 5]);

    /// The turns of a list of inputs, each with the outputs that its flits may take.
    pub const fn of(list: &[(Port, &[Port])]) -> Turns {
        let mut turns = Turns::NONE;
        let mut i = 0;
        while i < list.len() {
            let (input, outputs) = list[i];
            let mut o = 0;
            while o < outputs.len() {
                turns = turns.with(input, outputs[o]);
                o += 1;
            }
            i += 1;
        }
        turns
    }

    /// These turns and one more.
    #[must_use]
    pub const fn with(mut self, input: Port, output: Port) -> Turns {
        self.0[input as usize] |= 1 << output as usize;
        self
    }

    /// True if a flit of `input` may take `output`.
    pub fn allows(self, input: Port, output: Port) -> bool {
        self.mask(input) & (1 << output.index()) != 0
    }

    /// The outputs of one input, bit [`Port::index`] each: parameter `OUTPUTS` of its buffers.
    pub const fn mask(self, input: Port) -> u8 {
        self.0[input as usize]
    }

    /// Choices that inputs make between two outputs of one group, because they may ask both: (input, output, output). The
    /// order is that of the random bits of [`SLIP_BITS`](crate::design::SLIP_BITS): group by group, and pair by pair.
    pub fn choices(self, decided: &[&[Port]]) -> Vec<(Port, Port, Port)> {
        let pairs = decided.iter().flat_map(|outputs| match outputs {
            [a, b] => vec![(*a, *b)],
            [a, b, c] => vec![(*a, *b), (*b, *c), (*a, *c)],
            _ => Vec::new(),
        });
        let both = |a, b| Port::ALL.into_iter().filter(move |&i| self.allows(i, a) && self.allows(i, b));
        pairs.flat_map(|(a, b)| both(a, b).map(move |input| (input, a, b))).collect()
    }

    /// Every turn as (input, output), in index order.
    pub fn pairs(self) -> impl Iterator<Item = (Port, Port)> {
        let all = Port::ALL.into_iter().flat_map(|i| Port::ALL.into_iter().map(move |o| (i, o)));
        all.filter(move |&(input, output)| self.allows(input, output))
    }
}

#[cfg(test)]
mod tests {
    use crate::design::network::turns::*;

    #[test]
    fn nothing_turns_from_a_column_into_a_row_nor_back() {
        for (input, output) in TURNS.pairs() {
            assert_ne!(input, output, "a flit goes back");
            let column = |port| matches!(port, North | South);
            assert!(!column(input) || !matches!(output, East | West), "{input:?} to {output:?}");
        }
        assert_eq!(TURNS.pairs().count(), 16);
    }

    #[test]
    fn a_mask_has_a_bit_for_each_output() {
        assert_eq!(TURNS.mask(North), 0b10010);
        assert_eq!(TURNS.mask(Local), 0b01111);
    }
}
