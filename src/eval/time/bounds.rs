//! Bounds: the least cycles that each part of a fabric needs for a run's load, and the share of the
//! memory's bandwidth.
//!
//! A run cannot take fewer cycles than its tightest bound, which depends on the ports and tiles that
//! its KV lies at. Its distance from the bound of its bytes and arrays is the overhead of the fabric.

use crate::cosim::dut::network::{COUNTERS, COUNTERS_PER_PORT};
use crate::design::{packet_cycles, Bounds, Class, Design, Port};
use crate::emit::pad_events;
use schemars::JsonSchema;
use serde::Serialize;

/// A part of a run, or all of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Phase {
    /// Its length in cycles.
    pub cycles: u64,
    /// Gigabytes of KV per second, read from external memory.
    pub kv_gbs: f64,
    /// The same as a share of `memory.bandwidth_gbs`.
    pub share: f64,
    /// The same as a share of what refresh leaves of it.
    pub share_left: f64,
    /// Least cycles, by part.
    pub bounds: Bounds,
}

impl Phase {
    /// Its length over its bound: the larger of the cycles of its bytes and those of the busiest array.
    pub fn over_bound(&self) -> f64 {
        self.cycles as f64 / self.bounds.least().max(1) as f64
    }
}

/// The load of a run, by tile unless stated otherwise.
#[derive(Debug, Clone)]
pub(in crate::eval) struct Carried<'a> {
    /// Link counters.
    pub(in crate::eval) links: &'a [[u32; COUNTERS]],
    /// Flits that homes streamed.
    pub(in crate::eval) streamed: &'a [u64],
    /// Counters of the arrays, in the order of [`pad_events`].
    pub(in crate::eval) pad: &'a [Vec<u32>],
    /// Beats of each memory port.
    pub(in crate::eval) beats: &'a [u64],
    /// Beats of queries and outputs.
    pub(in crate::eval) io_beats: u64,
    /// PART packets that came to each column's root.
    pub(in crate::eval) packets: &'a [u64],
    /// Bytes that a channel of memory gives in a cycle on average.
    pub(in crate::eval) bytes_per_cycle: f64,
}

fn most(values: impl IntoIterator<Item = u64>) -> u64 {
    values.into_iter().max().unwrap_or(0)
}

/// Beats of the fullest memory port over the mean of all ports that have a home: 1 if all have as many, or none.
pub(in crate::eval) fn imbalance(design: &Design, beats: &[u64]) -> f64 {
    let all = beats.iter().sum::<u64>() as f64;
    if all == 0.0 {
        return 1.0;
    }
    most(beats.iter().copied()) as f64 * design.ports_with_homes() as f64 / all
}

/// KV flits accepted per PE cycle in which a tile's FIFO holds one, over all tiles.
pub(in crate::eval) fn accepted_a_cycle(design: &Design, pad: &[Vec<u32>]) -> f64 {
    let names = pad_events(design);
    let all = |name: &str| -> u64 {
        let at = names.iter().position(|known| *known == name).expect("a counter of this name");
        pad.iter().map(|tile| u64::from(tile[at])).sum()
    };
    all("flits_accepted") as f64 / all("flit_waits_or_passes").max(1) as f64
}

impl Carried<'_> {
    /// Flits of these classes that left a router by this port.
    fn left(&self, tile: usize, port: Port, classes: &[Class]) -> u64 {
        let first = port.index() * COUNTERS_PER_PORT;
        classes.iter().map(|&class| u64::from(self.links[tile][first + class as usize])).sum()
    }

    /// Cycles of the busiest array in which one of these happens.
    fn array(&self, design: &Design, events: &[&str]) -> u64 {
        let names = pad_events(design);
        let at = |event: &str| names.iter().position(|name| name == event).expect("arrays count it");
        let at: Vec<_> = events.iter().map(|event| at(event)).collect();
        let cycles = most(self.pad.iter().map(|tile| at.iter().map(|&at| u64::from(tile[at])).sum()));
        let clock = &design.clock;
        (cycles as f64 * clock.noc_mhz / clock.pe_mhz).ceil() as u64
    }

    /// Beats of each memory port; with `io` also those of queries and outputs where they share its channel.
    fn beats(&self, design: &Design, io: bool) -> Vec<u64> {
        let mut beats = self.beats.to_vec();
        if let Some(port) = design.io_port().filter(|_| io) {
            beats[port as usize] += self.io_beats;
        }
        beats
    }

    fn bounds(&self, design: &Design, classes: &[Class], events: &[&str], root: u64) -> Bounds {
        let port_beats = self.beats(design, classes.len() == Class::ALL.len());
        let flit_bytes = f64::from(design.flit.data_width / 8);
        let channels = f64::from(design.fpga().hbm_channels);
        let cycles = |beats: u64, bytes_per_cycle: f64| (beats as f64 * flit_bytes / bytes_per_cycle).ceil();
        let tiles = || 0..self.links.len();
        let between = [Port::North, Port::East, Port::South, Port::West];
        Bounds {
            bytes: cycles(port_beats.iter().sum(), self.bytes_per_cycle * channels) as u64,
            // A port sends at most a beat a cycle, however fast the memory behind it.
            memory: cycles(most(port_beats), self.bytes_per_cycle.min(flit_bytes)) as u64,
            injection: most(self.streamed.iter().copied()),
            links: most(tiles().flat_map(|t| between.map(|port| self.left(t, port, classes)))),
            ejection: most(tiles().map(|t| self.left(t, Port::Local, classes))),
            array: self.array(design, events),
            root,
        }
    }

    /// The time in which KV flows, of so many cycles, and all of the run.
    pub(in crate::eval) fn phases(&self, design: &Design, kv_cycles: u64, total_cycles: u64) -> [Phase; 2] {
        let passes = ["k_passes", "v_passes", "ones_passes"];
        let with_results = ["k_passes", "v_passes", "ones_passes", "reading_results"];
        let of_packet = packet_cycles(design.pe.head_dim, design.pe.root_lanes);
        let root = most(self.packets.iter().map(|n| n * of_packet));
        let bytes = self.beats.iter().sum::<u64>() as f64 * f64::from(design.flit.data_width / 8);
        let phase = |cycles: u64, bounds| {
            let seconds = cycles.max(1) as f64 / (design.clock.noc_mhz * 1e6);
            let kv_gbs = bytes / seconds / 1e9;
            let share = kv_gbs / design.memory.bandwidth_gbs;
            let share_left = share / design.memory.refresh.map_or(1.0, |refresh| refresh.left());
            Phase { cycles, kv_gbs, share, share_left, bounds }
        };
        // Partial results are reduced behind the KV of their heads, not beside it.
        let kv = self.bounds(design, &[Class::KvFetch, Class::KvData], &passes, 0);
        let all = self.bounds(design, &Class::ALL, &with_results, root);
        [phase(kv_cycles, kv), phase(total_cycles, all)]
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::eval::time::bounds::*;

    #[test]
    fn each_part_bounds_a_run_by_what_the_busiest_of_its_kind_carried() {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows, config.pe.array_rows) = (2, 2, 1);
        (config.clock.noc_mhz, config.clock.pe_mhz) = (200.0, 400.0);
        let design = Design::from_config("test", &config).unwrap();
        let names = pad_events(&design);
        let mut links = [[0; COUNTERS]; 4];
        links[1][Port::East.index() * COUNTERS_PER_PORT + Class::KvData as usize] = 500;
        links[1][Port::East.index() * COUNTERS_PER_PORT + Class::Part as usize] = 7;
        links[2][Port::Local.index() * COUNTERS_PER_PORT + Class::KvData as usize] = 900;
        links[0][Port::Local.index() * COUNTERS_PER_PORT + Class::Part as usize] = 950;
        let mut pad = vec![vec![0; names.len()]; 4];
        for (name, count) in
            [("k_passes", 300), ("v_passes", 400), ("ones_passes", 100), ("reading_results", 20)]
        {
            pad[3][names.iter().position(|n| n == name).unwrap()] = count;
        }
        let carried = Carried {
            links: &links,
            streamed: &[1, 2, 800, 4],
            pad: &pad,
            beats: &[100, 300],
            io_beats: 50,
            packets: &[4, 3],
            bytes_per_cycle: 32.0,
        };
        let [kv, total] = carried.phases(&design, 1000, 2000);
        // 400 beats of 64 bytes, at 32 bytes a cycle of 32 channels; the busiest port has 300 of them.
        let of_kv =
            Bounds { bytes: 25, memory: 600, injection: 800, links: 500, ejection: 900, array: 400, root: 0 };
        assert_eq!(kv.bounds, of_kv);
        let root = 4 * packet_cycles(128, design.pe.root_lanes);
        assert_eq!(total.bounds, Bounds { links: 507, ejection: 950, array: 410, root, ..of_kv });
        assert_eq!((kv.bounds.tightest(), total.bounds.tightest()), (("ejection", 900), ("ejection", 950)));
        // The arrays need more than the bytes.
        assert_eq!((kv.over_bound(), total.over_bound()), (1000.0 / 400.0, 2000.0 / 410.0));
        assert_eq!(imbalance(&design, &[100, 300, 0, 0]), 3.0);
        assert_eq!(imbalance(&design, &[0; 4]), 1.0);
        assert_eq!(
            (kv.bounds.near_tightest(), total.bounds.near_tightest()),
            ("ejection".into(), "ejection".into())
        );
        // 400 flits of 64 bytes in 5 us, of 460 GB/s.
        assert!((kv.kv_gbs - 5.12).abs() < 1e-9 && (kv.share - 5.12 / 460.0).abs() < 1e-12);
        assert!((total.kv_gbs - 2.56).abs() < 1e-9);
    }
}
