//! Parameters that all routers of a mesh share, and tables for the Verilog's priority logic.

use crate::design::{Class, Design, STARVE_LIMIT};
use crate::model::cycle::network::flits::lanes::spread;

/// Largest number of tiles; a byte names a tile.
pub(super) const MOST_TILES: usize = 256;

/// Upper bound on the links into routers and tiles; a power of two.
pub(super) const MOST_LINKS: usize = 2048;

/// Largest number of virtual channels of a port.
pub(super) const MOST_VCS: usize = 8;

/// Widths and masks. A mask has a bit for each virtual channel.
#[derive(Debug, Clone)]
pub(super) struct NetworkParams {
    /// Virtual channels of a port.
    pub(super) vcs: u8,
    /// Channels of VN0, the first ones.
    pub(super) vn0: u8,
    /// Channels of KV_DATA, the last ones.
    pub(super) num_data: u8,
    /// Flits that a virtual channel buffers.
    pub(super) depth: u8,
    pub(super) all: u8,
    pub(super) vn0_mask: u8,
    /// Channels of VN1 in all lanes, and those of KV_DATA.
    pub(super) vn1_lanes: u64,
    pub(super) data_lanes: u64,
    /// Bit y: links between rows y and y + 1 cross from one SLR to another.
    pub(super) crossings: u16,
    /// Times a head may be passed over.
    pub(super) patience: u8,
    /// Grants are registered before buffers are read: routers of three stages.
    pub(super) staged: bool,
    /// By KV_DATA channel whose turn it is: channels that may request, in all lanes. They are that one and
    /// all with one destination.
    pub(super) offers: [u64; MOST_VCS],
}

impl NetworkParams {
    pub(super) fn new(design: &Design) -> NetworkParams {
        let router = design.router;
        let mask = |class| router.vcs_of_class(class).fold(0, |mask, vc| mask | 1_u8 << vc);
        let (data, single) = (mask(Class::KvData), mask(Class::Part) | mask(Class::KvFetch));
        NetworkParams {
            vcs: router.vcs() as u8,
            vn0: router.vn0_vcs as u8,
            num_data: data.count_ones() as u8,
            depth: router.vc_depth as u8,
            all: mask(Class::Part) | mask(Class::KvFetch) | data,
            vn0_mask: mask(Class::Part),
            vn1_lanes: spread(!mask(Class::Part)),
            data_lanes: spread(data),
            offers: std::array::from_fn(|slot| spread(single | 1 << slot)),
            crossings: design.crossings() as u16,
            patience: STARVE_LIMIT as u8,
            staged: router.staged(),
        }
    }

    /// Returns the index of a virtual channel's class in [`Class::ALL`].
    #[inline(always)]
    pub(super) fn class(&self, vc: u8) -> usize {
        usize::from(vc >= self.vn0) + usize::from(vc > self.vn0)
    }

    /// Returns the virtual channels of classes, which are a bit each in the order of [`Class::ALL`].
    pub(super) fn channels(&self, classes: u8) -> u8 {
        let of = |class: usize, vcs: u8| vcs * (classes >> class & 1);
        let (fetch, data) = (1 << self.vn0, self.data_lanes as u8);
        of(0, self.vn0_mask) | of(1, fetch) | of(2, data)
    }

    /// Returns the classes that have a channel in `vcs`, a bit each in the order of [`Class::ALL`].
    #[inline(always)]
    pub(super) fn classes(&self, vcs: u8) -> u8 {
        let (part, fetch, data) = (vcs & self.vn0_mask != 0, vcs >> self.vn0 & 1, vcs >> self.vn0 >> 1 != 0);
        u8::from(part) | fetch << 1 | u8::from(data) << 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn classes_of_channels_are_those_of_the_design() {
        let design = Design::from_config("test", &Config::default()).unwrap();
        let params = NetworkParams::new(&design);
        for vc in 0..design.router.vcs() {
            assert_eq!(params.class(vc as u8), design.router.class_of_vc(vc) as usize);
            assert_eq!(params.channels(1 << params.class(vc as u8)) >> vc & 1, 1);
            assert_eq!(params.channels(!(1 << params.class(vc as u8))) >> vc & 1, 0);
        }
    }
}
