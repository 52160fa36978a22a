//! Lists that are refilled every cycle, without allocation and without branches.

use crate::model::cycle::network::params::MOST_LINKS;

/// List with a fixed capacity that no cycle can exceed.
#[derive(Debug, Clone)]
pub(in crate::model::cycle::network) struct FixedList<T> {
    items: Box<[T; MOST_LINKS]>,
    len: usize,
}

impl<T: Copy + Default> FixedList<T> {
    /// Creates an empty list.
    pub(in crate::model::cycle::network) fn new() -> FixedList<T> {
        FixedList { items: Box::new([T::default(); MOST_LINKS]), len: 0 }
    }

    /// Appends an item if `kept`. There is no branch, because it would be unpredictable.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn push_if(&mut self, item: T, kept: bool) {
        self.items[self.len % MOST_LINKS] = item;
        self.len += usize::from(kept);
    }

    #[inline(always)]
    pub(in crate::model::cycle::network) fn push(&mut self, item: T) {
        self.push_if(item, true);
    }

    #[inline(always)]
    pub(in crate::model::cycle::network) fn items(&self) -> &[T] {
        &self.items[..self.len.min(MOST_LINKS)]
    }

    #[inline(always)]
    pub(in crate::model::cycle::network) fn items_mut(&mut self) -> &mut [T] {
        &mut self.items[..self.len.min(MOST_LINKS)]
    }

    pub(in crate::model::cycle::network) fn clear(&mut self) {
        self.len = 0;
    }

    /// Refills the list. The length stays in a register until the end.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn refill(&mut self) -> Filling<'_, T> {
        Filling { items: &mut self.items, len: &mut self.len, filled: 0 }
    }
}

/// Refill in progress; see [`FixedList::refill`]. Its items count only after [`Filling::end`].
pub(in crate::model::cycle::network) struct Filling<'a, T> {
    items: &'a mut [T; MOST_LINKS],
    len: &'a mut usize,
    filled: usize,
}

impl<T> Filling<'_, T> {
    /// Appends an item if `kept`.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn push_if(&mut self, item: T, kept: bool) {
        self.items[self.filled % MOST_LINKS] = item;
        self.filled += usize::from(kept);
    }

    #[inline(always)]
    pub(in crate::model::cycle::network) fn end(self) {
        *self.len = self.filled;
    }
}
