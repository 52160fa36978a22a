//! The device and its card: what it has, region by region. Sources: AMD DS963 and DS923, UG1120 and UG1314 for the card,
//! Vivado utilisation reports of public designs.

use crate::config::Board;

/// Resources of a region, or of a design: what a utilisation report counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resources {
    /// Look-up tables, those used as memory included.
    pub lut: u64,
    /// Of them the look-up tables used as memory or shift registers.
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

/// A super logic region: a die of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slr {
    /// Number, from the one beside HBM and PCIe upwards.
    pub index: u32,
    /// What it has. Look-up tables and flip-flops are a third of the device's, which reports do not split.
    pub has: Resources,
    /// Its first row of clock regions; it has four, `X0` to `X7` each.
    pub first_clock_row: u32,
}

/// An FPGA card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Device {
    /// Part as Vivado names it.
    pub part: &'static str,
    /// Board part as Vivado names it.
    pub board_part: &'static str,
    /// Vitis platform.
    pub platform: &'static str,
    /// What the device has.
    pub has: Resources,
    /// Its super logic regions.
    pub slrs: [Slr; 3],
    /// Columns of clock regions.
    pub clock_columns: u32,
    /// Signals that can cross a boundary between two SLRs (SLLs).
    pub crossings: u32,
    /// Pseudo-channels of HBM, with an AXI port of 256 bits each, all beside SLR0.
    pub hbm_channels: u32,
    /// Bytes of a pseudo-channel.
    pub hbm_channel_bytes: u64,
}

/// An SLR of the U280: LUTs and flip-flops a third of the device's.
const fn slr(index: u32, dsp: u64) -> Slr {
    let has = Resources { lut: 434_560, lutram_lut: 200_320, ff: 869_120, bram36: 672, uram: 320, dsp };
    Slr { index, has, first_clock_row: 4 * index }
}

const U280: Device = Device {
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
};

impl Device {
    /// The device of a board.
    pub fn of(board: Board) -> &'static Device {
        match board {
            Board::U280 => &U280,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_add_up_to_the_device() {
        let device = Device::of(Board::U280);
        let sum = |of: fn(&Resources) -> u64| device.slrs.iter().map(|s| of(&s.has)).sum::<u64>();
        let kinds: [fn(&Resources) -> u64; 6] =
            [|r| r.lut, |r| r.lutram_lut, |r| r.ff, |r| r.bram36, |r| r.uram, |r| r.dsp];
        for of in kinds {
            assert_eq!(sum(of), of(&device.has));
        }
    }
}
