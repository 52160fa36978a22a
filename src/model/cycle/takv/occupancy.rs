//! Occupancy: slots that a home uses in its router, summed over a step (`meshkv_occupancy`).

use crate::design::depths::VALUE_WIDTH;
use crate::design::index_bits;
use crate::model::cycle::mare::{low_bits, MareParams};

/// Sum of this step, mean of the steps before, and the register of the chain of values.
#[derive(Debug, Clone)]
pub struct Occupancy {
    used: u64,
    used_width: u32,
    sum: u64,
    mean: u64,
    /// The mean is sent in the next period.
    own: bool,
    to_south: Option<u64>,
}

impl Occupancy {
    /// Creates the counter in its reset state.
    pub fn new(params: &MareParams) -> Occupancy {
        let slots = params.vc_depth * (params.vcs - params.vn0_vcs - 1);
        let used_width = index_bits(slots + 1);
        Occupancy { used: 0, used_width, sum: 0, mean: 0, own: false, to_south: None }
    }

    /// Value to the next row in the south: a register.
    pub fn to_south(&self) -> Option<u64> {
        self.to_south
    }

    /// Advances one clock period. `sample`: the values are collected. `credit`: slots that became free.
    pub fn step(&mut self, sample: bool, send: bool, credit: u32, from_north: Option<u64>) {
        let own = self.own.then_some(self.mean);
        self.to_south = own.or(from_north);
        self.own = sample;
        let full = self.sum >> self.used_width == low_bits(VALUE_WIDTH - self.used_width);
        if sample {
            // Half of the mean before and half of this step.
            self.mean = (self.sum + self.mean) >> 1;
            self.sum = self.used;
        } else if !full {
            self.sum += self.used;
        }
        let used = self.used.wrapping_add(u64::from(send)).wrapping_sub(u64::from(credit));
        self.used = used & low_bits(self.used_width);
    }
}
