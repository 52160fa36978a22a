//! A slab: records with stable numbers, made and dropped for every flit.

/// Records with stable numbers. Freed ones are reused, so that a steady flow allocates nothing.
#[derive(Debug)]
pub(in crate::cosim) struct Slab<T> {
    items: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Slab { items: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// The number that the next record gets.
    #[inline]
    pub fn next_slot(&self) -> u32 {
        self.free.last().copied().unwrap_or(self.items.len() as u32)
    }

    /// Stores a record and returns its number.
    #[inline]
    pub fn insert(&mut self, item: T) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.items[slot as usize] = Some(item);
            return slot;
        }
        self.items.push(Some(item));
        (self.items.len() - 1) as u32
    }

    /// Drops a record; its number is free again.
    #[inline]
    pub fn remove(&mut self, slot: u32) {
        if self.items.get_mut(slot as usize).is_some_and(|item| item.take().is_some()) {
            self.free.push(slot);
        }
    }

    /// The record with this number, if there is one.
    #[inline]
    pub fn get(&self, slot: u32) -> Option<&T> {
        self.items.get(slot as usize)?.as_ref()
    }

    /// The record with this number, to change it.
    #[inline]
    pub fn get_mut(&mut self, slot: u32) -> Option<&mut T> {
        self.items.get_mut(slot as usize)?.as_mut()
    }

    /// All records, by number.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().flatten()
    }

    /// Numbers given out so far, used or free.
    pub fn slots(&self) -> usize {
        self.items.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_numbers_are_used_again_before_new_ones() {
        let mut slab = Slab::default();
        let (a, b) = (slab.insert('a'), slab.insert('b'));
        assert_eq!(slab.next_slot(), b + 1);
        slab.remove(a);
        slab.remove(a);
        assert_eq!((slab.get(a), slab.next_slot()), (None, a));
        assert_eq!(slab.insert('c'), a);
        assert_eq!(slab.insert('d'), b + 1);
        assert_eq!(slab.iter().collect::<String>(), "cbd");
        assert_eq!(slab.slots(), 3);
    }
}
