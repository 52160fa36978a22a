//! The longest wait of each class, for what has been sent so far.

use crate::design::{Class, Design, WaitBound};

/// Bounds for the classes and packets seen.
#[derive(Debug)]
pub(super) struct Waits {
    bound: WaitBound,
    loaded: [bool; 3],
    packet: u32,
    takes: f64,
    cycles: [u64; 3],
}

impl Waits {
    /// Nothing has been sent, and tiles take every flit at once.
    pub fn new(design: &Design) -> Waits {
        Waits { bound: WaitBound::new(design), loaded: [false; 3], packet: 0, takes: 1.0, cycles: [0; 3] }
    }

    /// Sets the part of all cycles in which the slowest tile takes a flit.
    pub fn takes(&mut self, part: f64) {
        self.takes = part;
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
        self.cycles = Class::ALL.map(|class| bound.cycles(class, *loaded, *packet, *takes));
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
