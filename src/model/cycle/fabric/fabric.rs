//! Fabric: routers joined to their endpoints.

use super::endpoints::{Endpoints, FabricIn, FabricShown, LocalIn};
use crate::design::{Design, NodeId, Port};
use crate::model::cycle::common::{BloomPeriod, Reached};
use crate::model::cycle::mare::{Events, KvFlit, MareParams, TilePort, Transport, TransportIn, TransportOut};
use crate::model::cycle::network::{RouterMesh, Upset, TOTALS};
use crate::model::cycle::takv::Kind;

/// Routers, and their outputs to the tiles.
#[derive(Debug)]
pub struct Network {
    routers: RouterMesh,
    locals: Vec<LocalIn>,
    vcs: u32,
}

impl Network {
    /// Creates the network in its reset state.
    fn new(design: &Design) -> Network {
        let locals = vec![LocalIn::default(); design.mesh.tiles()];
        Network { routers: RouterMesh::new(design), locals, vcs: design.router.vcs() }
    }

    /// Exchanges flits and credits of this period over the local links.
    fn meet<'a>(&mut self, ports: impl Iterator<Item = &'a TilePort>) {
        self.locals.fill(LocalIn::default());
        for shown in self.routers.shown() {
            self.locals[shown.tile].rx = Some((shown.vc, *shown.flit));
        }
        for (tile, vc) in self.routers.credits_shown() {
            self.locals[tile].tx_credit |= 1 << vc;
        }
        for (tile, port) in ports.enumerate() {
            if let Some((vc, flit)) = port.tx() {
                self.routers.inject(tile, *vc, flit);
            }
            let mut credit = port.rx_credit();
            while credit != 0 {
                self.routers.credit(tile, credit.trailing_zeros());
                credit &= credit - 1;
            }
        }
    }

    /// Virtual channels of a router's inputs that hold a flit now: bit port * VCS + channel.
    pub fn busy(&self, tile: usize) -> u64 {
        Port::ALL.iter().fold(0, |busy, &port| {
            busy | u64::from(self.routers.busy(tile, port)) << (port.index() as u32 * self.vcs)
        })
    }

    /// Link counter at the port in the last period.
    pub fn counter_shown(&self) -> usize {
        // A value that the scan reads drives the port two cycles later.
        (self.routers.cycle().saturating_sub(3) % TOTALS as u64) as usize
    }

    /// Totals of that counter, by tile.
    pub fn counters(&self) -> &[u32] {
        self.routers.counters(self.counter_shown())
    }

    /// Injects a fault into a router.
    pub fn upset(&mut self, tile: NodeId, upset: Upset) {
        self.routers.upset(tile, upset);
    }
}

/// Fabric.
#[derive(Debug)]
pub struct Fabric {
    endpoints: Endpoints,
    network: Network,
}

impl Fabric {
    /// Creates the fabric in its reset state.
    pub fn new(design: &Design) -> Fabric {
        Fabric { endpoints: Endpoints::new(design), network: Network::new(design) }
    }

    /// The routers.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The routers, for fault injection.
    pub fn network_mut(&mut self) -> &mut Network {
        &mut self.network
    }

    /// Periods since reset.
    pub fn cycle(&self) -> u64 {
        self.endpoints.cycle()
    }

    /// Outputs in the last period.
    pub fn shown(&self) -> &FabricShown {
        self.endpoints.shown()
    }

    /// Rare states that it has reached.
    pub fn reached(&self) -> Reached {
        self.endpoints.reached()
    }

    /// Flit from a tile to its PaD.
    pub fn kv(&self, tile: usize) -> Option<&KvFlit> {
        self.endpoints.tiles()[tile].transport().requester().kv()
    }

    /// A tile has part of a query for its PaD.
    pub fn hears_query(&self, tile: usize) -> bool {
        self.endpoints.tiles()[tile].bus().word().is_some_and(|word| word.kind == Kind::Query)
    }

    /// Clocks the PaD's side of a tile alone.
    pub fn kv_edge(&mut self, tile: usize, takes: bool) {
        self.endpoints.kv_edge(tile, takes);
    }

    /// Advances one clock period.
    pub fn step(&mut self, input: &FabricIn) {
        self.network.meet(self.endpoints.tiles().iter().map(|tile| tile.transport().port()));
        self.endpoints.step(input, &self.network.locals);
        self.network.routers.tick();
    }
}

/// Outputs of a transport in a period.
#[derive(Debug, Clone, Copy, Default)]
pub struct NodeShown {
    /// Results of the period.
    pub out: TransportOut,
    /// Flit for the PaD.
    pub kv: Option<KvFlit>,
    /// Counter at the port, and its total.
    pub event: (usize, u32),
}

/// Routers with the transport of each tile. The caller supplies commands and staging updates.
#[derive(Debug)]
pub struct Nodes {
    transports: Vec<Transport>,
    events: Vec<Events>,
    shown: Vec<NodeShown>,
    network: Network,
    cycle: u64,
    bloom_refresh: u32,
}

impl Nodes {
    /// Creates the nodes in their reset state.
    pub fn new(design: &Design) -> Nodes {
        let (params, mesh) = (MareParams::of(design), design.mesh);
        let coords = mesh.nodes().map(|node| mesh.coords(node));
        Nodes {
            transports: coords.map(|(x, y)| Transport::new(&params, x, y)).collect(),
            events: vec![Events::default(); mesh.tiles()],
            shown: vec![NodeShown::default(); mesh.tiles()],
            network: Network::new(design),
            cycle: 0,
            bloom_refresh: design.mare.bloom_refresh,
        }
    }

    /// The routers.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The routers, for fault injection.
    pub fn network_mut(&mut self) -> &mut Network {
        &mut self.network
    }

    /// Transport of every tile with its present registers.
    pub fn transports(&self) -> &[Transport] {
        &self.transports
    }

    /// Periods since reset.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Rare states that transports have reached.
    pub fn reached(&self) -> Reached {
        let mut all = Reached::default();
        self.events.iter().for_each(|events| all.add(events.reached()));
        all
    }

    /// Outputs of each tile in the last period.
    pub fn shown(&self) -> &[NodeShown] {
        &self.shown
    }

    /// Advances one clock period. The links to the routers in `inputs` are ignored.
    pub fn step(&mut self, inputs: &[TransportIn]) {
        self.network.meet(self.transports.iter().map(Transport::port));
        let period = BloomPeriod::at(self.cycle, self.bloom_refresh);
        for (tile, transport) in self.transports.iter_mut().enumerate() {
            let LocalIn { rx, tx_credit } = self.network.locals[tile];
            let (kv, event) = (transport.requester().kv().copied(), self.events[tile].scan());
            let input = TransportIn { rx, tx_credit, ..inputs[tile] };
            let out = transport.step(period, &input, &mut self.events[tile]);
            self.shown[tile] = NodeShown { out, kv, event };
        }
        self.network.routers.tick();
        self.cycle += 1;
    }
}
