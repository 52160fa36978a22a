//! The longest wait of each class, for what has been sent so far.

use crate::design::{Class, Design, WaitBound};

/// Bounds for the classes and packets seen.
#[derive(Debug)]
pub(super) struct Waits {
    bound: WaitBound,
    loaded: [bool; 3],
    packet: u32,
    multicast: bool,
    /// By class, the part of all cycles in which those that a flit goes to take it.
    takes: [f64; 3],
    cycles: [u64; 3],
}

impl Waits {
    /// Nothing has been sent, and tiles take every flit at once.
    pub fn new(design: &Design) -> Waits {
        let (bound, multicast) = (WaitBound::new(design), design.router.multicast);
        Waits { bound, loaded: [false; 3], packet: 0, multicast, takes: [1.0; 3], cycles: [0; 3] }
    }

    /// Sets, by tile that stalls, the part of all cycles in which it takes no flit.
    pub fn stalled(&mut self, stalls: &[f64]) {
        let slowest = 1.0 - stalls.iter().copied().fold(0.0, f64::max);
        let multicast = if self.multicast { together(stalls) } else { slowest };
        self.takes = Class::ALL.map(|class| if class == Class::KvData { multicast } else { slowest });
        self.update();
    }

    /// Notes a packet of so many flits.
    pub fn sends(&mut self, class: Class, flits: u32) {
        if self.loaded[class as usize] && flits <= self.packet {
            return;
        }
        self.loaded[class as usize] = true;
        self.packet = self.packet.max(flits);
        self.update();
    }

    fn update(&mut self) {
        let Waits { bound, loaded, packet, takes, .. } = self;
        self.cycles = Class::ALL.map(|class| bound.cycles(class, *loaded, *packet, takes[class as usize]));
    }

    /// Most cycles that a flit of a class may wait.
    pub fn of(&self, class: Class) -> u64 {
        self.cycles[class as usize]
    }

    /// The same of any class that has been sent; 0 if none has.
    pub fn longest(&self) -> u64 {
        let sent = self.cycles.iter().zip(self.loaded).filter(|(_, loaded)| *loaded);
        sent.map(|(&cycles, _)| cycles).max().unwrap_or(0)
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
