//! Order of a slice's ranges: K first, then V, each chunk by chunk; before both the scales of its tokens, where they have
//! some.
//!
//! Invariant: `value_q` is set once the last chunk of K has been asked for, `begun_q` while some
//! chunks of the present range have been asked for and others have not. Both are clear when a
//! slice leaves, so that the next one begins with the first chunk of K. The range's next flit is
//! the shell's register.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// Progress within the slice at the front.
#[derive(LogicBlock, Default)]
pub struct KThenV {
    /// A slice is at the front.
    pub fetches: Signal<In, Bit>,
    /// It may leave once all of it has been asked for.
    pub may_leave: Signal<In, Bit>,
    /// The rest of the slice is skipped.
    pub skips: Signal<In, Bit>,
    /// A chunk is asked for in this cycle.
    pub asks: Signal<In, Bit>,
    /// The chunk is the last of its range.
    pub ends: Signal<In, Bit>,
    /// Part of the present range has been asked for.
    pub begun_q: Signal<In, Bit>,
    /// The present range is V.
    pub value_q: Signal<In, Bit>,
    /// The last chunk of V is asked for in this cycle.
    pub asks_last: Signal<Out, Bit>,
    /// The slice leaves.
    pub done: Signal<Out, Bit>,
    /// Next `begun_q`.
    pub begun_d: Signal<Out, Bit>,
    /// Next `value_q`.
    pub value_d: Signal<Out, Bit>,
}

impl Logic for KThenV {
    #[hdl_gen]
    fn update(&mut self) {
        self.asks_last.next = self.asks.val() & self.ends.val() & self.value_q.val();
        self.done.next = self.may_leave.val() & (self.skips.val() | self.asks_last.val());
        self.begun_d.next = self.fetches.val()
            & !self.done.val()
            & ((self.asks.val() & !self.ends.val()) | (!self.asks.val() & self.begun_q.val()));
        self.value_d.next = self.fetches.val()
            & !self.done.val()
            & (self.value_q.val() | (self.asks.val() & self.ends.val()));
    }
}

/// The same where the scales of a slice's tokens come before K.
///
/// Invariant: as [`KThenV`]; `scaled_q` is set once the last chunk of scales has been asked for, and while `value_q` is.
#[derive(LogicBlock, Default)]
pub struct ScalesThenKv {
    /// A slice is at the front.
    pub fetches: Signal<In, Bit>,
    /// It may leave once all of it has been asked for.
    pub may_leave: Signal<In, Bit>,
    /// The rest of the slice is skipped.
    pub skips: Signal<In, Bit>,
    /// A chunk is asked for in this cycle.
    pub asks: Signal<In, Bit>,
    /// The chunk is the last of its range.
    pub ends: Signal<In, Bit>,
    /// Part of the present range has been asked for.
    pub begun_q: Signal<In, Bit>,
    /// The present range is K or V.
    pub scaled_q: Signal<In, Bit>,
    /// The present range is V.
    pub value_q: Signal<In, Bit>,
    /// The last chunk of V is asked for in this cycle.
    pub asks_last: Signal<Out, Bit>,
    /// The slice leaves.
    pub done: Signal<Out, Bit>,
    /// Next `begun_q`.
    pub begun_d: Signal<Out, Bit>,
    /// Next `scaled_q`.
    pub scaled_d: Signal<Out, Bit>,
    /// Next `value_q`.
    pub value_d: Signal<Out, Bit>,
}

impl Logic for ScalesThenKv {
    #[hdl_gen]
    fn update(&mut self) {
        self.asks_last.next = self.asks.val() & self.ends.val() & self.value_q.val();
        self.done.next = self.may_leave.val() & (self.skips.val() | self.asks_last.val());
        self.begun_d.next = self.fetches.val()
            & !self.done.val()
            & ((self.asks.val() & !self.ends.val()) | (!self.asks.val() & self.begun_q.val()));
        self.scaled_d.next = self.fetches.val()
            & !self.done.val()
            & (self.scaled_q.val() | (self.asks.val() & self.ends.val()));
        self.value_d.next = self.fetches.val()
            & !self.done.val()
            & (self.value_q.val() | (self.asks.val() & self.ends.val() & self.scaled_q.val()));
    }
}

/// A range of a slice, in the order in which they are asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd)]
pub enum Region {
    /// Scales of the tokens, where they have some.
    Scales,
    /// K.
    #[default]
    Keys,
    /// V.
    Values,
}

impl Region {
    fn next(self) -> Region {
        match self {
            Region::Scales => Region::Keys,
            Region::Keys | Region::Values => Region::Values,
        }
    }
}

/// Progress within a slice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Part of the present range has been asked for.
    pub begun: bool,
    /// The present range.
    pub region: Region,
}

/// Result of a cycle in which a chunk may have been requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// The last chunk of V is asked for.
    pub last: bool,
    /// The slice leaves.
    pub done: bool,
    /// Progress afterwards.
    pub progress: Progress,
}

/// Goes on with the slice at the front; those of this design begin with the region `first`. `asks` says whether a chunk is
/// asked for, and whether it ends its range; the slice leaves if it may, after its last chunk or if it skips the others.
#[inline]
pub fn rule(first: Region, progress: Progress, asks: Option<bool>, may_leave: bool, skips: bool) -> Asked {
    let Progress { begun, region } = progress;
    let ends = asks == Some(true);
    let last = ends && region == Region::Values;
    let done = may_leave && (skips || last);
    let progress = match done {
        true => Progress { begun: false, region: first },
        false => Progress {
            begun: asks.map_or(begun, |ends| !ends),
            region: if ends { region.next() } else { region },
        },
    };
    Asked { last, done, progress }
}

/// Prints [`ScalesThenKv`].
pub fn scales_then_kv() -> Result<Kernel, PrintError> {
    let what = "Asks for the scales of a slice's tokens, then for its K, then for its V, chunk by chunk.";
    Kernel::print("scales_then_kv", what, &ScalesThenKv::default())
}

/// Prints [`KThenV`].
pub fn k_then_v() -> Result<Kernel, PrintError> {
    Kernel::print("k_then_v", "Asks for K, then for V of a slice, chunk by chunk.", &KThenV::default())
}

#[cfg(test)]
mod tests {
    use crate::kernels::takv::k_then_v::*;

    fn set(uut: &mut KThenV, [fetches, may_leave, skips, asks, ends, begun_q, value_q]: [bool; 7]) {
        uut.fetches.next = fetches;
        uut.may_leave.next = may_leave;
        uut.skips.next = skips;
        uut.asks.next = asks;
        uut.ends.next = ends;
        uut.begun_q.next = begun_q;
        uut.value_q.next = value_q;
        assert!(simulate(uut, 4));
    }

    #[test]
    fn the_end_of_k_turns_to_v_and_the_end_of_v_lets_the_slice_leave() {
        let mut uut = KThenV::default();
        for case in 0..128_u32 {
            let inputs = [0, 1, 2, 3, 4, 5, 6].map(|i| case >> i & 1 != 0);
            let [fetches, may_leave, skips, asks, ends, begun, value_q] = inputs;
            set(&mut uut, inputs);

            let region = if value_q { Region::Values } else { Region::Keys };
            let asked =
                rule(Region::Keys, Progress { begun, region }, asks.then_some(ends), may_leave, skips);
            // Without a slice nothing is begun.
            let next = if fetches { asked.progress } else { Progress::default() };
            assert_eq!([uut.asks_last.val(), uut.done.val()], [asked.last, asked.done], "case {case:07b}");
            let found = (uut.begun_d.val(), uut.value_d.val());
            assert_eq!(found, (next.begun, next.region == Region::Values), "case {case:07b}");
        }
    }

    #[test]
    fn scales_come_first_where_tokens_have_them() {
        let mut uut = ScalesThenKv::default();
        for case in 0..256_u32 {
            let [fetches, may_leave, skips, asks, ends, begun, scaled_q, value_q] =
                [0, 1, 2, 3, 4, 5, 6, 7].map(|i| case >> i & 1 != 0);
            if value_q && !scaled_q {
                continue;
            }
            uut.fetches.next = fetches;
            uut.may_leave.next = may_leave;
            uut.skips.next = skips;
            uut.asks.next = asks;
            uut.ends.next = ends;
            uut.begun_q.next = begun;
            uut.scaled_q.next = scaled_q;
            uut.value_q.next = value_q;
            assert!(simulate(&mut uut, 4));

            let region =
                [Region::Scales, Region::Keys, Region::Values][usize::from(scaled_q) + usize::from(value_q)];
            let asked =
                rule(Region::Scales, Progress { begun, region }, asks.then_some(ends), may_leave, skips);
            let next =
                if fetches { asked.progress } else { Progress { begun: false, region: Region::Scales } };
            assert_eq!([uut.asks_last.val(), uut.done.val()], [asked.last, asked.done], "case {case:08b}");
            let found = (uut.begun_d.val(), uut.scaled_d.val(), uut.value_d.val());
            let expected = (next.begun, next.region >= Region::Keys, next.region == Region::Values);
            assert_eq!(found, expected, "case {case:08b}");
        }
    }

    #[test]
    fn all_chunks_of_k_come_before_all_chunks_of_v() {
        let mut uut = KThenV::default();
        for (of_k, of_v) in (1..4).flat_map(|k| (1..4).map(move |v| (k, v))) {
            let (mut begun, mut value, mut at, mut order) = (false, false, 0, Vec::new());
            loop {
                at = if begun { at + 1 } else { 0 };
                order.push((value, at));
                let ends = at + 1 == if value { of_v } else { of_k };
                set(&mut uut, [true, true, false, true, ends, begun, value]);
                (begun, value) = (uut.begun_d.val(), uut.value_d.val());
                if uut.done.val() {
                    break;
                }
            }
            let expected = (0..of_k).map(|at| (false, at)).chain((0..of_v).map(|at| (true, at)));
            assert_eq!(order, expected.collect::<Vec<_>>());
            assert!(!begun && !value);
        }
    }
}
