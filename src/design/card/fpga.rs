//! The FPGA and its card: resources by region. Sources: AMD DS963 and DS923, UG1120 and UG1314 for the card,
//! Vivado utilisation reports of public designs.

use crate::config::Board;
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

/// An FPGA card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fpga {
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
    /// LUTs that the shell of the Vitis platform uses in each SLR: half an SLR minus the free LUTs in the
    /// half with the shell, according to RapidStream's device factory (164 000, 142 000 and 162 000).
    pub shell_lut: [u64; 3],
    /// Wires of a boundary that the shell of the Vitis platform takes.
    pub shell_crossings: u64,
}

/// An SLR of the U280: a third of its LUTs and flip-flops.
const fn slr(index: u32, dsp: u64) -> Slr {
    let has = Resources { lut: 434_560, lutram_lut: 200_320, ff: 869_120, bram36: 672, uram: 320, dsp };
    Slr { index, has, first_clock_row: 4 * index }
}

const U280: Fpga = Fpga {
    part: "xcu280-fsvh2892-2L-e",
    board_part: "xilinx.com:au280:part0:1.1",
    platform: "xilinx_u280_gen3x16_xdma_1_202211_1",
    has: Resources {
        lut: 1_303_680,
        lutram_lut: 600_960,
        ff: 2_607_360,
        bram36: 2_016,
        uram: 960,
        dsp: 9_024,
    },
    slrs: [slr(0, 2_880), slr(1, 3_072), slr(2, 3_072)],
    clock_columns: 8,
    crossings: 23_040,
    hbm_channels: 32,
    hbm_channel_bytes: 256 << 20,
    shell_lut: [53_280, 75_280, 55_280],
    // Half of the device has 11 520 wires to a boundary, of which the shell leaves 8 640.
    shell_crossings: 2_880,
};

impl Fpga {
    /// The FPGA of a board.
    pub fn of(board: Board) -> &'static Fpga {
        match board {
            Board::U280 => &U280,
        }
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

    #[test]
    fn regions_add_up_to_the_device() {
        let fpga = Fpga::of(Board::U280);
        let sum = fpga.slrs.iter().fold(Resources::default(), |sum, slr| sum.plus(&slr.has));
        assert_eq!(sum, fpga.has);
    }
}
