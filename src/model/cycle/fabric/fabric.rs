//! All of the fabric: routers joined to what stands beside them.

use super::endpoints::{Endpoints, FabricIn, FabricShown, LocalIn};
use crate::design::{Design, NodeId, Port};
use crate::model::cycle::common::BloomPeriod;
use crate::model::cycle::mare::{Events, KvFlit, MareParams, TilePort, Transport, TransportIn, TransportOut};
use crate::model::cycle::network::{RouterMesh, Upset, TOTALS};
use crate::model::cycle::takv::Kind;

/// The routers, and what they show their tiles.
#[derive(Debug)]
pub struct Network {
    routers: RouterMesh,
    locals: Vec<LocalIn>,
    vcs: u32,
}

impl Network {
    /// Out of reset.
    fn new(design: &Design) -> Network {
        let locals = vec![LocalIn::default(); design.mesh.tiles()];
        Network { routers: RouterMesh::new(design), locals, vcs: design.router.vcs() }
    }

    /// Reads what both sides of the local links show in this period.
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

    /// The link counter that was shown in the last period.
    pub fn counter_shown(&self) -> usize {
        // What the scan sees shows a cycle later.
        (self.routers.cycle().saturating_sub(2) % TOTALS as u64) as usize
    }

    /// Its total at a router.
    pub fn counter(&self, tile: usize) -> u32 {
        self.routers.counter(tile, self.counter_shown())
    }

    /// Changes the state of a router.
    pub fn upset(&mut self, tile: NodeId, upset: Upset) {
        self.routers.upset(tile, upset);
    }
}

/// The fabric.
#[derive(Debug)]
pub struct Fabric {
    endpoints: Endpoints,
    network: Network,
}

impl Fabric {
    /// Out of reset.
    pub fn new(design: &Design) -> Fabric {
        Fabric { endpoints: Endpoints::new(design), network: Network::new(design) }
    }

    /// The routers.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The routers, to be upset.
    pub fn network_mut(&mut self) -> &mut Network {
        &mut self.network
    }

    /// Periods that have passed since reset.
    pub fn cycle(&self) -> u64 {
        self.endpoints.cycle()
    }

    /// What the ports showed in the last period.
    pub fn shown(&self) -> &FabricShown {
        self.endpoints.shown()
    }

    /// The flit that a tile shows to what computes.
    pub fn kv(&self, tile: usize) -> Option<&KvFlit> {
        self.endpoints.tiles()[tile].transport().requester().kv()
    }

    /// A tile has a part of a query for what computes.
    pub fn hears_query(&self, tile: usize) -> bool {
        self.endpoints.tiles()[tile].bus().word().is_some_and(|word| word.kind == Kind::Query)
    }

    /// An edge of the clock of what computes at a tile, by itself.
    pub fn kv_edge(&mut self, tile: usize, takes: bool) {
        self.endpoints.kv_edge(tile, takes);
    }

    /// Passes a period.
    pub fn step(&mut self, input: &FabricIn) {
        self.network.meet(self.endpoints.tiles().iter().map(|tile| tile.transport().port()));
        self.endpoints.step(input, &self.network.locals);
        self.network.routers.tick();
    }
}

/// What a transport by itself showed in a period.
#[derive(Debug, Clone, Copy, Default)]
pub struct NodeShown {
    /// What the period carried.
    pub out: TransportOut,
    /// A flit for what computes.
    pub kv: Option<KvFlit>,
    /// The counter that is shown, and its total.
    pub event: (usize, u32),
}

/// Routers with the transport of each tile, which is told from outside what to fetch and what its home holds.
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
    /// Out of reset.
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

    /// The routers, to be upset.
    pub fn network_mut(&mut self) -> &mut Network {
        &mut self.network
    }

    /// The transport of every tile, as its registers are now.
    pub fn transports(&self) -> &[Transport] {
        &self.transports
    }

    /// Periods that have passed since reset.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// What each tile showed in the last period.
    pub fn shown(&self) -> &[NodeShown] {
        &self.shown
    }

    /// Passes a period; links to the routers need not be given.
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
