//! Reorder FIFO of the requester (`meshkv_reorder_fifo`). Places are reserved in order, written in any order
//! and read in order.
//!
//! Each side sees the other's state two of its cycles late, as behind synchronisers. The reader may have its
//! own clock.

use super::messages::KvFlit;

/// Flits on their way to the PaD.
#[derive(Debug, Clone)]
pub struct ReorderFifo {
    words: Box<[KvFlit]>,
    /// Written and not yet visible to the reader.
    full: Box<[bool]>,
    /// Next place to become visible, and next place to be read.
    show_at: u32,
    read_at: u32,
    /// Words visible, and the count that the reader sees.
    shown: u32,
    shown_seen: [u32; 2],
    /// Words read, and the count that the writer sees.
    read: u32,
    read_seen: [u32; 2],
    read_counted: u32,
    /// Places that become free.
    freed: u32,
    /// Places not reserved.
    room: u32,
    /// Next place to be reserved.
    place: u32,
    /// Word at the memory's output, and word at the reader.
    loaded: Option<KvFlit>,
    out: Option<KvFlit>,
}

impl ReorderFifo {
    /// Creates an empty FIFO.
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
            loaded: None,
            out: None,
        }
    }

    fn depth(&self) -> u32 {
        self.words.len() as u32
    }

    /// Returns the place after `place`.
    pub fn next(&self, place: u32) -> u32 {
        if place + 1 == self.depth() {
            0
        } else {
            place + 1
        }
    }

    /// Places that can be reserved.
    pub fn room(&self) -> u32 {
        self.room
    }

    /// No place is reserved.
    pub fn is_free(&self) -> bool {
        self.room == self.depth()
    }

    /// Next place to be reserved.
    pub fn place(&self) -> u32 {
        self.place
    }

    /// Flit at the reader.
    pub fn out(&self) -> Option<&KvFlit> {
        self.out.as_ref()
    }

    /// Clocks the read side. `ready`: the reader takes the flit.
    pub fn read_edge(&mut self, ready: bool) {
        let waits = self.shown_seen[1] != self.read;
        self.shown_seen = [self.shown, self.shown_seen[0]];
        if self.out.is_none() || ready {
            self.out = self.loaded.take();
        }
        if waits && self.loaded.is_none() {
            self.loaded = Some(self.words[self.read_at as usize]);
            self.read = self.read.wrapping_add(1);
            self.read_at = self.next(self.read_at);
        }
    }

    /// Advances one clock period, in which `reserve` places are reserved and one may be written. `hold` keeps
    /// written flits invisible. `edge` is set if the reader has an edge at the end, with whether it takes its
    /// flit.
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
