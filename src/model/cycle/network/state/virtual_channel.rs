//! Virtual channel of an input: the flits in its buffer.

use crate::model::cycle::network::params::NetworkParams;

/// Returns the number after `at` in a circle of `count`.
#[inline(always)]
pub(in crate::model::cycle::network) fn after(at: u8, count: u8) -> u8 {
    if at + 1 == count {
        0
    } else {
        at + 1
    }
}

/// Returns the number before `at` in a circle of `count` if `moves`, else `at`.
#[inline(always)]
pub(in crate::model::cycle::network) fn before(at: u8, count: u8, moves: bool) -> u8 {
    at + count * u8::from((at == 0) & moves) - u8::from(moves)
}

/// Returns the sum of two numbers in a circle of `count`.
#[inline(always)]
pub(in crate::model::cycle::network) fn sum(a: u8, b: u8, count: u8) -> u8 {
    if a + b >= count {
        a + b - count
    } else {
        a + b
    }
}

/// Flit in a buffer: number, last bit, route.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::model::cycle::network) struct Held(pub(in crate::model::cycle::network) u32);

impl Held {
    #[inline(always)]
    pub(in crate::model::cycle::network) fn new(flit: u32, last: bool, route: u8) -> Held {
        Held(flit << 8 | u32::from(last) << 5 | u32::from(route))
    }
    #[inline(always)]
    pub(in crate::model::cycle::network) fn flit(self) -> u32 {
        self.0 >> 8
    }
    #[inline(always)]
    pub(in crate::model::cycle::network) fn last(self) -> bool {
        self.0 >> 5 & 1 == 1
    }
    #[inline(always)]
    pub(in crate::model::cycle::network) fn route(self) -> u8 {
        self.0 as u8 & 31
    }
}

/// Virtual channel. The head is stored here, later flits in the shared array of buffers.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::model::cycle::network) struct VirtualChannel {
    head: Held,
    /// Number of flits, and buffer position of the first one behind the head.
    used: u8,
    behind: u8,
}

impl VirtualChannel {
    /// First flit; there must be one.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn head(&self) -> Held {
        self.head
    }

    /// True if at least half of its slots hold a flit.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn half_full(&self, params: &NetworkParams) -> bool {
        self.used >= params.depth / 2
    }

    /// Removes the head and returns the next flit. `at` is the index of the channel.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn pop(
        &mut self,
        at: usize,
        slots: &[Held],
        params: &NetworkParams,
    ) -> Option<Held> {
        self.used -= 1;
        if self.used == 0 {
            return None;
        }
        self.head = slots[at * usize::from(params.depth) + usize::from(self.behind)];
        self.behind = after(self.behind, params.depth);
        Some(self.head)
    }

    /// Appends a flit. Returns true if it became the head, which needs no buffer write.
    #[inline(always)]
    pub(in crate::model::cycle::network) fn push(
        &mut self,
        held: Held,
        at: usize,
        slots: &mut [Held],
        params: &NetworkParams,
    ) -> bool {
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
