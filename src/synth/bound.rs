//! Lower bounds of the resources that any implementation of the same structure needs.
//!
//! Each bound counts one thing that synthesis cannot remove. Their sum is below any measurement, and the
//! difference is the most that could be saved. `docs/estimate.md` has the reasons.

use crate::design::{Design, Port, Resources, TURNS};
use crate::emit;

/// Width and depth of a LUT memory of eight LUTs (RAM32M16): seven LUTs of a SLICEM hold two bits each of 32
/// words, and the eighth drives the write address.
const RAM_BITS: u64 = 14;
const RAM_WORDS: u64 = 32;
const RAM_LUTS: u64 = 8;
/// Deepest queue that is certainly built of LUTs.
const LUT_QUEUE: u32 = 64;
/// Widest word of a block RAM, and bits of an UltraRAM.
const BLOCK_BITS: u64 = 72;
const URAM_BITS: u64 = 72 * 4096;
/// Bits of the significand of a weight, which a lane reads every cycle.
const SIGNIFICAND: u64 = 17;

/// A lower bound of one resource in a tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// The part that needs it.
    pub what: &'static str,
    /// Index of the resource in [`Resources::NAMES`].
    pub resource: usize,
    /// Formula of the amount.
    pub formula: String,
    /// Amount of the resource in one tile.
    pub tile: u64,
}

const LUT: usize = 0;
const LUTRAM: usize = 1;
const FF: usize = 2;
const BRAM: usize = 3;
const URAM: usize = 4;
const DSP: usize = 5;

impl Bound {
    fn new(resource: usize, what: &'static str, formula: String, tile: u64) -> Bound {
        Bound { what, resource, formula, tile }
    }
}

/// All bounds of a tile. The small logic around the tiles is left out.
pub fn lower_bounds(design: &Design) -> Vec<Bound> {
    [of_network(design), of_array(design)].concat()
}

/// Router, and the queue from it to the array.
fn of_network(design: &Design) -> Vec<Bound> {
    let flit = u64::from(design.flit.data_width);
    let (bits, ports) = (flit + u64::from(design.flit.head_width), Port::ALL.len() as u64);
    let inputs = |output| Port::ALL.iter().filter(|&&input| TURNS.allows(input, output)).count() as u64;
    let ways: Vec<u64> = Port::ALL.into_iter().map(inputs).collect();
    let listed = ways.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let crossbar = format!(
        "multiplexers of {listed} ways by output, {bits} bits of data and header: a LUT a bit for 3 or 4 ways, half for 2"
    );
    let slots = u64::from(design.router.vcs() * design.router.vc_depth);
    let buffers = format!("{ports} ports x {slots} slots x {bits} bits, 8 LUTs for each 32 x 14 bits");
    let depth = design.mare.fifo_depth;
    let queue = format!("{depth} flits x {flit} bits, 8 LUTs for each 32 x 14 bits");
    let mut bounds = vec![
        Bound::new(LUT, "crossbar", crossbar, ways.iter().map(|&ways| multiplexer(ways, bits)).sum()),
        Bound::new(LUTRAM, "input buffers", buffers, ports * memory(slots, bits)),
    ];
    if depth <= LUT_QUEUE {
        bounds.push(Bound::new(LUTRAM, "FIFO of KV flits", queue, memory(depth.into(), flit)));
    }
    bounds.push(Bound::new(FF, "output registers", format!("{ports} outputs x {bits} bits"), ports * bits));
    bounds
}

/// Rows of multipliers, and the memories beside them.
fn of_array(design: &Design) -> Vec<Bound> {
    let flit = u64::from(design.flit.data_width);
    let (rows, lanes) = (u64::from(design.pe.array_rows), flit / 16);
    // Blocks may be deeper than the slices in them.
    let staging = u64::from(design.mare.staging_slots * design.mare.slice_flits);
    let memories = emit::row_memories(design);
    let stations = match memories.stations_in_block {
        true => format!("{rows} rows x {lanes} lanes x {SIGNIFICAND} bits a cycle, 72 a block"),
        false => "kept in LUTs".to_owned(),
    };
    let station_blocks = rows * (lanes * SIGNIFICAND).div_ceil(BLOCK_BITS);
    let slices = format!("{staging} flits of whole slices x {flit} bits, 72 x 4096 a block");
    let sums = match memories.sums_in_ultra {
        true => format!("{rows} rows, one read and one written a cycle each: one of two ports"),
        false => "kept in block RAM".to_owned(),
    };
    let multipliers = format!("{rows} rows x {lanes} lanes, 11 by 17 bits: two do not fit a DSP");
    let passed = format!("({rows} - 1) rows x {flit} bits");
    vec![
        Bound::new(FF, "flit from row to row", passed, (rows - 1) * flit),
        Bound::new(
            BRAM,
            "stationary vectors",
            stations,
            u64::from(memories.stations_in_block) * station_blocks,
        ),
        Bound::new(URAM, "staging memory", slices, (staging * flit).div_ceil(URAM_BITS)),
        Bound::new(URAM, "sums", sums, u64::from(memories.sums_in_ultra) * rows),
        Bound::new(DSP, "multipliers", multipliers, rows * lanes),
    ]
}

/// Sum of the bounds of a tile. LUTs as memory also count as LUTs.
pub fn bound_of_tile(design: &Design) -> Resources {
    let mut sum = [0; 6];
    lower_bounds(design).iter().for_each(|bound| sum[bound.resource] += bound.tile);
    sum[LUT] += sum[LUTRAM];
    Resources::of(sum)
}

/// LUTs of a multiplexer: one bit of four ways takes the six inputs of a LUT; two bits of two ways share a
/// LUT, since they share the select.
fn multiplexer(ways: u64, bits: u64) -> u64 {
    match ways {
        0 | 1 => 0,
        2 => bits.div_ceil(2),
        _ => ways.div_ceil(4) * bits,
    }
}

/// Least LUTs of a memory of this width and depth.
fn memory(words: u64, bits: u64) -> u64 {
    words.div_ceil(RAM_WORDS) * bits * RAM_LUTS / RAM_BITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn design(change: impl Fn(&mut Config)) -> Design {
        let mut config = Config::default();
        change(&mut config);
        Design::from_config("t", &config).unwrap()
    }

    fn tile(bounds: &[Bound], what: &str) -> u64 {
        bounds.iter().find(|b| b.what == what).unwrap().tile
    }

    #[test]
    fn the_reference_has_the_bounds_that_its_structure_asks_for() {
        let design = design(|_| {});
        let (bounds, head) = (lower_bounds(&design), u64::from(design.flit.head_width));
        // Four-way to north, south and tile, two-way to east and west: four LUTs a bit.
        assert_eq!(tile(&bounds, "crossbar"), 3 * (512 + head) + 2 * (512 + head).div_ceil(2));
        assert_eq!(tile(&bounds, "multipliers"), 64);
        assert_eq!(tile(&bounds, "staging memory"), 8);
        assert_eq!(tile(&bounds, "output registers"), 5 * (512 + head));
        let sum = bound_of_tile(&design);
        assert_eq!(sum.lut, tile(&bounds, "crossbar") + sum.lutram_lut);
    }

    #[test]
    fn half_the_flit_asks_for_half_the_multipliers_and_staging() {
        let half = lower_bounds(&design(|c| c.noc.flit_width = 256));
        assert_eq!((tile(&half, "multipliers"), tile(&half, "staging memory")), (32, 8));
        let narrow = lower_bounds(&design(|c| (c.noc.flit_width, c.kv.uram_per_tile) = (256, 4)));
        assert_eq!(tile(&narrow, "staging memory"), 4);
    }

    #[test]
    fn a_multiplexer_takes_no_more_inputs_than_luts_have() {
        assert_eq!([0, 1, 2, 3, 4, 5, 8].map(|ways| multiplexer(ways, 10)), [0, 0, 5, 10, 10, 20, 20]);
    }
}
