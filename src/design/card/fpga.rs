//! An FPGA and its card: resources by region, memory, tools. `boards` has the table of all cards.

use crate::config::{Board, IoMemory};
use schemars::JsonSchema;
use serde::Serialize;

/// Resources of a region or a design, as a utilisation report counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Resources {
    /// Look-up tables, including those used as memory.
    pub lut: u64,
    /// Look-up tables used as memory or shift registers, included in `lut`.
    pub lutram_lut: u64,
    /// Flip-flops.
    pub ff: u64,
    /// Block RAMs of 36 Kibit.
    pub bram36: u64,
    /// UltraRAMs of 288 Kibit.
    pub uram: u64,
    /// DSP48E2 slices.
    pub dsp: u64,
}

impl Resources {
    /// Names of the resources, in the order of [`Resources::values`].
    pub const NAMES: [&'static str; 6] = ["lut", "lutram_lut", "ff", "bram36", "uram", "dsp"];

    /// All of them, in the order of [`Resources::NAMES`].
    pub fn values(&self) -> [u64; 6] {
        [self.lut, self.lutram_lut, self.ff, self.bram36, self.uram, self.dsp]
    }

    /// Resources from values in the order of [`Resources::NAMES`].
    pub fn of([lut, lutram_lut, ff, bram36, uram, dsp]: [u64; 6]) -> Resources {
        Resources { lut, lutram_lut, ff, bram36, uram, dsp }
    }

    /// Sum of both.
    #[must_use]
    pub fn plus(&self, other: &Resources) -> Resources {
        let (a, b) = (self.values(), other.values());
        Resources::of(std::array::from_fn(|i| a[i] + b[i]))
    }

    /// Product with `count`.
    #[must_use]
    pub fn times(&self, count: u64) -> Resources {
        Resources::of(self.values().map(|value| value * count))
    }
}

/// Bytes from which on XRT gives no buffer. Source: UG1393, which asks for less than 4 GB a buffer.
pub const BUFFER_LIMIT: u64 = 4 << 30;

/// A super logic region: a die of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slr {
    /// Number; SLR0 is adjacent to HBM and PCIe.
    pub index: u32,
    /// Its resources. Look-up tables and flip-flops are a third of the FPGA's, which reports do not split.
    pub has: Resources,
    /// Its first row of clock regions; it has four, `X0` to `X7` each.
    pub first_clock_row: u32,
}

/// Releases of Vivado and Vitis, each as `10 * year + number`: 20222 is 2022.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Releases {
    /// The first that is supported.
    pub first: u32,
    /// The last.
    pub last: u32,
}

impl Releases {
    /// First and last as the vendor writes them: `2022.1` and `2023.1`.
    pub fn shown(&self) -> [String; 2] {
        [self.first, self.last].map(|release| format!("{}.{}", release / 10, release % 10))
    }
}

/// An FPGA card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fpga {
    /// Its name in a configuration, and in the names of its files.
    pub board: Board,
    /// Its name in texts: `U280`.
    pub name: &'static str,
    /// Constraints of its pins and of its configuration, for the system without a shell.
    pub pins: &'static str,
    /// Releases of Vivado and Vitis that its scripts accept.
    pub releases: Releases,
    /// Memories that `m_axi_io` can have under the shell, the default first.
    pub io: &'static [IoMemory],
    /// The block of PCIe with 16 lanes at the edge connector.
    pub pcie_block: &'static str,
    /// Part as Vivado names it.
    pub part: &'static str,
    /// Board part as Vivado names it.
    pub board_part: &'static str,
    /// Vitis platform.
    pub platform: &'static str,
    /// Resources of the whole FPGA.
    pub has: Resources,
    /// Its super logic regions.
    pub slrs: [Slr; 3],
    /// Columns of clock regions.
    pub clock_columns: u32,
    /// Signals that can cross a boundary between two SLRs (SLLs).
    pub crossings: u32,
    /// Pseudo-channels of HBM, with an AXI port of 256 bits each, all adjacent to SLR0.
    pub hbm_channels: u32,
    /// Bytes of a pseudo-channel.
    pub hbm_channel_bytes: u64,
    /// End of the names of the AXI interfaces of the vendor's IP of HBM, which differ with the height of the stacks.
    pub hbm_interface: &'static str,
    /// LUTs that the shell of the Vitis platform uses in each SLR.
    pub shell_lut: [u64; 3],
    /// Wires of a boundary that the shell of the Vitis platform takes.
    pub shell_crossings: u64,
}

impl Fpga {
    /// GiB of HBM.
    pub fn hbm_gib(&self) -> u64 {
        (u64::from(self.hbm_channels) * self.hbm_channel_bytes) >> 30
    }

    /// Rows of clock regions: four an SLR.
    pub fn clock_rows(&self) -> u32 {
        4 * self.slrs.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use crate::design::card::fpga::*;

    #[test]
    fn resources_add_and_multiply_each_by_itself() {
        let r = Resources::of([1, 2, 3, 4, 5, 6]);
        assert_eq!(r.plus(&r.times(2)), Resources::of([3, 6, 9, 12, 15, 18]));
    }
}
