//! Source queues of the tiles, and which flit of which queue enters on which virtual channel.
//!
//! Each tile offers at most one flit a cycle, its three queues in turn; a packet's first flit takes the virtual
//! channel of its mask with most credits, the others follow it. This is `offer_flits` of `sim/harness.cpp`.

use crate::cosim::network::{Entry, Injection};
use crate::design::{Class, Mesh};
use crate::model::cycle::{Flit, RouterMesh};
use std::collections::VecDeque;

const QUEUES: usize = Class::ALL.len();

/// A flit in its queue.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    flit: Flit,
    ready: u64,
    vc_mask: u32,
    last: bool,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// The virtual channel that the packet under way travels on.
    vc: Option<u32>,
    /// Where the search for one starts, so that equal credits are used in turn.
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
    /// By tile, the first cycle in which a flit at the head of a queue may enter.
    wake: Vec<u64>,
    /// By tile and virtual channel, free slots of the router.
    credits: Vec<u32>,
    /// A flit could not enter in the last period although it was ready.
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
            wake: Vec::new(),
            credits: Vec::new(),
            ready: false,
        };
        sources.reset();
        sources
    }

    pub(super) fn reset(&mut self) {
        let tiles = self.mesh.tiles();
        for queue in self.queues.iter_mut().flatten() {
            // The queue keeps its room, not its flits.
            queue.waiting.clear();
            (queue.vc, queue.next_vc, queue.entered) = (None, 0, 0);
        }
        self.next_queue = vec![0; tiles];
        self.wake = vec![u64::MAX; tiles];
        self.credits = vec![self.depth; tiles * self.vcs as usize];
        self.ready = false;
    }

    pub(super) fn push(&mut self, injection: &Injection<'_>, flit: Flit) {
        let &Injection { tile, class, vc_mask, ready_cycle: ready, last, .. } = injection;
        let tile = tile.index();
        let queue = &mut self.queues[tile][class as usize].waiting;
        queue.push_back(Waiting { flit, ready, vc_mask, last });
        if queue.len() == 1 {
            self.wake[tile] = self.wake[tile].min(ready);
        }
    }

    /// A slot of the router is free again.
    pub(super) fn credit(&mut self, tile: usize, vc: u32) {
        self.credits[tile * self.vcs as usize + vc as usize] += 1;
    }

    pub(super) fn credits_home(&self) -> bool {
        self.credits.iter().all(|&credits| credits == self.depth)
    }

    /// Whether a flit was kept out in the last period.
    pub(super) fn ready(&self) -> bool {
        self.ready
    }

    /// Puts what may enter on the links; true if anything does.
    pub(super) fn offer(&mut self, cycle: u64, routers: &mut RouterMesh, entries: &mut Vec<Entry>) -> bool {
        self.ready = false;
        let before = entries.len();
        for tile in 0..self.wake.len() {
            if self.wake[tile] > cycle {
                continue;
            }
            for i in 0..QUEUES {
                let queue = (usize::from(self.next_queue[tile]) + i) % QUEUES;
                if let Some(entry) = self.enter(tile, queue, cycle, routers) {
                    entries.push(entry);
                    self.next_queue[tile] = ((queue + 1) % QUEUES) as u8;
                    let heads = self.queues[tile].iter().filter_map(|queue| queue.waiting.front());
                    self.wake[tile] = heads.map(|head| head.ready).min().unwrap_or(u64::MAX);
                    break;
                }
            }
        }
        entries.len() > before
    }

    /// The head of a queue enters, if it is ready and has a credit.
    fn enter(&mut self, tile: usize, class: usize, cycle: u64, routers: &mut RouterMesh) -> Option<Entry> {
        let credits = &mut self.credits[tile * self.vcs as usize..][..self.vcs as usize];
        let queue = &mut self.queues[tile][class];
        let head = queue.waiting.front().filter(|head| head.ready <= cycle)?;
        let vc = queue.vc.or_else(|| most_credits(credits, queue.next_vc, head.vc_mask));
        let Some(vc) = vc.filter(|&vc| credits[vc as usize] > 0) else {
            self.ready = true;
            return None;
        };
        credits[vc as usize] -= 1;
        routers.inject(tile, vc, &head.flit);
        queue.vc = if head.last { None } else { Some(vc) };
        queue.next_vc = vc + 1;
        queue.waiting.pop_front();
        queue.entered += 1;
        let tile = self.mesh.node_at(tile).expect("a queue a tile");
        Some(Entry { cycle, tile, class: Class::ALL[class], sequence: queue.entered - 1, vc })
    }
}

/// The virtual channel of a mask with most credits; among equals the first from `next` on, so that none idles.
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
