//! The table of cards: all that differs from one to another. A further card is an entry here, its name in
//! [`Board`], and a file of pins in `constraints/`.
//!
//! Sources. Both: UG1393 (HBM Configuration and Use: sizes of pseudo-channels, 460 GB/s), DS923, Vivado utilisation reports of
//! public designs. U280: DS963, UG1120, UG1314. U55C: DS978, UG1469; its FPGA has the dies and the package of the U280's, and
//! stacks of eight dies of HBM instead of four.

use crate::config::{Board, IoMemory};
use crate::design::card::fpga::{Fpga, Releases, Resources, Slr};

/// An SLR of the FPGA of both cards: a third of its LUTs and flip-flops.
const fn slr(index: u32, dsp: u64) -> Slr {
    let has = Resources { lut: 434_560, lutram_lut: 200_320, ff: 869_120, bram36: 672, uram: 320, dsp };
    Slr { index, has, first_clock_row: 4 * index }
}

/// The FPGA of both cards.
const VU37P: Resources =
    Resources { lut: 1_303_680, lutram_lut: 600_960, ff: 2_607_360, bram36: 2_016, uram: 960, dsp: 9_024 };

/// All cards, in the order of [`Board`].
static BOARDS: [Fpga; Board::ALL.len()] = [
    Fpga {
        board: Board::U280,
        name: "U280",
        pins: include_str!("../../../constraints/u280.xdc"),
        part: "xcu280-fsvh2892-2L-e",
        board_part: "xilinx.com:au280:part0:1.1",
        platform: "xilinx_u280_gen3x16_xdma_1_202211_1",
        // The card is at the end of its life: releases after these drop its platform.
        releases: Releases { first: 20221, last: 20231 },
        io: &[IoMemory::Ddr, IoMemory::Host, IoMemory::Hbm],
        pcie_block: "PCIE4C_X1Y0",
        has: VU37P,
        slrs: [slr(0, 2_880), slr(1, 3_072), slr(2, 3_072)],
        clock_columns: 8,
        crossings: 23_040,
        hbm_channels: 32,
        hbm_channel_bytes: 256 << 20,
        hbm_interface: "",
        // Half an SLR minus the free LUTs in the half with the shell, according to RapidStream's device factory (164 000,
        // 142 000 and 162 000).
        shell_lut: [53_280, 75_280, 55_280],
        // Half of the device has 11 520 wires to a boundary, of which the shell leaves 8 640.
        shell_crossings: 2_880,
    },
    Fpga {
        board: Board::U55c,
        name: "U55C",
        pins: include_str!("../../../constraints/u55c.xdc"),
        part: "xcu55c-fsvh2892-2L-e",
        board_part: "xilinx.com:au55c:part0:1.0",
        platform: "xilinx_u55c_gen3x16_xdma_3_202210_1",
        // The release notes of the Vitis libraries 2025.2 keep the U55C and drop U200, U250 and U280.
        releases: Releases { first: 20221, last: 20252 },
        // It has no DDR.
        io: &[IoMemory::Host, IoMemory::Hbm],
        pcie_block: "PCIE4C_X1Y0",
        has: VU37P,
        slrs: [slr(0, 2_880), slr(1, 3_072), slr(2, 3_072)],
        clock_columns: 8,
        crossings: 23_040,
        hbm_channels: 32,
        hbm_channel_bytes: 512 << 20,
        hbm_interface: "_8HI",
        // No list of what this shell leaves is public: the figures of the U280's stand in. RapidStream's cookbook
        // (digit_recognizer, run_u55c.py) takes 138 000, 147 000 and 164 000 LUTs of those halves away, so there are no fewer.
        shell_lut: [53_280, 75_280, 55_280],
        shell_crossings: 2_880,
    },
];

impl Fpga {
    /// All cards.
    pub fn all() -> &'static [Fpga] {
        &BOARDS
    }

    /// The FPGA of a board.
    pub fn of(board: Board) -> &'static Fpga {
        &BOARDS[board as usize]
    }
}

#[cfg(test)]
mod tests {
    use crate::design::card::boards::*;

    #[test]
    fn the_regions_of_each_card_add_up_to_its_fpga() {
        for fpga in Fpga::all() {
            let sum = fpga.slrs.iter().fold(Resources::default(), |sum, slr| sum.plus(&slr.has));
            assert_eq!(sum, fpga.has, "{}", fpga.name);
            assert!(fpga.slrs.iter().zip(fpga.shell_lut).all(|(slr, shell)| shell < slr.has.lut));
        }
    }

    #[test]
    fn every_board_finds_its_own_entry() {
        for (board, fpga) in Board::ALL.into_iter().zip(Fpga::all()) {
            assert_eq!((fpga.board, Fpga::of(board)), (board, fpga));
            assert_eq!(fpga.name.to_lowercase(), board.name());
            assert!(fpga.part.contains(board.name()) && fpga.platform.contains(board.name()));
            assert!(fpga.board_part.contains(&format!(":a{}:", board.name())), "{}", fpga.board_part);
            assert!(fpga.releases.first <= fpga.releases.last && !fpga.io.is_empty());
        }
    }

    #[test]
    fn channels_are_powers_of_two_and_the_addresses_of_hbm_have_33_and_34_bits() {
        let bits = |fpga: &Fpga| (u64::from(fpga.hbm_channels) * fpga.hbm_channel_bytes).ilog2();
        assert_eq!(Fpga::all().iter().map(bits).collect::<Vec<_>>(), [33, 34]);
        assert!(Fpga::all().iter().all(|fpga| fpga.hbm_channel_bytes.is_power_of_two()));
        assert_eq!(Fpga::all().iter().map(Fpga::hbm_gib).collect::<Vec<_>>(), [8, 16]);
    }
}
