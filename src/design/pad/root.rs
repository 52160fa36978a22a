//! The pace of a reduce root.

use crate::config::Config;

/// Most numbers of a packet that a root merges a cycle.
const MOST_LANES: u32 = 16;
/// Bits of a number in a PART packet.
pub(in crate::design) const NUMBER_BITS: u32 = 32;
/// Fewest cycles from the start of a packet to that of the next: its l is added up, the state of the next is looked
/// up and compared.
const BETWEEN: u64 = 9;
/// Most numbers of a finished head that leave a root in a cycle.
const MOST_FINISHED: u32 = 4;
/// Cycles of a finished head in which none of its elements leaves its place: those of the load, and of the next head's l.
const BESIDE: u64 = 2;
/// Fewest cycles from the division by one head's l to that by the next.
pub(in crate::design) const DIVISION: u64 = 27;

/// Most numbers a cycle that a root of this design could merge: those of a flit, and at most 16.
pub(in crate::design) fn most_lanes(config: &Config) -> u32 {
    (config.noc.flit_width / NUMBER_BITS).min(MOST_LANES)
}

/// Returns the numbers of o that a root merges in a cycle.
pub fn root_lanes(config: &Config) -> u32 {
    config.pe.root_lanes.unwrap_or_else(|| most_lanes(config))
}

/// Returns the fewest cycles of a packet at a root that merges `lanes` numbers a cycle, with its flits present.
pub fn packet_cycles(head_dim: u32, lanes: u32) -> u64 {
    // l is added alone.
    u64::from(head_dim / lanes + 1).max(BETWEEN)
}

/// Returns the numbers of a finished head that leave a root in a cycle: four, or those that it merges if they are fewer.
pub fn finish_lanes(config: &Config) -> u32 {
    root_lanes(config).min(MOST_FINISHED)
}

/// Returns the fewest cycles between two heads that a root finishes, `lanes` numbers a cycle, beside the merging of others.
pub fn finish_cycles(head_dim: u32, lanes: u32) -> u64 {
    (u64::from(head_dim / lanes) + BESIDE).max(DIVISION)
}

#[cfg(test)]
mod tests {
    use crate::design::pad::root::*;

    #[test]
    fn lanes_are_sixteen_unless_a_flit_has_fewer_numbers() {
        let mut config = Config::default();
        for (flit_width, lanes) in [(64, 2), (128, 4), (256, 8), (512, 16), (1024, 16)] {
            config.noc.flit_width = flit_width;
            assert_eq!((root_lanes(&config), most_lanes(&config)), (lanes, lanes), "{flit_width}");
            assert_eq!(finish_lanes(&config), lanes.min(4), "{flit_width}");
        }
        config.pe.root_lanes = Some(1);
        assert_eq!((root_lanes(&config), finish_lanes(&config)), (1, 1));
    }

    #[test]
    fn a_packet_and_a_finished_head_have_least_cycles() {
        assert_eq!((packet_cycles(128, 8), packet_cycles(32, 16)), (17, 9));
        assert_eq!((finish_cycles(128, 4), finish_cycles(128, 1), finish_cycles(32, 4)), (34, 130, 27));
    }
}
