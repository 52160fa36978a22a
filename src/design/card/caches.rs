//! The caches of a card: bytes of all homes, and the pseudo-channels of HBM that are the fullest.

use crate::config::Config;
use crate::design::card::fpga::{Fpga, BUFFER_LIMIT};
use crate::design::card::memory::{channels_of, ports, region_bytes, region_width, tiles_per_port};
use crate::design::network::mesh::Mesh;
use crate::design::takv::placement::Placement;

/// Demand on some pseudo-channels and their capacity, in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    /// The memory port, if it has channels of its own.
    pub port: Option<u32>,
    /// Bytes that homes take there.
    pub needed: f64,
    /// Bytes that are there.
    pub there: f64,
}

impl Demand {
    /// Needed bytes over those that are there: above 1 the caches do not fit.
    pub fn share(&self) -> f64 {
        self.needed / self.there
    }
}

/// Bytes of the caches of a home, for all configured streams and segments.
fn region(config: &Config, placement: &Placement) -> f64 {
    region_bytes(config, placement) as f64
}

/// Tiles that are homes among the `tiles` of a memory port.
fn homes_behind(placement: &Placement, port: u32, tiles: u32) -> u32 {
    let (y, place) = (port / placement.cols.div_ceil(tiles), port % placement.cols.div_ceil(tiles));
    let columns = place * tiles..(place * tiles + tiles).min(placement.cols);
    columns.filter(|&x| placement.is_home(x, y)).count() as u32
}

/// Shares that differ by less are equal.
const EQUAL: f64 = 1.0 - 1e-9;

/// The demand with the largest shortage: each port has channels of its own, and one buffer in them. Where no port is
/// fuller than all together it is that of the whole card.
pub(in crate::design) fn worst(config: &Config, placement: &Placement) -> Demand {
    let fpga = Fpga::of(config.board);
    let (ports, tiles) = (ports(config), tiles_per_port(config));
    let apart = (1_u128 << region_width(config, placement)) as f64;
    let of_port = |port| {
        let homes = homes_behind(placement, port, tiles);
        let others = f64::from(homes.saturating_sub(1)) * apart;
        let channels = channels_of(port, ports, fpga.hbm_channels).len() as u64;
        Demand {
            port: Some(port),
            needed: if homes == 0 { 0.0 } else { others + region(config, placement) },
            there: (channels * fpga.hbm_channel_bytes).min(BUFFER_LIMIT - 1) as f64,
        }
    };
    let demands: Vec<_> = (0..ports).map(of_port).collect();
    let sum = |of: fn(&Demand) -> f64| demands.iter().map(of).sum();
    let whole = Demand { port: None, needed: sum(|demand| demand.needed), there: sum(|demand| demand.there) };
    let worse = |a: Demand, b: Demand| if b.share() * EQUAL > a.share() { b } else { a };
    demands.into_iter().fold(whole, worse)
}

/// The caches of a configuration in the memory of one card.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Caches {
    /// Bytes of the regions of all homes, for `model.max_streams` caches of `model.max_tokens`.
    pub bytes: f64,
    /// The fullest part of the card's HBM, or `memory.capacity_gib` where that is fuller.
    pub fullest: Demand,
}

impl Caches {
    /// The caches of a configuration, whether or not a card can hold them; none if its hub is outside
    /// the mesh.
    pub fn of(config: &Config) -> Option<Caches> {
        let placement = Placement::new(config, Mesh::new(config.mesh.cols, config.mesh.rows))?;
        let bytes = region(config, &placement) * f64::from(placement.homes());
        let configured = config.memory.capacity_gib * f64::from(1 << 30);
        let all = Demand { port: None, needed: bytes, there: configured };
        let hbm = worst(config, &placement);
        Some(Caches { bytes, fullest: if all.share() > hbm.share() { all } else { hbm } })
    }

    /// True if the card holds them.
    pub fn fit(&self) -> bool {
        self.fullest.share() <= 1.0
    }
}

#[cfg(test)]
mod tests {
    use crate::design::card::caches::*;
    use crate::design::PlacementKind;

    fn caches(change: impl Fn(&mut Config)) -> Caches {
        let mut config = Config::default();
        change(&mut config);
        Caches::of(&config).unwrap()
    }

    #[test]
    fn a_card_has_its_hbm_or_what_the_configuration_leaves_of_it() {
        let gib = |n: u64| (n << 30) as f64;
        // 32 layers of 512 segments of 32 KV heads at 32 KiB: 16 GiB a stream, a 32nd of it in each channel.
        let found = caches(|c| c.model.max_streams = 1);
        let all = Demand { port: None, needed: gib(16), there: gib(8) };
        assert_eq!((found, found.fit()), (Caches { bytes: gib(16), fullest: all }, false));
        let half = |c: &mut Config| (c.model.max_streams, c.model.layers) = (1, 16);
        assert!(caches(half).fit());
        let less = caches(|c| {
            half(c);
            c.memory.capacity_gib = 4.0;
        });
        assert_eq!((less.fullest.there, less.fit()), (gib(4), false));
    }

    #[test]
    fn a_port_without_swaps_is_full_before_the_card_is() {
        let found = caches(|c| {
            (c.takv.swap_epoch, c.takv.placement) = (Some(0), PlacementKind::Hub);
            (c.model.max_streams, c.model.max_tokens) = (1, 1024);
        });
        assert_eq!((found.bytes, found.fullest.port), ((1_u64 << 29) as f64, Some(0)));
        assert_eq!((found.fullest.there, found.fit()), ((256 << 20) as f64, false));
    }
}
