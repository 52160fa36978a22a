//! Words between two clocks: each side knows of the other what two of its flip-flops have let through.
//!
//! An edge of one side is given what the other showed before it, so that edges of both can fall together.

/// What a flip-flop and a second behind it have seen of another clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Seen<T>([T; 2]);

impl<T: Copy> Seen<T> {
    fn now(&self) -> T {
        self.0[1]
    }

    fn edge(&mut self, shown: T) {
        self.0 = [shown, self.0[0]];
    }
}

/// A FIFO between two clocks (`meshkv_async_fifo`).
#[derive(Debug, Clone)]
pub struct AsyncFifo<T> {
    words: Box<[T]>,
    /// Words that were written, and what the reader knows of it.
    written: u32,
    written_seen: Seen<u32>,
    /// Words that were read, and what the writer knows of it.
    read: u32,
    read_seen: Seen<u32>,
    out: Option<T>,
}

impl<T: Copy + Default> AsyncFifo<T> {
    /// An empty one.
    pub fn new(depth: u32) -> AsyncFifo<T> {
        AsyncFifo {
            words: vec![T::default(); depth as usize].into_boxed_slice(),
            written: 0,
            written_seen: Seen::default(),
            read: 0,
            read_seen: Seen::default(),
            out: None,
        }
    }

    /// The writer is shown room for a word.
    pub fn has_room(&self) -> bool {
        self.written.wrapping_sub(self.read_seen.now()) < self.words.len() as u32
    }

    /// What the reader is shown.
    pub fn out(&self) -> Option<&T> {
        self.out.as_ref()
    }

    /// What the reader sees of the writer.
    pub fn written(&self) -> u32 {
        self.written
    }

    /// What the writer sees of the reader.
    pub fn read(&self) -> u32 {
        self.read
    }

    /// Neither side has anything to do.
    pub fn is_still(&self) -> bool {
        self.out.is_none() && self.written_seen == Seen([self.written; 2]) && self.read == self.written
    }

    /// The writer's edge.
    pub fn write_edge(&mut self, word: Option<T>, read: u32) {
        self.read_seen.edge(read);
        let Some(word) = word else { return };
        let depth = self.words.len();
        self.words[self.written as usize % depth] = word;
        self.written = self.written.wrapping_add(1);
    }

    /// The reader's edge: `ready` if it takes what is shown.
    pub fn read_edge(&mut self, ready: bool, written: u32) {
        let fetches = self.written_seen.now() != self.read && (self.out.is_none() || ready);
        self.written_seen.edge(written);
        if fetches {
            let depth = self.words.len();
            self.out = Some(self.words[self.read as usize % depth]);
            self.read = self.read.wrapping_add(1);
        } else if ready {
            self.out = None;
        }
    }
}

/// A word that is held until it has been taken (`meshkv_async_register`).
#[derive(Debug, Clone, Default)]
pub struct AsyncRegister<T> {
    word: T,
    /// Flips with every word, and what the reader knows of it.
    sent: bool,
    sent_seen: Seen<bool>,
    /// Flips as one is taken, and what the writer knows of it.
    taken: bool,
    taken_seen: Seen<bool>,
}

impl<T: Copy + Default> AsyncRegister<T> {
    /// The writer is shown room.
    pub fn has_room(&self) -> bool {
        self.sent == self.taken_seen.now()
    }

    /// What the reader is shown.
    pub fn out(&self) -> Option<&T> {
        (self.sent_seen.now() != self.taken).then_some(&self.word)
    }

    /// What the reader sees of the writer.
    pub fn sent(&self) -> bool {
        self.sent
    }

    /// What the writer sees of the reader.
    pub fn taken(&self) -> bool {
        self.taken
    }

    /// Neither side has anything to do.
    pub fn is_still(&self) -> bool {
        let all = [self.sent_seen.0, self.taken_seen.0];
        self.sent == self.taken && all == [[self.sent; 2]; 2]
    }

    /// The writer's edge, with a word that there is room for.
    pub fn write_edge(&mut self, word: Option<T>, taken: bool) {
        self.taken_seen.edge(taken);
        let Some(word) = word else { return };
        self.word = word;
        self.sent = !self.sent;
    }

    /// The reader's edge.
    pub fn read_edge(&mut self, ready: bool, sent: bool) {
        let takes = ready && self.out().is_some();
        self.sent_seen.edge(sent);
        self.taken ^= takes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_three_cycles_after_it_was_written() {
        let mut fifo = AsyncFifo::new(3);
        let mut cycles = 0;
        fifo.write_edge(Some(7_u32), fifo.read());
        while fifo.out().is_none() {
            fifo.read_edge(false, fifo.written());
            cycles += 1;
        }
        assert_eq!((cycles, fifo.out()), (3, Some(&7)));
    }

    #[test]
    fn a_fifo_holds_its_depth_and_one() {
        let mut fifo = AsyncFifo::new(3);
        let mut words = 0;
        for _ in 0..20 {
            let (written, read) = (fifo.written(), fifo.read());
            let room = fifo.has_room();
            words += u32::from(room);
            fifo.write_edge(room.then_some(words), read);
            fifo.read_edge(false, written);
        }
        assert_eq!((words, fifo.out()), (4, Some(&1)));
    }

    #[test]
    fn a_register_has_room_again_when_its_word_was_taken() {
        let mut register = AsyncRegister::default();
        register.write_edge(Some(5), register.taken());
        assert!(!register.has_room() && register.out().is_none());
        for _ in 0..2 {
            register.read_edge(false, register.sent());
        }
        assert_eq!(register.out(), Some(&5));
        register.read_edge(true, register.sent());
        for _ in 0..2 {
            assert!(!register.has_room());
            register.write_edge(None, register.taken());
        }
        register.read_edge(false, register.sent());
        assert!(register.has_room() && register.is_still());
    }
}
