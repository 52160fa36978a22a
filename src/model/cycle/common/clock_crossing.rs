//! FIFO and register between two clocks. Each side sees the other through two flip-flops.
//!
//! An edge of one side takes the values that the other side drove before it, so edges of both can coincide.

/// Two flip-flops that synchronise a value of the other clock.
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

/// FIFO between two clocks (`meshkv_async_fifo`).
#[derive(Debug, Clone)]
pub struct AsyncFifo<T> {
    words: Box<[T]>,
    /// Words written, and the count that the reader sees.
    written: u32,
    written_seen: Seen<u32>,
    /// Words read, and the count that the writer sees.
    read: u32,
    read_seen: Seen<u32>,
    out: Option<T>,
}

impl<T: Copy + Default> AsyncFifo<T> {
    /// Creates an empty FIFO.
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

    /// The writer sees room for a word.
    pub fn has_room(&self) -> bool {
        self.written.wrapping_sub(self.read_seen.now()) < self.words.len() as u32
    }

    /// Word at the output.
    pub fn out(&self) -> Option<&T> {
        self.out.as_ref()
    }

    /// Write count that the writer drives to the reader.
    pub fn written(&self) -> u32 {
        self.written
    }

    /// Read count that the reader drives to the writer.
    pub fn read(&self) -> u32 {
        self.read
    }

    /// Neither side changes state until a word is written.
    pub fn is_still(&self) -> bool {
        self.out.is_none() && self.written_seen == Seen([self.written; 2]) && self.read == self.written
    }

    /// Clocks the write side.
    pub fn write_edge(&mut self, word: Option<T>, read: u32) {
        self.read_seen.edge(read);
        let Some(word) = word else { return };
        let depth = self.words.len();
        self.words[self.written as usize % depth] = word;
        self.written = self.written.wrapping_add(1);
    }

    /// Clocks the read side. `ready`: the reader takes the word at the output.
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

/// Register that holds a word until the reader takes it (`meshkv_async_register`).
#[derive(Debug, Clone, Default)]
pub struct AsyncRegister<T> {
    word: T,
    /// Toggles with every word; and the value that the reader sees.
    sent: bool,
    sent_seen: Seen<bool>,
    /// Toggles with every word taken; and the value that the writer sees.
    taken: bool,
    taken_seen: Seen<bool>,
}

impl<T: Copy + Default> AsyncRegister<T> {
    /// The writer sees an empty register.
    pub fn has_room(&self) -> bool {
        self.sent == self.taken_seen.now()
    }

    /// Word that the reader sees.
    pub fn out(&self) -> Option<&T> {
        (self.sent_seen.now() != self.taken).then_some(&self.word)
    }

    /// Toggle that the writer drives to the reader.
    pub fn sent(&self) -> bool {
        self.sent
    }

    /// Toggle that the reader drives to the writer.
    pub fn taken(&self) -> bool {
        self.taken
    }

    /// Neither side changes state until a word is written.
    pub fn is_still(&self) -> bool {
        let all = [self.sent_seen.0, self.taken_seen.0];
        self.sent == self.taken && all == [[self.sent; 2]; 2]
    }

    /// Clocks the write side. A word needs an empty register.
    pub fn write_edge(&mut self, word: Option<T>, taken: bool) {
        self.taken_seen.edge(taken);
        let Some(word) = word else { return };
        self.word = word;
        self.sent = !self.sent;
    }

    /// Clocks the read side. `ready`: the reader takes the word it sees.
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
