//! The longest that a flit may wait in the network: what the buffers on its way hold, over the share of the
//! narrowest output that it is guaranteed.
//!
//! The worst traffic sends every class from all tiles to one. Its tile takes a flit a cycle, classes take turns at
//! its port, and within a class every tile behind an output has the same share of it (docs/network.md, "Nobody
//! starves"). The shares of successive routers multiply to that of the tiles behind an input over all tiles. So a
//! buffer with k tiles behind it passes k flits of its class in the time in which each tile sends one.

use super::design::Design;
use super::flit::Class;
use super::router::{CLAIM_PERIOD, CLAIM_PERIODS};

/// Bounds of a network's waits.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitBound {
    tiles: f64,
    depth: u32,
    /// Virtual channels by class.
    channels: [u32; 3],
    /// Cycles between two flits of one channel, at its full rate.
    period: f64,
    /// By class, the sum of the way's buffers, each over the tiles behind it.
    way: [f64; 3],
    /// Cycles that claims may hold a flit back, over all routers of the way.
    claims: f64,
}

impl WaitBound {
    /// The bounds of a design, along its longest way.
    pub fn new(design: &Design) -> WaitBound {
        let (cols, rows, router) = (design.mesh.cols(), design.mesh.rows(), design.router);
        let over = |tiles: &mut dyn Iterator<Item = u32>| tiles.map(|k| 1.0 / f64::from(k)).sum::<f64>();
        let row = over(&mut (1..cols));
        let column = over(&mut (1..rows).map(|k| k * cols));
        let registers = (0..rows).map(|y| design.boundaries(y)).max().unwrap_or(0);
        // From a flit's departure to the return of its credit, with no register on the link.
        let credit = 2 + router.stages;
        let claim = CLAIM_PERIOD * (CLAIM_PERIODS + 1);
        WaitBound {
            tiles: f64::from(cols * rows),
            depth: router.vc_depth,
            channels: Class::ALL.map(|class| router.vcs_of_class(class).len() as u32),
            period: f64::from(credit + 4 * registers) / f64::from(router.vc_depth),
            // A multicast has double weight against those that join: whoever joins the row and then the column
            // may have half of its share twice.
            way: Class::ALL.map(|class| match class {
                Class::KvData if router.multicast => 4.0 + 2.0 * row + column,
                _ => 1.0 + row + column,
            }),
            claims: f64::from((cols + rows - 1) * claim),
        }
    }

    /// Most cycles from the head of a source queue to a destination.
    ///
    /// `loaded` are the classes of which flits are sent, `packet` the flits of the longest packet, `takes` the part of
    /// all cycles (0 to 1) in which the slowest tile takes a flit.
    pub fn cycles(&self, class: Class, loaded: [bool; 3], packet: u32, takes: f64) -> u64 {
        let classes = loaded.into_iter().filter(|&loaded| loaded).count().max(1) as f64;
        // A turn is a whole packet, so one may have to pass beside those that the buffer holds.
        let ahead = self.channels[class as usize] * (self.depth + packet);
        let slowest = classes.max(self.period) / takes;
        let cycles = f64::from(ahead) * self.tiles * slowest * self.way[class as usize] + self.claims / takes;
        // As a float turns into an integer, infinity becomes the largest.
        cycles.ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn bound(cols: u32, rows: u32) -> WaitBound {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows, config.floorplan.slr_registers) = (cols, rows, false);
        WaitBound::new(&Design::from_config("bound", &config).expect("legal"))
    }

    #[test]
    fn the_bound_of_two_by_two_tiles_is_the_sum_over_its_three_buffers() {
        // Two channels of 8 + 1 flits, 4 tiles, one class; buffers with 1, 1 and 2 tiles behind; 3 routers.
        let alone = bound(2, 2).cycles(Class::Part, [true, false, false], 1, 1.0);
        assert_eq!(alone, 18 * 4 * 5 / 2 + 3 * 512);
    }

    #[test]
    fn it_grows_with_classes_packets_and_slow_tiles() {
        let bound = bound(8, 8);
        let of = |loaded, packet, takes| bound.cycles(Class::Part, loaded, packet, takes);
        let one = of([true, false, false], 1, 1.0);
        let claims = 15 * 512;
        let shares = |cycles: u64| (cycles - claims) as f64;
        assert!((shares(of([true; 3], 1, 1.0)) - 3.0 * shares(one)).abs() < 4.0);
        assert!(of([true, false, false], 4, 1.0) > one);
        assert!(of([true, false, false], 1, 0.5).abs_diff(2 * one) < 2);
        assert_eq!(of([true; 3], 1, 0.0), u64::MAX, "a tile that takes nothing bounds nothing");
    }
}
