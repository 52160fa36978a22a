//! A stand-in for the network: every flit arrives at some time, those of one channel between two tiles in order.

use crate::cosim::hash::mix;
use crate::design::{index_bits, Design};
use std::collections::{BTreeMap, VecDeque};

/// A flit as words of its ports.
#[derive(Debug, Clone)]
pub(super) struct Flit {
    pub(super) vc: u32,
    pub(super) head: Vec<u32>,
    pub(super) data: Vec<u32>,
}

/// Flits on their way, by when they may arrive.
type Way = VecDeque<(u64, Flit)>;

/// Flits on their way, and the credits of both sides.
pub(super) struct Network {
    multicast: bool,
    cols: u32,
    /// By destination, then by source and channel.
    ways: Vec<BTreeMap<(usize, u32), Way>>,
    /// Credits on their way back, by source: channel and cycle.
    back: Vec<Vec<(u32, u64)>>,
    /// Slots left at each tile, by channel.
    room: Vec<Vec<u32>>,
    random: u64,
}

/// The usual longest latency, and a rare one that makes a tile repeat its request.
const LATENCY: u64 = 40;
const LATE: u64 = 3000;

impl Network {
    pub(super) fn new(design: &Design, seed: u64) -> Network {
        let (tiles, router) = (design.mesh.tiles(), design.router);
        Network {
            multicast: router.multicast,
            cols: design.mesh.cols(),
            ways: vec![BTreeMap::new(); tiles],
            back: vec![Vec::new(); tiles],
            room: vec![vec![router.vc_depth; router.vcs() as usize]; tiles],
            random: mix(seed ^ 0x6e65_7477),
        }
    }

    fn below(&mut self, n: u64) -> u64 {
        self.random = mix(self.random);
        (self.random >> 16) % n
    }

    /// The credits of a tile in this cycle, and a flit if one may arrive.
    pub(super) fn shows(&mut self, tile: usize, cycle: u64) -> (u64, Option<Flit>) {
        let mut credit = 0;
        self.back[tile].retain(|&(vc, due)| {
            let comes = due <= cycle && credit >> vc & 1 == 0;
            credit |= u64::from(comes) << vc;
            !comes
        });
        let room = &self.room[tile];
        let ripe = |way: &Way| way.front().is_some_and(|(due, f)| *due <= cycle && room[f.vc as usize] > 0);
        let ready: Vec<_> =
            self.ways[tile].iter().filter(|(_, way)| ripe(way)).map(|(key, _)| *key).collect();
        if ready.is_empty() {
            return (credit, None);
        }
        let key = ready[self.below(ready.len() as u64) as usize];
        let (_, flit) = self.ways[tile].get_mut(&key).and_then(Way::pop_front).expect("it is ripe");
        self.room[tile][flit.vc as usize] -= 1;
        (credit, Some(flit))
    }

    /// Accepts credits for slots that a tile has freed.
    pub(super) fn credited(&mut self, tile: usize, credit: u64) {
        for (vc, room) in self.room[tile].iter_mut().enumerate() {
            *room += (credit >> vc & 1) as u32;
        }
    }

    /// Accepts a flit from a tile.
    pub(super) fn takes(&mut self, tile: usize, cycle: u64, flit: Flit, dest: &[u32]) {
        let back = cycle + self.below(LATENCY / 2);
        self.back[tile].push((flit.vc, back));
        let late = if self.below(2000) == 0 { LATE } else { 0 };
        for to in self.tiles(dest) {
            let due = cycle + 1 + late + self.below(LATENCY);
            self.ways[to].entry((tile, flit.vc)).or_default().push_back((due, flit.clone()));
        }
    }

    fn tiles(&self, dest: &[u32]) -> Vec<usize> {
        if self.multicast {
            return (0..self.ways.len()).filter(|to| dest[to / 32] >> (to % 32) & 1 == 1).collect();
        }
        let x_bits = index_bits(self.cols);
        vec![((dest[0] >> x_bits) * self.cols + (dest[0] & ((1 << x_bits) - 1))) as usize]
    }
}
