//! A stop of the column bus (`meshkv_bus_stop`).

use super::super::control::Word;
use super::super::decisions::{credit_gauge, eager_fork};
use super::super::parts::Fifo;

/// Words that wait, and the registers of the way on.
#[derive(Debug, Clone)]
pub struct BusStop {
    words: Fifo<Word>,
    northmost: bool,
    /// The word at the front has been heard by the tile, and sent on.
    heard: bool,
    sent: bool,
    to_north: Option<Word>,
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
    pub fn word(&self) -> Option<&Word> {
        self.words.front().filter(|_| !self.heard)
    }

    /// What the next stop sees: a register.
    pub fn to_north(&self) -> Option<&Word> {
        self.to_north.as_ref()
    }

    /// A word has left, for whoever is in the south: a register.
    pub fn credit(&self) -> bool {
        self.credit
    }

    /// Passes a period: `hears` if the tile hears the word.
    pub fn step(&mut self, from_south: Option<&Word>, hears: bool, credit: bool) {
        let front = self.words.front();
        let wants = front.is_some() && !self.sent && !self.northmost;
        let (sends, credits) = credit_gauge(self.credits, wants, credit);
        let needs = [true, !self.northmost];
        let (forked, gone) = eager_fork(needs, [self.heard, self.sent], [hears, sends]);
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
