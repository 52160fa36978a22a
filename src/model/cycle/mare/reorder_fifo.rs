//! The requester's FIFO (`meshkv_reorder_fifo`): places given out in order, written in any, read in order.
//!
//! What each side knows of the other is two of its cycles old, as behind synchronisers. The reader may have a clock of
//! its own.

use super::messages::KvFlit;

/// Flits on their way to what computes.
#[derive(Debug, Clone)]
pub struct ReorderFifo {
    words: Box<[KvFlit]>,
    /// Written and not yet shown to the reader.
    full: Box<[bool]>,
    /// Place that is shown next, and place that is read next.
    show_at: u32,
    read_at: u32,
    /// Words shown, and what the reader knows of it.
    shown: u32,
    shown_seen: [u32; 2],
    /// Words read, and what the writer knows of it.
    read: u32,
    read_seen: [u32; 2],
    read_counted: u32,
    /// Places that come free.
    freed: u32,
    /// Places that are not promised.
    room: u32,
    /// Place that is promised next.
    place: u32,
    out: Option<KvFlit>,
}

impl ReorderFifo {
    /// An empty one.
    pub fn new(depth: u32) -> ReorderFifo {
        ReorderFifo {
            words: vec![KvFlit::default(); depth as usize].into_boxed_slice(),
            full: vec![false; depth as usize].into_boxed_slice(),
            show_at: 0,
            read_at: 0,
            shown: 0,
            shown_seen: [0; 2],
            read: 0,
            read_seen: [0; 2],
            read_counted: 0,
            freed: 0,
            room: depth,
            place: 0,
            out: None,
        }
    }

    fn depth(&self) -> u32 {
        self.words.len() as u32
    }

    /// The place after one.
    pub fn next(&self, place: u32) -> u32 {
        if place + 1 == self.depth() {
            0
        } else {
            place + 1
        }
    }

    /// Places that can be promised.
    pub fn room(&self) -> u32 {
        self.room
    }

    /// Nothing of it is promised.
    pub fn is_free(&self) -> bool {
        self.room == self.depth()
    }

    /// The place that is promised next.
    pub fn place(&self) -> u32 {
        self.place
    }

    /// What is shown to the reader.
    pub fn out(&self) -> Option<&KvFlit> {
        self.out.as_ref()
    }

    /// An edge of the reader's clock, which takes what it is shown or not.
    pub fn read_edge(&mut self, ready: bool) {
        let fetches = self.shown_seen[1] != self.read && (self.out.is_none() || ready);
        self.shown_seen = [self.shown, self.shown_seen[0]];
        if fetches {
            self.out = Some(self.words[self.read_at as usize]);
            self.read = self.read.wrapping_add(1);
            self.read_at = self.next(self.read_at);
        } else if ready {
            self.out = None;
        }
    }

    /// Passes a period in which `reserve` places are promised and one may be written; `hold` keeps what is
    /// written from being shown. `edge` if the reader has an edge at its end, and whether it takes what it is shown.
    pub fn step(&mut self, reserve: u32, put: Option<(u32, KvFlit)>, hold: bool, edge: Option<bool>) {
        let shows = self.full[self.show_at as usize] && !hold;
        self.room = self.room + self.freed - reserve;
        self.place += reserve;
        if self.place >= self.depth() {
            self.place -= self.depth();
        }
        self.freed = self.read_seen[1].wrapping_sub(self.read_counted);
        self.read_counted = self.read_seen[1];
        self.read_seen = [self.read, self.read_seen[0]];
        if let Some(ready) = edge {
            self.read_edge(ready);
        }
        if shows {
            self.full[self.show_at as usize] = false;
            self.shown = self.shown.wrapping_add(1);
            self.show_at = self.next(self.show_at);
        }
        if let Some((place, word)) = put {
            let place = place as usize;
            assert!(!self.full[place], "a word came for a place that is taken");
            self.full[place] = true;
            self.words[place] = word;
        }
    }
}
