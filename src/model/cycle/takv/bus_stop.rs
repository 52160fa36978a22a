//! A stop of the column bus (`meshkv_bus_stop`).

use super::bus_word::BusWord;
use crate::model::cycle::common::Fifo;

/// Words that wait, and the registers of the way on.
#[derive(Debug, Clone)]
pub struct BusStop {
    words: Fifo<BusWord>,
    northmost: bool,
    /// The word at the front has been heard by the tile, and sent on.
    heard: bool,
    sent: bool,
    to_north: Option<BusWord>,
    credit: bool,
    credits: u32,
}

impl BusStop {
    /// One without words, with room for `depth` of them; `northmost` if no other comes after it.
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

    /// The word that the tile may hear.
    pub fn word(&self) -> Option<&BusWord> {
        self.words.front().filter(|_| !self.heard)
    }

    /// What the next stop sees: a register.
    pub fn to_north(&self) -> Option<&BusWord> {
        self.to_north.as_ref()
    }

    /// A word has left, for whoever is in the south: a register.
    pub fn credit(&self) -> bool {
        self.credit
    }

    /// Passes a period: `hears` if the tile hears the word.
    pub fn step(&mut self, from_south: Option<&BusWord>, hears: bool, credit: bool) {
        let front = self.words.front();
        let sends = front.is_some() && !self.sent && !self.northmost && self.credits > 0;
        let done = front.is_some() && (self.heard || hears) && (self.sent || sends || self.northmost);
        self.to_north = front.filter(|_| sends).copied();
        self.heard = !done && (self.heard || hears);
        self.sent = !done && (self.sent || sends);
        self.credit = done;
        self.credits = self.credits + u32::from(credit) - u32::from(sends);
        if done {
            self.words.pop();
        }
        if let Some(word) = from_south {
            self.words.push(*word);
        }
    }
}
