//! Transport of a tile: requester, home agent and port (`meshkv_transport`).
//!
//! In a period the port decides first, because its choice moves the home's stream. The home follows, because
//! the tile's own fetch waits for its answer. The requester comes last.

use super::events::{Event, Events};
use super::messages::{Command, Fetch, PartFlit, RootFlit, Staged};
use super::params::MareParams;
use super::requester::{Requester, RequesterIn};
use super::tile_port::{PortIn, Sent, TilePort};
use crate::model::cycle::common::BloomPeriod;
use crate::model::cycle::mare::home::home_agent::{HomeAgent, HomeIn};

/// Inputs of the transport in a period.
#[derive(Debug, Clone, Copy, Default)]
pub struct TransportIn<'a> {
    /// Flit from the router.
    pub rx: Option<Sent>,
    /// Slots freed in the router's local input, one bit a virtual channel.
    pub tx_credit: u32,
    /// Command for the requester.
    pub command: Option<&'a Command>,
    /// Writes and slot updates of the staging memory.
    pub staged: Staged,
    /// The PaD takes its flit.
    pub kv_ready: bool,
    /// The PaD's clock has no edge at the end of this period.
    pub apart: bool,
    /// The PaD has nothing to do; used only where stages do not overlap.
    pub compute_idle: bool,
    /// Flit of a partial result.
    pub part: Option<&'a PartFlit>,
    /// Slots freed in the root's buffers, numbered as in [`RootFlit::valid`].
    pub root_credit: u32,
}

/// Results of a period at the transport.
#[derive(Debug, Clone, Copy, Default)]
pub struct TransportOut {
    /// The command was accepted.
    pub command_ready: bool,
    /// The flit of PART was taken.
    pub part_ready: bool,
    /// Flit for the reduce root.
    pub root: Option<RootFlit>,
    /// A flit of KV_DATA was sent to the router.
    pub data_sent: bool,
    /// Slots of KV_DATA that became free in the router.
    pub data_credit: u32,
}

/// Requester, home and port of one tile.
#[derive(Debug, Clone)]
pub struct Transport {
    x: u32,
    y: u32,
    port: TilePort,
    requester: Requester,
    home: HomeAgent,
    vn0_vcs: u32,
}

impl Transport {
    /// Creates the transport of the tile at (x, y).
    pub fn new(params: &MareParams, x: u32, y: u32) -> Transport {
        Transport {
            x,
            y,
            port: TilePort::new(params, x, y),
            requester: Requester::new(params),
            home: HomeAgent::new(params),
            vn0_vcs: params.vn0_vcs,
        }
    }

    /// Port to the router.
    pub fn port(&self) -> &TilePort {
        &self.port
    }

    /// Requester.
    pub fn requester(&self) -> &Requester {
        &self.requester
    }

    /// Home agent.
    pub fn home(&self) -> &HomeAgent {
        &self.home
    }

    /// Advances one clock period. A caller that counts other events has scanned `events` before.
    pub fn step(&mut self, period: BloomPeriod, input: &TransportIn, events: &mut Events) -> TransportOut {
        let Transport { port, requester, home, .. } = self;
        let to_port = PortIn {
            rx: input.rx,
            tx_credit: input.tx_credit,
            data: home.streamed(),
            fetch: requester.fetch(),
            part: input.part,
        };
        let choice = port.choose(&to_port);
        let own = requester.fetch().filter(|_| choice.own_fetch);
        let own = own.map(|fetch| Fetch { x: self.x, y: self.y, ..*fetch });
        let rx = port.arrival(&to_port, &choice);
        let root = port.to_root(&to_port, &choice);
        let of_net = port.fetch_from_network(input.rx);
        events.count_if(to_port.data.is_some() && choice.data_ready, Event::Stream);
        events.count_if(to_port.data.is_some() && !choice.data_ready, Event::Stall);
        events.count_if(choice.keeps, Event::Keep);
        port.pass(&to_port, &choice);
        let to_home = HomeIn { of_net, own, data_ready: choice.data_ready, staged: input.staged, period };
        let of_home = home.step(&to_home, events);
        port.give_back(input.rx, of_home.credit, input.root_credit);
        let fetch_ready = if choice.own_fetch { of_home.own_ready } else { choice.fetches };
        let to_requester = RequesterIn {
            fetch_ready,
            rx,
            tick: period.tick,
            kv_ready: input.kv_ready,
            apart: input.apart,
            compute_idle: input.compute_idle,
        };
        TransportOut {
            command_ready: requester.step(input.command, to_requester, events),
            part_ready: choice.own_part || choice.parts,
            root,
            data_sent: choice.leaves,
            data_credit: (input.tx_credit >> (self.vn0_vcs + 1)).count_ones(),
        }
    }

    /// Clocks the PaD's side alone.
    pub fn kv_edge(&mut self, takes: bool) {
        self.requester.kv_edge(takes);
    }
}
