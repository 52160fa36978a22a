//! What many blocks are built of: FIFO, arbiters, sets of tiles.

/// A FIFO of fixed depth (`meshkv_fifo`): what is pushed in a period is seen in the next.
#[derive(Debug, Clone)]
pub struct Fifo<T> {
    words: Box<[T]>,
    head: usize,
    len: usize,
}

impl<T: Copy + Default> Fifo<T> {
    /// An empty one with room for `depth` words.
    pub fn new(depth: u32) -> Fifo<T> {
        Fifo { words: vec![T::default(); depth as usize].into_boxed_slice(), head: 0, len: 0 }
    }

    /// The oldest word, if there is one.
    pub fn front(&self) -> Option<&T> {
        (self.len > 0).then(|| &self.words[self.head])
    }

    /// No word is there.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// There is room for another.
    pub fn has_room(&self) -> bool {
        self.len < self.words.len()
    }

    /// Takes in a word.
    ///
    /// # Panics
    /// If there is no room: credits or `has_room` are to keep that from happening.
    pub fn push(&mut self, word: T) {
        assert!(self.has_room(), "a word came without a credit");
        let tail = self.head + self.len;
        let at = if tail < self.words.len() { tail } else { tail - self.words.len() };
        self.words[at] = word;
        self.len += 1;
    }

    /// Drops the oldest word.
    pub fn pop(&mut self) {
        self.head = if self.head + 1 == self.words.len() { 0 } else { self.head + 1 };
        self.len -= 1;
    }
}

/// Round robin over two requests (`meshkv_arbiter2`).
#[derive(Debug, Clone, Copy, Default)]
pub struct Arbiter2 {
    /// Request 1 wins a tie.
    prefers: bool,
}

impl Arbiter2 {
    /// Who is granted; the turn passes to the other.
    pub fn grant(&mut self, requests: [bool; 2]) -> [bool; 2] {
        let first = requests[0] && !(self.prefers && requests[1]);
        let second = requests[1] && !first;
        if first || second {
            self.prefers = first;
        }
        [first, second]
    }
}

/// The lowest of `asks` above the last served, else the lowest of all; none if nobody asks. `later` marks
/// those above the last served.
pub fn in_turn(asks: u64, later: u64) -> Option<u32> {
    let ahead = asks & later;
    let from = if ahead == 0 { asks } else { ahead };
    (from != 0).then(|| from.trailing_zeros())
}

/// The mark for [`in_turn`] after `served`.
pub fn after(served: u32) -> u64 {
    u64::MAX.checked_shl(served + 1).unwrap_or(0)
}

/// The lowest of `count` places that `taken` leaves free.
pub fn lowest_free(taken: u64, count: u32) -> Option<u32> {
    let place = taken.trailing_ones();
    (place < count).then_some(place)
}

/// The numbers of the bits that are set, from the lowest.
pub fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(bit)
    })
}

/// A set of tiles, bit `y * cols + x`.
pub type TileBits = [u64; 4];

/// The set of one tile.
pub fn only(tile: usize) -> TileBits {
    let mut set = [0; 4];
    set[tile / 64] = 1 << (tile % 64);
    set
}

/// What `set` has and `other` has not.
pub fn without(set: &TileBits, other: &TileBits) -> TileBits {
    std::array::from_fn(|i| set[i] & !other[i])
}

/// What is in either.
pub fn union(set: &TileBits, other: &TileBits) -> TileBits {
    std::array::from_fn(|i| set[i] | other[i])
}

/// Whether the sets have a tile in common.
pub fn meet(set: &TileBits, other: &TileBits) -> bool {
    (0..4).any(|i| set[i] & other[i] != 0)
}

/// Whether any tile is in it.
pub fn some(set: &TileBits) -> bool {
    set[0] | set[1] | set[2] | set[3] != 0
}

/// The lowest tile of a set.
pub fn lowest(set: &TileBits) -> Option<usize> {
    let word = set.iter().position(|&word| word != 0)?;
    Some(word * 64 + set[word].trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memory port's turns are those of the arbiter that it had when it served two tiles only.
    #[test]
    fn two_in_turn_are_granted_as_by_the_arbiter_of_two() {
        let (mut arbiter, mut later, mut state) = (Arbiter2::default(), 0, 1_u64);
        for _ in 0..10_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let asks = state >> 62;
            let granted = arbiter.grant([asks & 1 == 1, asks & 2 == 2]);
            let served = in_turn(asks, later);
            later = served.map_or(later, after);
            assert_eq!(granted.iter().position(|&one| one), served.map(|one| one as usize));
        }
    }

    #[test]
    fn turns_go_round_and_begin_again_at_the_lowest() {
        let (mut later, mut order) = (0, Vec::new());
        for _ in 0..5 {
            let served = in_turn(0b1011, later).expect("somebody asks");
            later = after(served);
            order.push(served);
        }
        assert_eq!(order, [0, 1, 3, 0, 1]);
        assert_eq!((in_turn(0, later), after(63)), (None, 0));
    }

    #[test]
    fn two_requests_take_turns_and_one_alone_always_wins() {
        let mut arbiter = Arbiter2::default();
        let granted: Vec<_> = (0..4).map(|_| arbiter.grant([true, true])).collect();
        assert_eq!(granted, [[true, false], [false, true], [true, false], [false, true]]);
        assert_eq!(arbiter.grant([false, true]), [false, true]);
        assert_eq!(arbiter.grant([false, false]), [false, false]);
        assert_eq!(arbiter.grant([true, true]), [true, false]);
    }

    #[test]
    fn a_fifo_goes_round() {
        let mut fifo = Fifo::new(3);
        for word in 0..10 {
            fifo.push(word);
            fifo.push(word + 100);
            assert_eq!(fifo.front(), Some(&word));
            fifo.pop();
            fifo.pop();
        }
        assert!(fifo.is_empty() && fifo.has_room());
    }

    #[test]
    fn the_lowest_free_place_is_none_when_all_are_taken() {
        assert_eq!([0b0, 0b1011, 0b1111].map(|taken| lowest_free(taken, 4)), [Some(0), Some(2), None]);
        assert_eq!(lowest_free(u64::MAX, 64), None);
    }

    #[test]
    fn a_set_tells_its_lowest_tile() {
        let set = union(&only(200), &only(70));
        assert_eq!((lowest(&set), lowest(&without(&set, &only(70)))), (Some(70), Some(200)));
        assert!(some(&set) && meet(&set, &only(200)) && lowest(&[0; 4]).is_none());
    }
}
