//! Sums that the reduce roots of compiled Verilog show before they divide and round.
//!
//! An output in FP16 has 11 bits of a sum of up to 72, so a slip of the last place seldom shows in it.

use super::result::HeadSums;
use crate::cosim::dut::pins::Pins;
use crate::cosim::dut::{group_pins, DutError};
use crate::design::Design;
use crate::emit::ModuleSpec;
use std::collections::{BTreeMap, VecDeque};

group_pins! {
    /// One per column.
    SumPins { merge_sum_valid merge_sum_first merge_sum_max merge_sum_data }
}

/// Collects the sums, number by number.
pub(super) struct RootSums {
    at: SumPins,
    /// Numbers of a head: l and o.
    numbers: usize,
    /// Numbers that each column shows now, and those of its heads whose outputs are still to come.
    open: Vec<HeadSums>,
    shown: Vec<VecDeque<HeadSums>>,
    done: BTreeMap<(u32, u32), HeadSums>,
}

impl RootSums {
    /// Looks the ports up in the core.
    pub(super) fn find(pins: &mut Pins, top: &ModuleSpec, design: &Design) -> Result<RootSums, DutError> {
        let cols = design.mesh.cols();
        let none = HeadSums { max: None, numbers: Vec::new() };
        Ok(RootSums {
            at: SumPins::find(pins, top, cols)?,
            numbers: design.config.pe.head_dim as usize + 1,
            open: vec![none; cols as usize],
            shown: vec![VecDeque::new(); cols as usize],
            done: BTreeMap::new(),
        })
    }

    /// Takes the numbers of a period.
    pub(super) fn look(&mut self, pins: &Pins) {
        for (x, sums) in self.open.iter_mut().enumerate() {
            if pins.get(self.at.merge_sum_valid, x) == 0 {
                continue;
            }
            if pins.get(self.at.merge_sum_first, x) == 1 {
                sums.max = Some(pins.get(self.at.merge_sum_max, x) as u32 as i32);
                sums.numbers.clear();
            }
            let words: Vec<u32> = pins.part(self.at.merge_sum_data, x).collect();
            sums.numbers.push(signed(&words, self.at.merge_sum_data.width));
            if sums.numbers.len() == self.numbers {
                self.shown[x].push_back(sums.clone());
            }
        }
    }

    /// Notes that a column has returned the output of this (stream, head): outputs come in the order of the sums.
    pub(super) fn output(&mut self, x: usize, of: (u32, u32)) {
        let sums = self.shown[x].pop_front();
        self.done.extend(sums.map(|sums| (of, sums)));
    }

    /// Takes the sums of all heads that were complete.
    pub(super) fn take(&mut self) -> BTreeMap<(u32, u32), HeadSums> {
        std::mem::take(&mut self.done)
    }
}

/// A number of so many bits in two's complement, at most 128, from little-endian words.
fn signed(words: &[u32], bits: u32) -> i128 {
    let all = words.iter().rev().fold(0_u128, |all, word| all << 32 | u128::from(*word));
    let above = 128 - bits;
    (all << above) as i128 >> above
}

#[cfg(test)]
mod tests {
    use super::signed;

    #[test]
    fn the_top_bit_is_the_sign() {
        assert_eq!(signed(&[5, 0, 0], 72), 5);
        assert_eq!(signed(&[u32::MAX, u32::MAX, 0xff], 72), -1);
        assert_eq!(signed(&[0, 1 << 29], 62), -1 << 61);
        assert_eq!(signed(&[7, 1 << 28], 62), (1 << 60) + 7);
    }
}
