//! What brings slices to a tile and sends out those it is home of (`meshkv_transport`).
//!
//! * `requester`: slots, generations, history; `reorder`: the FIFO to what computes.
//! * `port`: credits and turns at the router's local port.
//! * `events`: what is counted.
//!
//! The home agent is in [`home_agent`](super::home_agent). In a period the port decides first, since what it takes moves
//! the home's stream; then the home, whose answer the tile's own fetch waits for; then the requester.

use super::events::{Event, Events};
use super::home_agent::{HomeAgent, HomeIn};
use super::messages::{Command, Fetch, PartFlit, RootFlit, Staged};
use super::params::MareParams;
use super::requester::{Requester, RequesterIn};
use super::tile_port::{PortIn, Sent, TilePort};
use crate::model::cycle::common::BloomPeriod;

/// What the transport is given in a period.
#[derive(Debug, Clone, Copy, Default)]
pub struct TransportIn<'a> {
    /// What the router shows.
    pub rx: Option<Sent>,
    /// Slots freed in the router's local input, one bit a virtual channel.
    pub tx_credit: u32,
    /// A command for the requester.
    pub command: Option<&'a Command>,
    /// What is written into the staging memory and said of its slots.
    pub staged: Staged,
    /// What computes takes the flit that is shown to it.
    pub kv_ready: bool,
    /// Its clock has no edge at the end of this period.
    pub apart: bool,
    /// What computes has nothing to do; read only where stages do not overlap.
    pub compute_idle: bool,
    /// A flit of a partial result.
    pub part: Option<&'a PartFlit>,
    /// Slots freed in the root's buffers, as [`RootFlit::valid`] numbers them.
    pub root_credit: u32,
}

/// What a period carried at the transport.
#[derive(Debug, Clone, Copy, Default)]
pub struct TransportOut {
    /// The command was accepted.
    pub command_ready: bool,
    /// The flit of PART was taken.
    pub part_ready: bool,
    /// What the reduce root gets.
    pub root: Option<RootFlit>,
    /// A flit of KV_DATA left for the router.
    pub data_sent: bool,
    /// A slot of KV_DATA has come free in the router.
    pub data_credit: bool,
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
    /// That of the tile at (x, y).
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

    /// The link to the router.
    pub fn port(&self) -> &TilePort {
        &self.port
    }

    /// What the tile asks for.
    pub fn requester(&self) -> &Requester {
        &self.requester
    }

    /// What it is home of.
    pub fn home(&self) -> &HomeAgent {
        &self.home
    }

    /// Passes a period. Whoever counts beside it has scanned `events` before.
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
            data_credit: input.tx_credit >> (self.vn0_vcs + 1) != 0,
        }
    }

    /// An edge of the clock of what computes, by itself.
    pub fn kv_edge(&mut self, takes: bool) {
        self.requester.kv_edge(takes);
    }
}
