//! The port of a pseudo-channel of HBM, as the converters of the system without a shell see it.
//!
//! Source: AMD PG276, Port Descriptions: AXI3, beats of 256 bits only, bursts of at most 16.

use crate::design::Design;

/// Bits of a beat of a port.
const BEAT_BITS: u32 = 256;
/// Most beats of a burst.
pub const HBM_BURST_BEATS: u32 = 16;
/// Clock of a port, in MHz.
pub const HBM_MHZ: f64 = 450.0;

impl Design {
    /// Beats of HBM in a flit. None if a beat has several flits: then there are no converters, and the system without a
    /// shell takes the vendor's.
    pub fn hbm_ratio(&self) -> Option<u32> {
        let ratio = self.flit.data_width / BEAT_BITS;
        (ratio > 0).then_some(ratio)
    }

    /// Bits of an address of all of HBM.
    pub fn hbm_address_bits(&self) -> u32 {
        let fpga = self.fpga();
        (u64::from(fpga.hbm_channels) * fpga.hbm_channel_bytes).ilog2()
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::design::card::hbm::*;

    #[test]
    fn a_flit_of_512_bits_is_two_beats_and_a_narrow_one_has_no_converter() {
        let ratio = |flit_width| {
            let mut config = Config::default();
            config.noc.flit_width = flit_width;
            let design = Design::from_config("t", &config).unwrap();
            assert_eq!(design.hbm_address_bits(), 33);
            design.hbm_ratio()
        };
        assert_eq!([128, 256, 512].map(ratio), [None, Some(1), Some(2)]);
    }
}
