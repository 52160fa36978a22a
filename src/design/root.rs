//! The pace of a reduce root.

use crate::config::Config;

/// Most numbers a cycle, and those of a root for which none are configured.
const MOST_LANES: u32 = 16;
const LANES: u32 = 8;
/// Bits of a number in a PART packet.
const NUMBER_BITS: u32 = 32;
/// Fewest cycles from the start of a packet to that of the next: its l is added up, the state of the next is looked
/// up and compared.
const BETWEEN: u64 = 9;
/// Cycles of a finished head in which none of its elements leaves its place: those of the way to the output, of the
/// load, and of the next head's l.
const BESIDE: u64 = 13;

/// Most numbers a cycle that a root of this design could merge: those of a flit, and at most 16.
pub(super) fn most_lanes(config: &Config) -> u32 {
    (config.noc.flit_width / NUMBER_BITS).min(MOST_LANES)
}

/// Returns the numbers of o that a root merges in a cycle.
pub fn root_lanes(config: &Config) -> u32 {
    config.pe.root_lanes.unwrap_or_else(|| most_lanes(config).min(LANES))
}

/// Returns the fewest cycles of a packet at a root that merges `lanes` numbers a cycle, with its flits present.
pub fn packet_cycles(head_dim: u32, lanes: u32) -> u64 {
    // l is added alone.
    u64::from(head_dim / lanes + 1).max(BETWEEN)
}

/// Returns the fewest cycles between two heads that a root finishes: one number a cycle, beside the merging of others.
pub fn finish_cycles(head_dim: u32) -> u64 {
    u64::from(head_dim) + BESIDE
}

/// Returns the fewest cycles of so many packets at a root, of which so many end their head.
pub fn root_cycles(config: &Config, packets: u64, heads: u64) -> u64 {
    let head_dim = config.pe.head_dim;
    (packets * packet_cycles(head_dim, root_lanes(config))).max(heads * finish_cycles(head_dim))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_eight_unless_a_flit_has_fewer_numbers() {
        let mut config = Config::default();
        for (flit_width, lanes, most) in [(64, 2, 2), (128, 4, 4), (256, 8, 8), (512, 8, 16), (1024, 8, 16)] {
            config.noc.flit_width = flit_width;
            assert_eq!((root_lanes(&config), most_lanes(&config)), (lanes, most), "{flit_width}");
        }
        config.pe.root_lanes = Some(1);
        assert_eq!(root_lanes(&config), 1);
    }

    #[test]
    fn a_root_takes_as_long_as_its_merging_or_its_finishing() {
        let config = Config::default();
        assert_eq!((packet_cycles(128, 8), packet_cycles(32, 16), finish_cycles(128)), (17, 9, 141));
        assert_eq!(
            [(80, 8), (8, 8)].map(|(packets, heads)| root_cycles(&config, packets, heads)),
            [1360, 1128]
        );
    }
}
