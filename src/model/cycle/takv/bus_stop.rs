//! Stop of the column bus (`meshkv_bus_stop`).

use super::bus_word::BusWord;
use crate::kernels::cells::{credit_counter, eager_fork};
use crate::model::cycle::common::Fifo;

/// Queue of words, and the registers to the next stop.
#[derive(Debug, Clone)]
pub struct BusStop {
    words: Fifo<BusWord>,
    northmost: bool,
    /// The tile has taken the front word; and it has been sent on.
    heard: bool,
    sent: bool,
    to_north: Option<BusWord>,
    credit: bool,
    credits: u32,
}

impl BusStop {
    /// Creates a stop with room for `depth` words. `northmost`: no stop follows.
    pub fn new(depth: u32, northmost: bool) -> BusStop {
        BusStop {
            words: Fifo::new(depth),
            northmost,
            heard: false,
            sent: false,
            to_north: None,
            credit: false,
            credits: depth,
        }
    }

    /// Word for the tile.
    pub fn word(&self) -> Option<&BusWord> {
        self.words.front().filter(|_| !self.heard)
    }

    /// Word to the next stop: a register.
    pub fn to_north(&self) -> Option<&BusWord> {
        self.to_north.as_ref()
    }

    /// Credit to the south for a word that has left: a register.
    pub fn credit(&self) -> bool {
        self.credit
    }

    /// Advances one clock period. `hears`: the tile takes the word.
    pub fn step(&mut self, from_south: Option<&BusWord>, hears: bool, credit: bool) {
        let front = self.words.front();
        let wants = front.is_some() && !self.sent && !self.northmost;
        let (sends, credits) = credit_counter::rule(self.credits, wants, credit);
        let needs = [true, !self.northmost];
        let (forked, gone) = eager_fork::rule(needs, [self.heard, self.sent], [hears, sends]);
        let done = front.is_some() && forked;
        self.to_north = front.filter(|_| sends).copied();
        [self.heard, self.sent] = gone;
        self.credit = done;
        self.credits = credits;
        if done {
            self.words.pop();
        }
        if let Some(word) = from_south {
            self.words.push(*word);
        }
    }
}
