//! Generates packets cycle by cycle: from Bernoulli processes per tile, or from a recorded trace.
//!
//! Every tile has a random stream of its own, and draws once a cycle whether to generate a packet.
//! The traffic therefore depends on the seed alone, not on the batches of a run or on the network.
//! This module does not know the network.

use super::draw::unit;
use super::packet::Packet;
use super::pattern::{random_set, Pattern};
use crate::cosim::hash::mix;
use crate::cosim::tile_set::TileSet;
use crate::design::{Class, Design, DestKind, Mesh, NodeId};
use rand_pcg::rand_core::Rng;
use rand_pcg::Pcg64;
use std::ops::Range;

pub use super::synthetic::{Shape, Traffic, TrafficError, VirtualNetworks, MAX_PACKET};

/// Shares of the injected flits in mixed traffic, in the order of [`Class::ALL`]: half of the load on
/// each virtual network, and one request flit for four of KV data.
pub const MIXED_SHARES: [f64; 3] = [0.5, 0.1, 0.4];

/// Generates packets cycle by cycle.
#[derive(Debug, Clone)]
pub struct Generator {
    mesh: Mesh,
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    Bernoulli { tiles: Vec<Tile>, flits: u32, plan: Plan },
    Trace { packets: Vec<Packet>, next: usize },
}

#[derive(Debug, Clone)]
struct Tile {
    node: NodeId,
    rng: Pcg64,
    /// Packets a cycle.
    rate: f64,
}

#[derive(Debug, Clone)]
enum Plan {
    /// Pattern, networks, and the probability that a packet on VN1 is KV_FETCH.
    Unicast(Pattern, VirtualNetworks, f64),
    /// Pattern, and the probabilities that a packet is PART, and that it is PART or KV_FETCH.
    Classes(Pattern, [f64; 2]),
    Multicast(u32),
    /// Fan-out, and the probabilities that a packet is PART, and that it is PART or KV_FETCH.
    Mixed(u32, [f64; 2]),
}

impl Generator {
    /// A generator of synthetic traffic for this design.
    ///
    /// # Errors
    /// If the mesh cannot have this traffic or a number is out of range.
    pub fn new(design: &Design, traffic: &Traffic) -> Result<Generator, TrafficError> {
        let mesh = design.mesh;
        if !(traffic.load > 0.0 && traffic.load <= 1.0) {
            return Err(TrafficError::Load(traffic.load));
        }
        if traffic.packet == 0 || traffic.packet > MAX_PACKET {
            return Err(TrafficError::Packet(traffic.packet));
        }
        let fanout_in_range = |fanout: u32| match fanout {
            f if f >= 1 && f < mesh.tiles() as u32 => Ok(f),
            _ => Err(TrafficError::Fanout { fanout, others: mesh.tiles() as u32 - 1 }),
        };
        // Without multicast in the routers the source sends one copy after the other. The load
        // counts injected flits.
        let copies = |fanout: u32| match design.flit.dest_kind {
            DestKind::Set => 1.0,
            DestKind::Coord => f64::from(fanout),
        };
        let flits = f64::from(traffic.packet);
        let (plan, rate) = match &traffic.shape {
            Shape::Unicast { pattern, hotspots, vn } => {
                unicast(Pattern::new(*pattern, mesh, hotspots)?, *vn, design, traffic)
            }
            Shape::Matrix { rates, vn } => {
                unicast(Pattern::of_rates(mesh, rates.clone()), *vn, design, traffic)
            }
            Shape::Multicast { fanout } => {
                let fanout = fanout_in_range(*fanout)?;
                (Plan::Multicast(fanout), traffic.load / flits / copies(fanout))
            }
            Shape::Mixed { fanout } => {
                let fanout = fanout_in_range(*fanout)?;
                let packets = in_packets(MIXED_SHARES, flits, copies(fanout));
                (Plan::Mixed(fanout, choice(packets)), traffic.load * packets.iter().sum::<f64>())
            }
        };
        let share = |node: NodeId| match &plan {
            Plan::Unicast(pattern, ..) | Plan::Classes(pattern, _) => pattern.share(node),
            _ => 1.0,
        };
        let tile = |node: NodeId| {
            let stream = node.index() as u64;
            let state = u128::from(mix(traffic.seed)) << 64 | u128::from(mix(traffic.seed ^ mix(stream)));
            Tile { node, rng: Pcg64::new(state, u128::from(stream)), rate: rate * share(node) }
        };
        let tiles = mesh.nodes().filter(|node| share(*node) > 0.0).map(tile).collect();
        Ok(Generator { mesh, source: Source::Bernoulli { tiles, flits: traffic.packet, plan } })
    }

    /// A generator of recorded packets, sorted by cycle.
    pub fn from_trace(design: &Design, packets: Vec<Packet>) -> Generator {
        Generator { mesh: design.mesh, source: Source::Trace { packets, next: 0 } }
    }

    /// Generates the packets of some cycles. Synthetic packets come tile by tile, each tile's by
    /// cycle. Cycles must follow on each other.
    pub fn generate(&mut self, cycles: Range<u64>, measured: bool, emit: &mut dyn FnMut(Packet)) {
        let mesh = self.mesh;
        match &mut self.source {
            Source::Bernoulli { tiles, flits, plan } => {
                for tile in tiles {
                    let mut from = cycles.start;
                    while let Some(cycle) = tile.next(from..cycles.end) {
                        from = cycle + 1;
                        let Some((class, dests)) = plan.draw(mesh, tile) else { continue };
                        let (source, flits) = (tile.node, if class == Class::KvFetch { 1 } else { *flits });
                        emit(Packet { source, dests, class, flits, cycle, measured, tag: None });
                    }
                }
            }
            Source::Trace { packets, next } => {
                while let Some(packet) = packets.get(*next).filter(|p| p.cycle < cycles.end) {
                    emit(Packet { measured, ..*packet });
                    *next += 1;
                }
            }
        }
    }

    /// True if it replays a trace, which ends and is measured as a whole.
    pub fn is_trace(&self) -> bool {
        matches!(self.source, Source::Trace { .. })
    }
}

impl Tile {
    /// The first of some cycles in which it generates a packet, drawn for each of them.
    fn next(&mut self, mut cycles: Range<u64>) -> Option<u64> {
        // The state stays in processor registers meanwhile.
        let (mut rng, rate) = (self.rng.clone(), self.rate);
        let found = cycles.find(|_| unit(&mut rng) < rate);
        self.rng = rng;
        found
    }
}

impl Plan {
    /// Class and destinations of the next packet of a tile.
    fn draw(&self, mesh: Mesh, Tile { node, rng, .. }: &mut Tile) -> Option<(Class, TileSet)> {
        let coin = |rng: &mut Pcg64| rng.next_u64() >> 63 == 0;
        match self {
            Plan::Unicast(pattern, vn, fetch) => {
                let on_vn0 = match vn {
                    VirtualNetworks::Vn0 => true,
                    VirtualNetworks::Vn1 => false,
                    VirtualNetworks::Both => coin(rng),
                    VirtualNetworks::All => unreachable!("a plan of its own"),
                };
                let class = match on_vn0 {
                    true => Class::Part,
                    false if *fetch > 0.0 && unit(rng) < *fetch => Class::KvFetch,
                    false => Class::KvData,
                };
                pattern.destination(*node, rng).map(|dest| (class, TileSet::one(dest)))
            }
            Plan::Multicast(fanout) => Some((Class::KvData, random_set(mesh, *node, *fanout, rng))),
            Plan::Classes(pattern, choice) => {
                let class = chosen(*choice, unit(rng));
                pattern.destination(*node, rng).map(|dest| (class, TileSet::one(dest)))
            }
            Plan::Mixed(fanout, choice) => {
                let class = chosen(*choice, unit(rng));
                let k = if class == Class::KvData { *fanout } else { 1 };
                Some((class, random_set(mesh, *node, k, rng)))
            }
        }
    }
}

/// Plan and packets a cycle of unicast traffic.
fn unicast(pattern: Pattern, vn: VirtualNetworks, design: &Design, traffic: &Traffic) -> (Plan, f64) {
    let flits = f64::from(traffic.packet);
    if vn == VirtualNetworks::All {
        let shares = Class::ALL.map(|class| design.router.vcs_of_class(class).len() as f64);
        let packets = in_packets(shares, flits, 1.0);
        let rate = traffic.load * packets.iter().sum::<f64>() / shares.iter().sum::<f64>();
        return (Plan::Classes(pattern, choice(packets)), rate);
    }
    // KV_FETCH is always one flit, so longer packets on VN1 are KV_DATA.
    let fetch = if traffic.packet == 1 { 1.0 / f64::from(design.router.vn1_vcs) } else { 0.0 };
    (Plan::Unicast(pattern, vn, fetch), traffic.load / flits)
}

/// Packets of each class for shares of flits: KV_FETCH is one flit, KV_DATA is sent `copies` times.
fn in_packets([part, fetch, data]: [f64; 3], flits: f64, copies: f64) -> [f64; 3] {
    [part / flits, fetch, data / flits / copies]
}

/// Probabilities that a packet is PART, and that it is PART or KV_FETCH.
fn choice([part, fetch, data]: [f64; 3]) -> [f64; 2] {
    let packets = part + fetch + data;
    [part / packets, (part + fetch) / packets]
}

/// The class for a random number between 0 and 1.
fn chosen([part, part_or_fetch]: [f64; 2], draw: f64) -> Class {
    match draw {
        draw if draw < part => Class::Part,
        draw if draw < part_or_fetch => Class::KvFetch,
        _ => Class::KvData,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::cosim::traffic::matrix::Matrix;
    use crate::cosim::traffic::pattern::PatternKind;

    fn design(cols: u32, rows: u32) -> Design {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows) = (cols, rows);
        Design::from_config("test", &config).expect("legal")
    }

    fn unicast(pattern: PatternKind) -> Shape {
        Shape::Unicast { pattern, hotspots: Vec::new(), vn: VirtualNetworks::Vn0 }
    }

    fn packets(design: &Design, traffic: &Traffic, batch: u64, cycles: u64) -> Vec<Packet> {
        let mut generator = Generator::new(design, traffic).expect("traffic fits the design");
        let mut packets = Vec::new();
        for start in (0..cycles).step_by(batch as usize) {
            generator.generate(start..(start + batch).min(cycles), false, &mut |p| packets.push(p));
        }
        // Tiles come one after the other within a batch.
        packets.sort_by_key(|packet| (packet.cycle, packet.source));
        packets
    }

    #[test]
    fn same_seed_gives_the_same_traffic_however_it_is_cut() {
        let design = design(4, 4);
        let traffic = Traffic { shape: Shape::Mixed { fanout: 3 }, load: 0.3, packet: 4, seed: 5 };
        let whole = packets(&design, &traffic, 1000, 1000);
        assert!(!whole.is_empty());
        assert_eq!(whole, packets(&design, &traffic, 7, 1000));
        let other = packets(&design, &Traffic { seed: 6, ..traffic }, 1000, 1000);
        assert_ne!(whole, other);
    }

    #[test]
    fn injected_flits_meet_the_offered_load() {
        for (multicast, shape) in [
            (true, unicast(PatternKind::Uniform)),
            (true, Shape::Multicast { fanout: 8 }),
            (false, Shape::Multicast { fanout: 8 }),
            (true, Shape::Mixed { fanout: 8 }),
            (false, Shape::Mixed { fanout: 8 }),
        ] {
            let mut config = Config::default();
            config.mare.multicast = multicast;
            let design = Design::from_config("test", &config).expect("legal");
            let traffic = Traffic { shape: shape.clone(), load: 0.2, packet: 4, seed: 1 };
            let copies = |p: &Packet| if multicast { 1 } else { p.dests.len() };
            let flits: u32 = packets(&design, &traffic, 256, 8000).iter().map(|p| p.flits * copies(p)).sum();
            let load = f64::from(flits) / 64.0 / 8000.0;
            assert!((0.19..0.21).contains(&load), "{shape:?} offers {load}");
        }
    }

    #[test]
    fn mixed_traffic_shares_its_flits_among_the_classes() {
        let traffic = Traffic { shape: Shape::Mixed { fanout: 4 }, load: 0.4, packet: 4, seed: 1 };
        let mut flits = [0.0; 3];
        for p in packets(&design(8, 8), &traffic, 256, 8000) {
            flits[p.class as usize] += f64::from(p.flits);
            assert_eq!(p.dests.len(), if p.class == Class::KvData { 4 } else { 1 });
            assert!(!p.dests.contains(p.source.index()));
        }
        let total: f64 = flits.iter().sum();
        for (class, share) in MIXED_SHARES.iter().enumerate() {
            assert!((flits[class] / total - share).abs() < 0.02, "{flits:?}");
        }
    }

    #[test]
    fn sources_that_a_pattern_maps_to_themselves_send_nothing() {
        let design = design(4, 4);
        let traffic = Traffic { shape: unicast(PatternKind::Transpose), load: 1.0, packet: 1, seed: 1 };
        let packets = packets(&design, &traffic, 10, 10);
        assert_eq!(packets.len(), 12 * 10);
        assert!(packets.iter().all(|p| design.mesh.coords(p.source).0 != design.mesh.coords(p.source).1));
    }

    #[test]
    fn no_traffic_is_addressed_to_its_own_tile() {
        use PatternKind::{BitComplement, BitReverse, Neighbour, Shuffle, Tornado, Transpose, Uniform};
        for (cols, rows) in [(2, 2), (4, 2), (4, 4), (3, 5)] {
            let design = design(cols, rows);
            let mut shapes = Vec::new();
            for pattern in [
                Uniform,
                Transpose,
                BitComplement,
                BitReverse,
                Shuffle,
                Tornado,
                Neighbour,
                PatternKind::Hotspot,
                PatternKind::AllToOne,
            ] {
                for vn in
                    [VirtualNetworks::Vn0, VirtualNetworks::Vn1, VirtualNetworks::Both, VirtualNetworks::All]
                {
                    shapes.push(Shape::Unicast { pattern, hotspots: Vec::new(), vn });
                }
            }
            for fanout in 1..cols * rows {
                shapes.extend([Shape::Multicast { fanout }, Shape::Mixed { fanout }]);
            }
            for shape in shapes {
                let traffic = Traffic { shape, load: 1.0, packet: 1, seed: 7 };
                // Some patterns do not exist on every mesh.
                if Generator::new(&design, &traffic).is_ok() {
                    let packets = packets(&design, &traffic, 256, 1000);
                    assert!(!packets.is_empty(), "{traffic:?}");
                    let own = packets.iter().find(|p| p.dests.contains(p.source.index()));
                    assert_eq!(own, None, "{cols}x{rows} {traffic:?}");
                }
            }
        }
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let design = design(4, 4);
        let refused = |shape, load, packet| {
            Generator::new(&design, &Traffic { shape, load, packet, seed: 1 }).expect_err("refused")
        };
        assert_eq!(refused(unicast(PatternKind::Uniform), 0.0, 1), TrafficError::Load(0.0));
        assert_eq!(refused(unicast(PatternKind::Uniform), 1.5, 1), TrafficError::Load(1.5));
        assert_eq!(refused(unicast(PatternKind::Uniform), 0.5, 0), TrafficError::Packet(0));
        let shape = Shape::Multicast { fanout: 16 };
        assert_eq!(refused(shape, 0.5, 1), TrafficError::Fanout { fanout: 16, others: 15 });
    }

    #[test]
    fn a_matrix_gives_each_tile_its_share_of_the_load() {
        let design = design(2, 2);
        let rates =
            Matrix::parse("m.csv", "0,1,3,0\n0,0,0,0\n2,0,0,0\n0,0,0,0\n", design.mesh).expect("legal");
        for vn in [VirtualNetworks::Vn0, VirtualNetworks::Both, VirtualNetworks::All] {
            let shape = Shape::Matrix { rates: rates.clone(), vn };
            let traffic = Traffic { shape, load: 0.4, packet: 4, seed: 1 };
            let mut flits = [[0.0; 4]; 4];
            for packet in packets(&design, &traffic, 256, 20_000) {
                let to = packet.dests.only().expect("one destination");
                flits[packet.source.index()][to] += f64::from(packet.flits) / 20_000.0;
            }
            let wanted = [(0, 1, 0.1), (0, 2, 0.3), (2, 0, 0.2)];
            for (from, to, load) in wanted {
                assert!((flits[from][to] - load).abs() < 0.02, "{vn:?}: {flits:?}");
                flits[from][to] = 0.0;
            }
            assert_eq!(flits, [[0.0; 4]; 4], "{vn:?}");
        }
    }

    #[test]
    fn a_trace_is_replayed_at_its_cycles() {
        let design = design(4, 4);
        let node = |i| design.mesh.node_at(i).expect("tile");
        let packet = |cycle| Packet {
            source: node(0),
            dests: TileSet::one(node(3)),
            class: Class::Part,
            flits: 2,
            cycle,
            measured: false,
            tag: None,
        };
        let mut generator = Generator::from_trace(&design, vec![packet(3), packet(9)]);
        let mut seen = Vec::new();
        generator.generate(0..9, true, &mut |p| seen.push(p.cycle));
        assert_eq!(seen, [3]);
        generator.generate(9..10, true, &mut |p| seen.push(p.cycle));
        assert_eq!(seen, [3, 9]);
        assert!(generator.is_trace());
    }
}
