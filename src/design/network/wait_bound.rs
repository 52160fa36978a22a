//! The longest that a flit may wait in the network: what the buffers on its way hold, over the share of their outputs
//! that each is guaranteed (docs/network.md, "The bound").
//!
//! A flit waits only for sent flits. So the bound follows from the flows that have been seen, a flow being a class
//! from a tile to a tile, and grows with them.

use crate::design::design::Design;
use crate::design::network::flit::Class;
use crate::design::network::mesh::{Mesh, NodeId, Port};
use crate::design::network::router::{CLAIM_PERIOD, CLAIM_PERIODS, STARVE_LIMIT};

/// Tiles of a mesh, a bit each.
type Tiles = [u64; 4];

/// Bounds of a network's waits, for the flows that it knows.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitBound {
    mesh: Mesh,
    depth: u32,
    multicast: bool,
    /// Virtual channels by class.
    channels: [u32; 3],
    /// Cycles between two flits of one channel, at its full rate.
    period: f64,
    /// Flits of the longest packet.
    packet: u32,
    /// By class, the part of all cycles (0 to 1) in which tiles take a flit.
    takes: [f64; 3],
    /// By source and class, the tiles to which it sends.
    sent: Vec<[Tiles; 3]>,
    /// By tile and input, the outputs that flits of each class take, a bit each.
    uses: Vec<[[u8; 3]; 5]>,
    /// By tile, input and class, most cycles between two flits that leave the buffer; 0 if it is not known yet.
    pace: Vec<[[f64; 3]; 5]>,
}

impl WaitBound {
    /// The bounds of a design in which nothing has been sent, and tiles take every flit at once.
    pub fn new(design: &Design) -> WaitBound {
        let (mesh, router) = (design.mesh, design.router);
        let registers = (0..mesh.rows()).map(|y| design.boundaries(y)).max().unwrap_or(0);
        // From a flit's departure to the return of its credit, with no register on the link.
        let credit = 2 + router.stages;
        WaitBound {
            mesh,
            depth: router.vc_depth,
            multicast: router.multicast,
            channels: Class::ALL.map(|class| router.vcs_of_class(class).len() as u32),
            period: f64::from(credit + 4 * registers) / f64::from(router.vc_depth),
            packet: 1,
            takes: [1.0; 3],
            sent: vec![[[0; 4]; 3]; mesh.tiles()],
            uses: vec![[[0; 3]; 5]; mesh.tiles()],
            pace: vec![[[0.0; 3]; 5]; mesh.tiles()],
        }
    }

    /// Sets, by class, the part of all cycles (0 to 1) in which the slowest tile takes a flit.
    pub fn taken(&mut self, takes: [f64; 3]) {
        self.takes = takes;
        self.forget();
    }

    /// Notes a packet of so many flits from a tile to a set of tiles, a bit each. True if it makes bounds larger.
    pub fn sends(&mut self, class: Class, source: NodeId, tiles: Tiles, flits: u32) -> bool {
        let longer = flits > self.packet;
        self.packet = self.packet.max(flits);
        let known = &mut self.sent[source.index()][class as usize];
        let new = std::array::from_fn(|word| tiles[word] & !known[word]);
        if new == [0; 4] {
            return longer;
        }
        known.iter_mut().zip(new).for_each(|(known, new)| *known |= new);
        for (at, input, output) in ways(self.mesh, source, &new) {
            self.uses[at.index()][input.index()][class as usize] |= 1 << output.index();
        }
        self.forget();
        true
    }

    fn forget(&mut self) {
        self.pace.fill([[0.0; 3]; 5]);
    }

    /// Most cycles from the head of a source queue to a destination, for flits that a tile has sent.
    pub fn cycles(&mut self, class: Class, source: NodeId) -> u64 {
        let ahead = f64::from(self.channels[class as usize] * (self.depth + self.packet));
        let claim = f64::from(CLAIM_PERIOD * (CLAIM_PERIODS + 1)) / self.takes[class as usize];
        let sent = self.sent[source.index()][class as usize];
        // From a buffer on, by tile and input: each is passed on one way only, so its sum is known when it is met.
        let mut sums = vec![[0.0; 5]; self.mesh.tiles()];
        let mut longest = 0.0_f64;
        for (at, input, output) in ways(self.mesh, source, &sent) {
            let pace = self.pace(at, input, class).max(self.precedence(at, input));
            let here = sums[at.index()][input.index()] + ahead * pace + claim;
            match self.mesh.neighbour(at, output) {
                Some(next) => sums[next.index()][output.opposite().index()] = here,
                None => longest = longest.max(here),
            }
        }
        // As a float turns into an integer, infinity becomes the largest.
        longest.ceil() as u64
    }

    /// The longest of any that has been sent; 0 if nothing has.
    pub fn longest(&mut self) -> u64 {
        let mesh = self.mesh;
        let flows = Class::ALL.into_iter().flat_map(|class| mesh.nodes().map(move |tile| (class, tile)));
        flows.map(|(class, tile)| self.cycles(class, tile)).max().unwrap_or(0)
    }

    /// Most cycles between two flits of a class that leave the buffer of an input.
    fn pace(&mut self, at: NodeId, input: Port, class: Class) -> f64 {
        let known = self.pace[at.index()][input.index()][class as usize];
        if known > 0.0 {
            return known;
        }
        let outputs = self.uses[at.index()][input.index()][class as usize];
        let pace = Port::ALL
            .into_iter()
            .filter(|output| outputs >> output.index() & 1 == 1)
            .map(|output| self.output_pace(at, output, class) / self.share(at, input, output, class))
            .fold(1.0, f64::max);
        self.pace[at.index()][input.index()][class as usize] = pace;
        pace
    }

    /// Most cycles between two flits of a class through an output: its turn among the classes there, or what the buffer
    /// beyond passes on.
    fn output_pace(&mut self, at: NodeId, output: Port, class: Class) -> f64 {
        let uses = &self.uses[at.index()];
        let sends = |class: usize| uses.iter().any(|classes| classes[class] >> output.index() & 1 == 1);
        let classes = (0..3).filter(|&class| sends(class)).count() as f64;
        let turn = classes.max(self.period);
        match self.mesh.neighbour(at, output) {
            Some(next) => turn.max(self.pace(next, output.opposite(), class)),
            None => turn / self.takes[class as usize],
        }
    }

    /// Cycles from one flit to the next where others of the same input may go before, north and south.
    fn precedence(&self, at: NodeId, input: Port) -> f64 {
        let outputs = self.uses[at.index()][input.index()].iter().fold(0, |all, outputs| all | outputs);
        let column = 1 << Port::North.index() | 1 << Port::South.index();
        if outputs & column != 0 && outputs & !column != 0 {
            f64::from(STARVE_LIMIT + 1)
        } else {
            0.0
        }
    }

    /// Least share of an input in the flits of a class at an output, of those that send there.
    fn share(&self, at: NodeId, input: Port, output: Port, class: Class) -> f64 {
        let sends = |port: Port| {
            let uses = self.uses[at.index()][port.index()][class as usize];
            uses >> output.index() & 1 == 1
        };
        let behind = |port: Port| if sends(port) { self.beyond(at, port) } else { 0.0 };
        // Of two sides, each with what it weighs, or nothing if it does not send.
        let of = |mine: f64, other: f64| mine / (mine + other);
        let [north, south, east, west] = [Port::North, Port::South, Port::East, Port::West].map(behind);
        let row = match input {
            Port::East => of(east, west),
            Port::West => of(west, east),
            _ => 1.0,
        };
        let in_row = matches!(input, Port::East | Port::West);
        let one = |weight: f64| if weight > 0.0 { 1.0 } else { 0.0 };
        if output == Port::Local {
            return match input {
                Port::North => of(north, south) * of(north + south, one(east + west)),
                Port::South => of(south, north) * of(north + south, one(east + west)),
                _ => row * of(1.0, north + south),
            };
        }
        let straight = output.opposite();
        if input == straight {
            let others = Port::ALL.into_iter().any(|port| port != straight && sends(port));
            return of(behind(straight), f64::from(u8::from(others)));
        }
        // A multicast that passes straight through weighs twice its tiles.
        let weight = if class == Class::KvData && self.multicast { 2.0 } else { 1.0 };
        let joins = of(1.0, weight * behind(straight));
        if matches!(output, Port::East | Port::West) {
            return joins;
        }
        let tile = f64::from(u8::from(sends(Port::Local)));
        joins * if in_row { row * of(east + west, tile) } else { of(1.0, east + west) }
    }

    /// Tiles beyond a port.
    fn beyond(&self, at: NodeId, port: Port) -> f64 {
        let (x, y) = self.mesh.coords(at);
        f64::from(match port {
            Port::North => self.mesh.rows() - 1 - y,
            Port::South => y,
            Port::East => self.mesh.cols() - 1 - x,
            Port::West => x,
            Port::Local => 1,
        })
    }
}

/// Routers that flits from a tile to others pass, along the row and then along columns: each with input and output, a
/// router after those before it.
fn ways(mesh: Mesh, source: NodeId, tiles: &Tiles) -> Vec<(NodeId, Port, Port)> {
    let mut passed = Vec::new();
    let to = (0..mesh.tiles()).filter(|tile| tiles[tile / 64] >> (tile % 64) & 1 == 1);
    for destination in to.filter_map(|tile| mesh.node_at(tile)) {
        let (mut at, mut input) = (source, Port::Local);
        loop {
            let output = mesh.xy_port(at, destination);
            passed.push((at, input, output));
            match mesh.neighbour(at, output) {
                Some(next) => (at, input) = (next, output.opposite()),
                None => break,
            }
        }
    }
    passed
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::design::network::wait_bound::*;

    fn design(cols: u32, rows: u32) -> Design {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows, config.floorplan.slr_registers) = (cols, rows, false);
        Design::from_config("bound", &config).expect("legal")
    }

    fn one(tile: usize) -> Tiles {
        std::array::from_fn(|word| if word == tile / 64 { 1 << (tile % 64) } else { 0 })
    }

    /// Every tile but the last sends classes to the last.
    fn all_to_last(design: &Design, classes: &[Class], packet: u32) -> WaitBound {
        let mut bound = WaitBound::new(design);
        let last = design.mesh.tiles() - 1;
        for source in design.mesh.nodes().filter(|source| source.index() != last) {
            for &class in classes {
                assert!(bound.sends(class, source, one(last), packet));
                assert!(!bound.sends(class, source, one(last), packet), "it is known");
            }
        }
        bound
    }

    const CLAIM: u64 = (CLAIM_PERIOD * (CLAIM_PERIODS + 1)) as u64;

    #[test]
    fn the_bound_of_two_by_two_tiles_is_the_sum_over_its_three_buffers() {
        let design = design(2, 2);
        let mut bound = all_to_last(&design, &[Class::Part], 1);
        let from = |tile| design.mesh.node_at(tile).expect("a tile");
        // Two channels of 8 + 1 flits. Tile 0 goes east, shares north with tile 1, and the tile with tile 2.
        assert_eq!(bound.cycles(Class::Part, from(0)), 18 * (4 + 4 + 2) + 3 * CLAIM);
        assert_eq!(bound.cycles(Class::Part, from(1)), 18 * (4 + 2) + 2 * CLAIM);
        assert_eq!(bound.cycles(Class::Part, from(2)), 18 * (2 + 2) + 2 * CLAIM);
        assert_eq!(bound.cycles(Class::KvData, from(2)), 0, "it has sent none");
    }

    #[test]
    fn a_flow_alone_waits_for_nothing_but_the_flits_before_it() {
        let design = design(8, 8);
        let mut bound = WaitBound::new(&design);
        let corner = design.mesh.node_at(0).expect("a tile");
        assert_eq!(bound.longest(), 0);
        assert!(bound.sends(Class::KvFetch, corner, one(63), 1));
        assert_eq!(bound.cycles(Class::KvFetch, corner), 15 * (9 + CLAIM));
        assert_eq!(bound.longest(), 15 * (9 + CLAIM));
    }

    #[test]
    fn it_grows_with_classes_packets_and_slow_tiles() {
        let design = design(8, 8);
        let waits = |classes: &[Class], packet, takes| {
            let mut bound = all_to_last(&design, classes, packet);
            bound.taken([takes; 3]);
            bound.cycles(Class::Part, design.mesh.node_at(0).expect("a tile"))
        };
        let one = waits(&[Class::Part], 1, 1.0);
        let shares = |cycles: u64| (cycles - 15 * CLAIM) as f64;
        assert!((shares(waits(&Class::ALL, 1, 1.0)) - 3.0 * shares(one)).abs() < 4.0);
        assert!(waits(&[Class::Part], 4, 1.0) > one);
        assert!(waits(&[Class::Part], 1, 0.5).abs_diff(2 * one) < 2);
        assert_eq!(waits(&Class::ALL, 1, 0.0), u64::MAX, "a tile that takes nothing bounds nothing");
    }

    #[test]
    fn flows_that_do_not_meet_do_not_wait_for_each_other() {
        let design = design(4, 4);
        let tile = |tile| design.mesh.node_at(tile).expect("a tile");
        let mut bound = WaitBound::new(&design);
        bound.sends(Class::Part, tile(0), one(3), 1);
        let alone = bound.cycles(Class::Part, tile(0));
        bound.sends(Class::Part, tile(8), one(11), 1);
        assert_eq!(bound.cycles(Class::Part, tile(0)), alone);
        bound.sends(Class::Part, tile(1), one(2), 1);
        assert!(bound.cycles(Class::Part, tile(0)) > alone);
    }
}
