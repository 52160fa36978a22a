//! A virtual channel of an input: the flits that its buffer holds.

use super::params::NetworkParams;

/// The number after `at` of `count` in a circle.
#[inline(always)]
pub(super) fn after(at: u8, count: u8) -> u8 {
    if at + 1 == count {
        0
    } else {
        at + 1
    }
}

/// The sum of two numbers in a circle of `count`.
#[inline(always)]
pub(super) fn sum(a: u8, b: u8, count: u8) -> u8 {
    if a + b >= count {
        a + b - count
    } else {
        a + b
    }
}

/// A flit in a buffer: number, last bit, route.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Held(pub(super) u32);

impl Held {
    #[inline(always)]
    pub(super) fn new(flit: u32, last: bool, route: u8) -> Held {
        Held(flit << 8 | u32::from(last) << 5 | u32::from(route))
    }
    #[inline(always)]
    pub(super) fn flit(self) -> u32 {
        self.0 >> 8
    }
    #[inline(always)]
    pub(super) fn last(self) -> bool {
        self.0 >> 5 & 1 == 1
    }
    #[inline(always)]
    pub(super) fn route(self) -> u8 {
        self.0 as u8 & 31
    }
}

/// What a virtual channel holds. Its head is kept here, the flits behind it in its part of all buffers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct VirtualChannel {
    head: Held,
    /// Flits, and where in the buffer the first behind the head is.
    used: u8,
    behind: u8,
}

impl VirtualChannel {
    /// The first flit; there must be one.
    #[inline(always)]
    pub(super) fn head(&self) -> Held {
        self.head
    }

    /// Drops the head and gives the next flit, if there is one. The channel is number `at` of all.
    #[inline(always)]
    pub(super) fn pop(&mut self, at: usize, slots: &[Held], params: &NetworkParams) -> Option<Held> {
        self.used -= 1;
        if self.used == 0 {
            return None;
        }
        self.head = slots[at * usize::from(params.depth) + usize::from(self.behind)];
        self.behind = after(self.behind, params.depth);
        Some(self.head)
    }

    /// Takes a flit; true if it is the head, which is not written into the buffer.
    #[inline(always)]
    pub(super) fn push(&mut self, held: Held, at: usize, slots: &mut [Held], params: &NetworkParams) -> bool {
        let used = self.used;
        self.used = used + 1;
        if used == 0 {
            self.head = held;
            return true;
        }
        let behind = sum(self.behind, used - 1, params.depth);
        slots[at * usize::from(params.depth) + usize::from(behind)] = held;
        false
    }
}
