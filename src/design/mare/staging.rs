//! The staging memory of a tile: URAM288 blocks that form one memory of flits.

use crate::config::Config;

/// Width of one URAM288 in bits.
pub const URAM_WIDTH: u32 = 72;
/// Words of one URAM288.
pub const URAM_DEPTH: u32 = 4096;

/// UltraRAMs of a memory: blocks side by side, and as many deep as it has words.
pub fn ultra_blocks(width: u32, words: u32) -> u32 {
    width.div_ceil(URAM_WIDTH) * words.div_ceil(URAM_DEPTH)
}

/// Bits of a flit in the staging memory of a configuration: with parity, each byte has a ninth bit.
pub fn staged_bits(config: &Config) -> u32 {
    config.noc.flit_width + if config.noc.parity { config.noc.flit_width / 8 } else { 0 }
}

/// Dimensions of one tile's staging memory.
///
/// Blocks are placed in parallel until they are as wide as a flit. Remaining blocks add depth: a narrow flit
/// gets a deeper memory, not unused width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Staging {
    /// Blocks in parallel.
    pub blocks_wide: u32,
    /// Blocks in depth; 0 when there are too few for the width of a flit.
    pub blocks_deep: u32,
    /// Flits of the whole memory.
    pub flits: u32,
    /// Flits of one window.
    pub window_flits: u32,
}

impl Staging {
    /// Computes the dimensions from a configuration, legal or not.
    pub fn new(config: &Config) -> Staging {
        let blocks_wide = staged_bits(config).div_ceil(URAM_WIDTH).max(1);
        let blocks_deep = config.kv.uram_per_tile / blocks_wide;
        let flits = blocks_deep * URAM_DEPTH;
        Staging { blocks_wide, blocks_deep, flits, window_flits: flits / config.kv.banks.max(1) }
    }
}

#[cfg(test)]
mod tests {
    use crate::design::mare::staging::*;

    fn staging(flit_width: u32, uram_per_tile: u32) -> Staging {
        let mut config = Config::default();
        config.noc.flit_width = flit_width;
        config.kv.uram_per_tile = uram_per_tile;
        Staging::new(&config)
    }

    #[test]
    fn the_default_memory_is_eight_blocks_wide_and_one_deep() {
        let expected = Staging { blocks_wide: 8, blocks_deep: 1, flits: 4096, window_flits: 1024 };
        assert_eq!(staging(512, 8), expected);
    }

    #[test]
    fn a_narrow_flit_gets_a_deeper_memory() {
        let expected = Staging { blocks_wide: 1, blocks_deep: 8, flits: 32768, window_flits: 8192 };
        assert_eq!(staging(64, 8), expected);
    }

    #[test]
    fn too_few_blocks_for_a_flit_hold_nothing() {
        assert_eq!(staging(1024, 14).flits, 0);
        assert_eq!(staging(1024, 15).flits, 4096);
    }
}
