//! First-in first-out queue.

/// FIFO of fixed depth (`meshkv_fifo`). A word pushed in one period is visible in the next.
#[derive(Debug, Clone)]
pub struct Fifo<T> {
    words: Box<[T]>,
    head: usize,
    len: usize,
}

impl<T: Copy + Default> Fifo<T> {
    /// Creates an empty FIFO for `depth` words.
    pub fn new(depth: u32) -> Fifo<T> {
        Fifo { words: vec![T::default(); depth as usize].into_boxed_slice(), head: 0, len: 0 }
    }

    /// Oldest word.
    pub fn front(&self) -> Option<&T> {
        (self.len > 0).then(|| &self.words[self.head])
    }

    /// Newest word.
    pub fn back_mut(&mut self) -> Option<&mut T> {
        let last = self.len.checked_sub(1)?;
        let at = (self.head + last) % self.words.len();
        Some(&mut self.words[at])
    }

    /// The FIFO holds no word.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Words that it holds.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The FIFO has room for a word.
    pub fn has_room(&self) -> bool {
        self.len < self.words.len()
    }

    /// Appends a word.
    ///
    /// # Panics
    /// If the FIFO is full: the caller checks credits or `has_room` first.
    pub fn push(&mut self, word: T) {
        assert!(self.has_room(), "a word came without a credit");
        let tail = self.head + self.len;
        let at = if tail < self.words.len() { tail } else { tail - self.words.len() };
        self.words[at] = word;
        self.len += 1;
    }

    /// Removes the oldest word.
    pub fn pop(&mut self) {
        self.head = if self.head + 1 == self.words.len() { 0 } else { self.head + 1 };
        self.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifo_goes_round() {
        let mut fifo = Fifo::new(3);
        for word in 0..10 {
            fifo.push(word);
            fifo.push(word + 100);
            assert_eq!(fifo.front(), Some(&word));
            assert_eq!(fifo.back_mut(), Some(&mut (word + 100)));
            fifo.pop();
            fifo.pop();
        }
        assert!(fifo.is_empty() && fifo.has_room());
    }
}
