//! Lists that are filled anew in every cycle, without allocation and without branches.

use super::params::MOST_LINKS;

/// A list with room for as many as it can ever hold.
#[derive(Debug, Clone)]
pub(super) struct FixedList<T> {
    items: Box<[T; MOST_LINKS]>,
    len: usize,
}

impl<T: Copy + Default> FixedList<T> {
    /// An empty one.
    pub(super) fn new() -> FixedList<T> {
        FixedList { items: Box::new([T::default(); MOST_LINKS]), len: 0 }
    }

    /// Appends an item if it is to be `kept`. Without a branch, since nobody could foretell it.
    #[inline(always)]
    pub(super) fn push_if(&mut self, item: T, kept: bool) {
        self.items[self.len % MOST_LINKS] = item;
        self.len += usize::from(kept);
    }

    #[inline(always)]
    pub(super) fn push(&mut self, item: T) {
        self.push_if(item, true);
    }

    #[inline(always)]
    pub(super) fn items(&self) -> &[T] {
        &self.items[..self.len.min(MOST_LINKS)]
    }

    #[inline(always)]
    pub(super) fn items_mut(&mut self) -> &mut [T] {
        &mut self.items[..self.len.min(MOST_LINKS)]
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Fills it anew: as long as that takes, its length is in a register.
    #[inline(always)]
    pub(super) fn refill(&mut self) -> Filling<'_, T> {
        Filling { items: &mut self.items, len: &mut self.len, filled: 0 }
    }
}

/// See [`FixedList::refill`]; nothing is kept of it that has not come to its [`Filling::end`].
pub(super) struct Filling<'a, T> {
    items: &'a mut [T; MOST_LINKS],
    len: &'a mut usize,
    filled: usize,
}

impl<T> Filling<'_, T> {
    /// Appends an item if it is to be `kept`.
    #[inline(always)]
    pub(super) fn push_if(&mut self, item: T, kept: bool) {
        self.items[self.filled % MOST_LINKS] = item;
        self.filled += usize::from(kept);
    }

    #[inline(always)]
    pub(super) fn end(self) {
        *self.len = self.filled;
    }
}
