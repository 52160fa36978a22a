//! Sums that the reduce roots of compiled Verilog show before they divide and round.
//!
//! An output in FP16 has 11 bits of a sum of up to 72, so a slip of the last place seldom shows in it.

use crate::cosim::dut::pins::Pins;
use crate::cosim::dut::{group_pins, DutError};
use crate::cosim::workloads::attention::result::HeadSums;
use crate::design::Design;
use crate::emit::ModuleSpec;
use std::collections::{BTreeMap, VecDeque};

group_pins! {
    /// One per column.
    SumPins { merge_sum_valid merge_sum_first merge_sum_max merge_sum_data }
}

/// Collects the sums, a few numbers at a time.
pub(in crate::cosim::workloads::attention) struct RootSums {
    at: SumPins,
    /// Numbers of a head: l and o.
    numbers: usize,
    /// Bits of a number, and numbers of o that a root shows at a time.
    bits: u32,
    lanes: u32,
    /// Numbers that each column shows now, and those of its heads whose outputs are still to come.
    open: Vec<HeadSums>,
    shown: Vec<VecDeque<HeadSums>>,
    done: BTreeMap<(u32, u32), HeadSums>,
}

impl RootSums {
    /// Looks the ports up in the core.
    pub(in crate::cosim::workloads::attention) fn find(
        pins: &mut Pins,
        top: &ModuleSpec,
        design: &Design,
    ) -> Result<RootSums, DutError> {
        let cols = design.mesh.cols();
        let none = HeadSums { max: None, numbers: Vec::new() };
        let (at, lanes) = (SumPins::find(pins, top, cols)?, design.pe.finish_lanes);
        Ok(RootSums {
            at,
            bits: at.merge_sum_data.width / lanes,
            lanes,
            numbers: design.pe.head_dim as usize + 1,
            open: vec![none; cols as usize],
            shown: vec![VecDeque::new(); cols as usize],
            done: BTreeMap::new(),
        })
    }

    /// Takes the numbers of a period.
    pub(in crate::cosim::workloads::attention) fn look(&mut self, pins: &Pins) {
        for (x, sums) in self.open.iter_mut().enumerate() {
            if pins.get(self.at.merge_sum_valid, x) == 0 {
                continue;
            }
            let first = pins.get(self.at.merge_sum_first, x) == 1;
            if first {
                sums.max = Some(pins.get(self.at.merge_sum_max, x) as u32 as i32);
                sums.numbers.clear();
            }
            let words: Vec<u32> = pins.part(self.at.merge_sum_data, x).collect();
            // l is alone.
            let lanes = if first { 1 } else { self.lanes };
            sums.numbers.extend((0..lanes).map(|lane| signed(&words, lane * self.bits, self.bits)));
            if sums.numbers.len() == self.numbers {
                self.shown[x].push_back(sums.clone());
            }
        }
    }

    /// Notes that a column has returned the output of this (stream, head): outputs come in the order of the sums.
    pub(in crate::cosim::workloads::attention) fn output(&mut self, x: usize, of: (u32, u32)) {
        let sums = self.shown[x].pop_front();
        self.done.extend(sums.map(|sums| (of, sums)));
    }

    /// Takes the sums of all heads that were complete.
    pub(in crate::cosim::workloads::attention) fn take(&mut self) -> BTreeMap<(u32, u32), HeadSums> {
        std::mem::take(&mut self.done)
    }
}

/// A number of so many bits in two's complement, at most 96, from bit `at` of little-endian words.
fn signed(words: &[u32], at: u32, bits: u32) -> i128 {
    let words = words.iter().skip(at as usize / 32).take(4).enumerate();
    let all = words.fold(0_u128, |all, (i, word)| all | u128::from(*word) << (32 * i)) >> (at % 32);
    let above = 128 - bits;
    (all << above) as i128 >> above
}

#[cfg(test)]
mod tests {
    use crate::cosim::workloads::attention::observed::root_sums::signed;

    #[test]
    fn the_top_bit_is_the_sign() {
        assert_eq!(signed(&[5, 0, 0], 0, 72), 5);
        assert_eq!(signed(&[u32::MAX, u32::MAX, 0xff], 0, 72), -1);
        assert_eq!(signed(&[0, 1 << 29], 0, 62), -1 << 61);
        assert_eq!(signed(&[7, 1 << 28], 0, 62), (1 << 60) + 7);
    }

    #[test]
    fn a_number_begins_at_any_bit() {
        let words: Vec<u32> = (1..=12).collect();
        let bit = |at: u32| i128::from(words[at as usize / 32] >> (at % 32) & 1);
        for (at, bits) in [(0, 64), (69, 69), (138, 72), (31, 65), (255, 96)] {
            let sign = bit(at + bits - 1) << (bits - 1);
            let below: i128 = (0..bits - 1).map(|i| bit(at + i) << i).sum();
            assert_eq!(signed(&words, at, bits), below - sign, "{at}, {bits}");
        }
    }
}
