//! Class turn: which kind of flit does an output send?
//!
//! Invariant: the bits `_before_` always describe an order of the three classes. A class that wins
//! against another goes last in it, so that one that has lost goes before the winner until it has
//! won itself. Within PART, first flits of packets and the others take turns.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// One output; a bit asks for each kind of flit.
#[derive(LogicBlock, Default)]
pub struct ClassTurn {
    /// A first flit of a PART packet could leave.
    pub first: Signal<In, Bit>,
    /// Another flit of a PART packet could leave.
    pub body: Signal<In, Bit>,
    /// A flit of KV_FETCH could leave.
    pub fetch: Signal<In, Bit>,
    /// A flit of KV_DATA could leave.
    pub data: Signal<In, Bit>,
    /// KV_FETCH goes before PART.
    pub fetch_before_part_q: Signal<In, Bit>,
    /// KV_DATA goes before PART.
    pub data_before_part_q: Signal<In, Bit>,
    /// KV_DATA goes before KV_FETCH.
    pub data_before_fetch_q: Signal<In, Bit>,
    /// Other flits of PART go before first flits.
    pub body_before_first_q: Signal<In, Bit>,
    /// A kind that precedes a first flit of a PART packet asks.
    pub blocks_first: Signal<Out, Bit>,
    /// The same for another flit of a PART packet.
    pub blocks_body: Signal<Out, Bit>,
    /// The same for a flit of KV_FETCH.
    pub blocks_fetch: Signal<Out, Bit>,
    /// The same for a flit of KV_DATA.
    pub blocks_data: Signal<Out, Bit>,
    /// A PART flit leaves.
    pub sends_part: Signal<Out, Bit>,
    /// A first flit of a PART packet leaves.
    pub sends_first: Signal<Out, Bit>,
    /// Another flit of a PART packet leaves.
    pub sends_body: Signal<Out, Bit>,
    /// A flit of KV_FETCH leaves.
    pub sends_fetch: Signal<Out, Bit>,
    /// A flit of KV_DATA leaves.
    pub sends_data: Signal<Out, Bit>,
    /// Next `fetch_before_part_q`.
    pub fetch_before_part_d: Signal<Out, Bit>,
    /// Next `data_before_part_q`.
    pub data_before_part_d: Signal<Out, Bit>,
    /// Next `data_before_fetch_q`.
    pub data_before_fetch_d: Signal<Out, Bit>,
    /// Next `body_before_first_q`.
    pub body_before_first_d: Signal<Out, Bit>,
}

impl Logic for ClassTurn {
    #[hdl_gen]
    fn update(&mut self) {
        self.blocks_first.next = (self.body.val() & self.body_before_first_q.val())
            | (self.fetch.val() & self.fetch_before_part_q.val())
            | (self.data.val() & self.data_before_part_q.val());
        self.blocks_body.next = (self.first.val() & !self.body_before_first_q.val())
            | (self.fetch.val() & self.fetch_before_part_q.val())
            | (self.data.val() & self.data_before_part_q.val());
        self.blocks_fetch.next = ((self.first.val() | self.body.val()) & !self.fetch_before_part_q.val())
            | (self.data.val() & self.data_before_fetch_q.val());
        self.blocks_data.next = ((self.first.val() | self.body.val()) & !self.data_before_part_q.val())
            | (self.fetch.val() & !self.data_before_fetch_q.val());
        self.sends_part.next = (self.first.val() | self.body.val())
            & !(self.fetch.val() & self.fetch_before_part_q.val())
            & !(self.data.val() & self.data_before_part_q.val());
        self.sends_first.next = self.first.val() & !self.blocks_first.val();
        self.sends_body.next = self.body.val() & !self.blocks_body.val();
        self.sends_fetch.next = self.fetch.val() & !self.blocks_fetch.val();
        self.sends_data.next = self.data.val() & !self.blocks_data.val();
        // A class without a rival leaves the order as it is.
        self.fetch_before_part_d.next = (self.fetch_before_part_q.val()
            | (self.sends_part.val() & (self.fetch.val() | self.data.val())))
            & !(self.sends_fetch.val() & (self.first.val() | self.body.val() | self.data.val()));
        self.data_before_part_d.next = (self.data_before_part_q.val()
            | (self.sends_part.val() & (self.fetch.val() | self.data.val())))
            & !(self.sends_data.val() & (self.first.val() | self.body.val() | self.fetch.val()));
        self.data_before_fetch_d.next = (self.data_before_fetch_q.val()
            | (self.sends_fetch.val() & (self.first.val() | self.body.val() | self.data.val())))
            & !(self.sends_data.val() & (self.first.val() | self.body.val() | self.fetch.val()));
        if self.sends_part.val() & self.first.val() & self.body.val() {
            self.body_before_first_d.next = self.sends_first.val();
        } else {
            self.body_before_first_d.next = self.body_before_first_q.val();
        }
    }
}

/// Classes that go before another at an output of a router. All clear: PART, KV_FETCH, KV_DATA.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClassOrder {
    /// KV_FETCH goes before PART.
    pub fetch_before_part: bool,
    /// KV_DATA goes before PART.
    pub data_before_part: bool,
    /// KV_DATA goes before KV_FETCH.
    pub data_before_fetch: bool,
    /// Flits inside a packet go before first flits.
    pub body_before_first: bool,
}

/// Returns the kind of flit that an output sends, of those that ask: first flits of PART packets, other flits of them,
/// KV_FETCH, KV_DATA; at least one does. A class that wins against another goes last from then on.
#[inline]
pub fn rule(asks: [bool; 4], order: &mut ClassOrder) -> usize {
    let [first, body, fetch, data] = asks;
    let part = first || body;
    if part && !(fetch && order.fetch_before_part) && !(data && order.data_before_part) {
        if fetch || data {
            (order.fetch_before_part, order.data_before_part) = (true, true);
        }
        let body_wins = body && (order.body_before_first || !first);
        if first && body {
            order.body_before_first = !body_wins;
        }
        return usize::from(body_wins);
    }
    if fetch && !(data && order.data_before_fetch) {
        if part || data {
            (order.fetch_before_part, order.data_before_fetch) = (false, true);
        }
        return 2;
    }
    if part || fetch {
        (order.data_before_part, order.data_before_fetch) = (false, false);
    }
    3
}

/// Prints [`ClassTurn`].
pub fn class_turn() -> Result<Kernel, PrintError> {
    Kernel::print(
        "class_turn",
        "Chooses the class that an output sends; one that wins against another goes last.",
        &ClassTurn::default(),
    )
}

#[cfg(test)]
mod tests {
    use crate::kernels::network::class_turn::*;

    /// Order of PART, KV_FETCH and KV_DATA as the three bits give it; `None` if they contradict each other.
    fn order(bits: usize) -> Option<Vec<usize>> {
        let before = |a: usize, b: usize| match (a, b) {
            (1, 0) => bits & 1 != 0,
            (2, 0) => bits & 2 != 0,
            (2, 1) => bits & 4 != 0,
            (0, 1) => bits & 1 == 0,
            (0, 2) => bits & 2 == 0,
            _ => bits & 4 == 0,
        };
        let rank = |class: usize| (0..3).filter(|&other| other != class && before(other, class)).count();
        let mut classes = vec![0, 1, 2];
        classes.sort_by_key(|&class| rank(class));
        (0..3).all(|place| rank(classes[place]) == place).then_some(classes)
    }

    #[test]
    fn the_kind_that_goes_first_wins_and_its_class_goes_last() {
        let mut uut = ClassTurn::default();
        for case in 0..256_usize {
            let (asks, state) = (case & 15, case >> 4);
            let Some(classes) = order(state & 7) else { continue };
            let kinds = [1, 2, 4, 8].map(|kind| asks & kind != 0);
            [uut.first.next, uut.body.next, uut.fetch.next, uut.data.next] = kinds;
            uut.fetch_before_part_q.next = state & 1 != 0;
            uut.data_before_part_q.next = state & 2 != 0;
            uut.data_before_fetch_q.next = state & 4 != 0;
            uut.body_before_first_q.next = state & 8 != 0;
            assert!(simulate(&mut uut, 4));

            let mut after = ClassOrder {
                fetch_before_part: state & 1 != 0,
                data_before_part: state & 2 != 0,
                data_before_fetch: state & 4 != 0,
                body_before_first: state & 8 != 0,
            };
            let sent = (asks != 0).then(|| rule(kinds, &mut after));
            let sends = [&uut.sends_first, &uut.sends_body, &uut.sends_fetch, &uut.sends_data];
            assert_eq!(
                sends.map(|sends| sends.val()),
                [0, 1, 2, 3].map(|kind| sent == Some(kind)),
                "case {case}"
            );
            assert_eq!(uut.sends_part.val(), matches!(sent, Some(0 | 1)), "case {case}");
            let found = ClassOrder {
                fetch_before_part: uut.fetch_before_part_d.val(),
                data_before_part: uut.data_before_part_d.val(),
                data_before_fetch: uut.data_before_fetch_d.val(),
                body_before_first: uut.body_before_first_d.val(),
            };
            assert_eq!(found, after, "case {case}");

            // The winner's class moves to the end, if another class asked.
            let asking = [asks & 3 != 0, asks & 4 != 0, asks & 8 != 0];
            let winner = classes.iter().copied().find(|&class| asking[class]);
            assert_eq!(sent.map(|kind| kind.saturating_sub(1)), winner, "case {case}");
            let next = usize::from(after.fetch_before_part)
                | usize::from(after.data_before_part) << 1
                | usize::from(after.data_before_fetch) << 2;
            let mut expected = classes.clone();
            if let Some(winner) = winner.filter(|_| asking.iter().filter(|&&asks| asks).count() > 1) {
                expected.retain(|&class| class != winner);
                expected.push(winner);
            }
            assert_eq!(order(next), Some(expected), "case {case}");
        }
    }
}
