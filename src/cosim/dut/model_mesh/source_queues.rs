//! Source queues of the tiles: they choose the next flit to enter and its virtual channel.
//!
//! Each tile offers at most one flit a cycle, its three queues in turn. The first flit of a packet
//! takes the virtual channel of its mask with most credits, and the others follow it. This is
//! `offer_flits` of `sim/harness.cpp`.

use crate::cosim::dut::network::{Entry, Injection};
use crate::design::{Class, Mesh};
use crate::model::cycle::network::{Kept, RouterMesh};
use std::collections::VecDeque;

/// Most cycles that a tile sleeps before it is checked again.
const AHEAD: u64 = 256;

const QUEUES: usize = Class::ALL.len();

/// A flit in its queue.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    ready: u64,
    flit: Kept,
    /// Virtual channels that it may enter on.
    vcs: u8,
    last: bool,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// The virtual channel of the packet under way.
    vc: Option<u32>,
    /// Start of the search for a channel, so that equal credits are used in turn.
    next_vc: u32,
    entered: u64,
}

/// Queues and credits of all tiles.
#[derive(Debug)]
pub(super) struct Sources {
    mesh: Mesh,
    vcs: u32,
    depth: u32,
    /// By tile and class.
    queues: Vec<[Queue; QUEUES]>,
    next_queue: Vec<u8>,
    /// Tiles with a flit that may enter, a bit each, and by cycle the tiles that have one from then
    /// on.
    awake: [u64; 4],
    wake: Box<[[u64; 4]; AHEAD as usize]>,
    /// Free slots of the router, by tile and virtual channel.
    credits: Vec<u32>,
    /// A flit was ready in the last period and could not enter.
    ready: bool,
}

impl Sources {
    pub(super) fn new(mesh: Mesh, vcs: u32, depth: u32) -> Sources {
        let mut sources = Sources {
            mesh,
            vcs,
            depth,
            queues: mesh.nodes().map(|_| Default::default()).collect(),
            next_queue: Vec::new(),
            awake: [0; 4],
            wake: Box::new([[0; 4]; AHEAD as usize]),
            credits: Vec::new(),
            ready: false,
        };
        sources.reset();
        sources
    }

    pub(super) fn reset(&mut self) {
        let tiles = self.mesh.tiles();
        for queue in self.queues.iter_mut().flatten() {
            // The queue keeps its memory, not its flits.
            queue.waiting.clear();
            (queue.vc, queue.next_vc, queue.entered) = (None, 0, 0);
        }
        self.next_queue = vec![0; tiles];
        self.awake = [0; 4];
        self.wake.fill([0; 4]);
        self.credits = vec![self.depth; tiles * self.vcs as usize];
        self.ready = false;
    }

    /// Appends a flit in the period `cycle`.
    pub(super) fn push(&mut self, cycle: u64, injection: &Injection<'_>, flit: Kept) {
        let &Injection { tile, class, vc_mask, ready_cycle: ready, last, .. } = injection;
        let vcs = vc_mask as u8;
        let tile = tile.index();
        let queue = &mut self.queues[tile][class as usize].waiting;
        queue.push_back(Waiting { ready, flit, vcs, last });
        if queue.len() == 1 {
            self.sleep(tile, ready, cycle);
        }
    }

    /// Notes a free slot of the router.
    pub(super) fn credit(&mut self, tile: usize, vc: u32) {
        self.credits[tile * self.vcs as usize + vc as usize] += 1;
    }

    pub(super) fn credits_home(&self) -> bool {
        self.credits.iter().all(|&credits| credits == self.depth)
    }

    /// True if a flit was kept out in the last period.
    pub(super) fn ready(&self) -> bool {
        self.ready
    }

    /// Schedules the next check of a tile for when a flit is ready, or earlier.
    fn sleep(&mut self, tile: usize, ready: u64, cycle: u64) {
        // The slot of the present cycle is checked again if it has not been yet.
        let at = ready.clamp(cycle, cycle + AHEAD - 1);
        self.wake[(at % AHEAD) as usize][tile / 64] |= 1 << (tile % 64);
    }

    /// Puts flits that may enter on the links; true if there is one.
    pub(super) fn offer(&mut self, cycle: u64, routers: &mut RouterMesh, entries: &mut Vec<Entry>) -> bool {
        self.ready = false;
        let before = entries.len();
        let due = std::mem::take(&mut self.wake[(cycle % AHEAD) as usize]);
        for (w, due) in due.into_iter().enumerate() {
            self.awake[w] |= due;
            let mut awake = self.awake[w];
            while awake != 0 {
                let tile = w * 64 + awake.trailing_zeros() as usize;
                awake &= awake - 1;
                self.offer_one(tile, cycle, routers, entries);
            }
        }
        entries.len() > before
    }

    /// Puts a flit of a tile on its link, from the first queue in turn that has one.
    fn offer_one(&mut self, tile: usize, cycle: u64, routers: &mut RouterMesh, entries: &mut Vec<Entry>) {
        for i in 0..QUEUES {
            let queue = (usize::from(self.next_queue[tile]) + i) % QUEUES;
            if let Some(entry) = self.enter(tile, queue, cycle, routers) {
                entries.push(entry);
                self.next_queue[tile] = ((queue + 1) % QUEUES) as u8;
                break;
            }
        }
        let heads = self.queues[tile].iter().filter_map(|queue| queue.waiting.front());
        let ready = heads.map(|head| head.ready).min();
        if ready.is_none_or(|ready| ready > cycle + 1) {
            self.awake[tile / 64] &= !(1 << (tile % 64));
            if let Some(ready) = ready {
                self.sleep(tile, ready, cycle + 1);
            }
        }
    }

    /// Takes the head of a queue, if it is ready and has a credit.
    fn enter(&mut self, tile: usize, class: usize, cycle: u64, routers: &mut RouterMesh) -> Option<Entry> {
        let credits = &mut self.credits[tile * self.vcs as usize..][..self.vcs as usize];
        let queue = &mut self.queues[tile][class];
        let head = queue.waiting.front().filter(|head| head.ready <= cycle)?;
        let vc = queue.vc.or_else(|| most_credits(credits, queue.next_vc, u32::from(head.vcs)));
        let Some(vc) = vc.filter(|&vc| credits[vc as usize] > 0) else {
            self.ready = true;
            return None;
        };
        credits[vc as usize] -= 1;
        routers.inject_kept(tile, vc, head.flit);
        queue.vc = if head.last { None } else { Some(vc) };
        queue.next_vc = vc + 1;
        queue.waiting.pop_front();
        queue.entered += 1;
        let tile = self.mesh.node_at(tile).expect("a queue a tile");
        Some(Entry { cycle, tile, class: Class::ALL[class], sequence: queue.entered - 1, vc })
    }
}

/// The virtual channel of a mask with most credits; among equals the first from `next` on, so that
/// none idles.
fn most_credits(credits: &[u32], next: u32, mask: u32) -> Option<u32> {
    let vcs = credits.len() as u32;
    let mut best = None;
    let mut most = 0;
    for i in 0..vcs {
        let vc = if next + i >= vcs { next + i - vcs } else { next + i };
        if mask >> vc & 1 == 1 && credits[vc as usize] > most {
            (best, most) = (Some(vc), credits[vc as usize]);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_credits_win_and_equal_ones_take_turns() {
        assert_eq!(most_credits(&[1, 3, 2, 3], 0, 0b1111), Some(1));
        assert_eq!(most_credits(&[1, 3, 2, 3], 2, 0b1111), Some(3));
        assert_eq!(most_credits(&[1, 3, 2, 3], 4, 0b0101), Some(2));
        assert_eq!(most_credits(&[0, 3], 0, 0b01), None);
    }
}
