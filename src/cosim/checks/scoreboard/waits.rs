//! The longest wait of each class and source, for the flits sent so far.

use crate::cosim::traffic::packet::Packet;
use crate::design::{Class, Design, NodeId, WaitBound};

/// Bounds for the flows and packets seen.
#[derive(Debug)]
pub(super) struct Waits {
    bound: WaitBound,
    multicast: bool,
    /// By source and class, the bound when it was last computed; it only grows with the flits sent.
    cycles: Vec<[u64; 3]>,
    /// It may have grown since.
    stale: Vec<[bool; 3]>,
}

impl Waits {
    /// Nothing has been sent, and tiles take every flit at once.
    pub fn new(design: &Design) -> Waits {
        let (bound, multicast, tiles) =
            (WaitBound::new(design), design.router.multicast, design.mesh.tiles());
        Waits { bound, multicast, cycles: vec![[0; 3]; tiles], stale: vec![[false; 3]; tiles] }
    }

    /// Sets, by tile that stalls, the part of all cycles in which it takes no flit.
    pub fn stalled(&mut self, stalls: &[f64]) {
        let slowest = 1.0 - stalls.iter().copied().fold(0.0, f64::max);
        let multicast = if self.multicast { together(stalls) } else { slowest };
        let takes = |class| if class == Class::KvData { multicast } else { slowest };
        self.bound.taken(Class::ALL.map(takes));
        self.stale.fill([true; 3]);
    }

    /// Notes a packet.
    pub fn sends(&mut self, packet: &Packet) {
        if self.bound.sends(packet.class, packet.source, packet.dests.bits(), packet.flits) {
            self.stale.fill([true; 3]);
        }
    }

    /// Most cycles that a flit of a class from a tile may wait; `None` if that many are within the bound.
    pub fn exceeded(&mut self, class: Class, source: NodeId, waited: u64) -> Option<u64> {
        let (tile, kind) = (source.index(), class as usize);
        if waited <= self.cycles[tile][kind] {
            return None;
        }
        if std::mem::take(&mut self.stale[tile][kind]) {
            self.cycles[tile][kind] = self.bound.cycles(class, source);
        }
        Some(self.cycles[tile][kind]).filter(|&most| waited > most)
    }

    /// The longest time that any sent flit may wait; 0 if no flit was sent.
    pub fn longest(&self) -> u64 {
        self.bound.clone().longest()
    }
}

/// Rate at which tiles that stall independently take one flit after the other, each when all have taken the one before it:
/// one over the mean of the longest of their waits. Buffers between them only make it larger.
fn together(stalls: &[f64]) -> f64 {
    let Some(most) = stalls.iter().copied().reduce(f64::max) else { return 1.0 };
    if most >= 1.0 {
        return 0.0;
    }
    let (mut mean, mut left) = (0.0, vec![1.0; stalls.len()]);
    loop {
        // A tile still waits in this cycle with probability `left`.
        let any = 1.0 - left.iter().map(|left| 1.0 - left).product::<f64>();
        if any < 1e-9 {
            return 1.0 / mean;
        }
        mean += any;
        left.iter_mut().zip(stalls).for_each(|(left, stall)| *left *= stall);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_together_are_slower_than_the_slowest() {
        assert_eq!((together(&[]), together(&[1.0, 0.1])), (1.0, 0.0));
        assert!((together(&[0.75]) - 0.25).abs() < 1e-6);
        // Of two halves: 1 + 3/4 + 7/16 - ... = 8/3 cycles.
        assert!((together(&[0.5, 0.5]) - 3.0 / 8.0).abs() < 1e-6);
        assert!(together(&[0.0, 0.0]) == 1.0);
    }
}
