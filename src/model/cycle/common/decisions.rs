//! Decisions that the Verilog takes from kernels, as plain functions of the same inputs.
//!
//! Tests hold each equal to its kernel over every input.

/// Takes a credit if one is left and returns what comes back: `credit_gauge`. True if one is taken, and the new count.
#[inline]
pub(in crate::model::cycle) fn credit_gauge(count: u32, wants: bool, returns: bool) -> (bool, u32) {
    let takes = wants && count > 0;
    (takes, count + u32::from(returns) - u32::from(takes))
}

/// Sends a word two ways: `eager_fork`. Of the ways that it needs it has gone some and goes some in this cycle. True
/// if it is done, and the ways that it has gone then.
#[inline]
pub(in crate::model::cycle) fn eager_fork(
    needs: [bool; 2],
    gone: [bool; 2],
    goes: [bool; 2],
) -> (bool, [bool; 2]) {
    let taken = [gone[0] || goes[0], gone[1] || goes[1]];
    let forked = (!needs[0] || taken[0]) && (!needs[1] || taken[1]);
    (forked, [!forked && taken[0], !forked && taken[1]])
}

/// Progress within a slice of which K is asked for first, then V.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model::cycle) struct Progress {
    /// Part of the present range has been asked for.
    pub begun: bool,
    /// The present range is V.
    pub value: bool,
}

/// Result of a cycle in which a chunk may have been requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::model::cycle) struct Asked {
    /// The last chunk of V is asked for.
    pub last: bool,
    /// The slice leaves.
    pub done: bool,
    /// Progress afterwards.
    pub progress: Progress,
}

/// Goes on with the slice at the front: `k_then_v`. `asks` says whether a chunk is asked for, and whether it ends its
/// range; the slice leaves if it may, after its last chunk or if it skips the others.
#[inline]
pub(in crate::model::cycle) fn k_then_v(
    Progress { begun, value }: Progress,
    asks: Option<bool>,
    may_leave: bool,
    skips: bool,
) -> Asked {
    let ends = asks == Some(true);
    let last = ends && value;
    let done = may_leave && (skips || last);
    let progress = match done {
        true => Progress { begun: false, value: false },
        false => Progress { begun: asks.map_or(begun, |ends| !ends), value: value || ends },
    };
    Asked { last, done, progress }
}

/// Classes that go before another at an output of a router. All clear: PART, KV_FETCH, KV_DATA.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::model::cycle) struct ClassOrder {
    /// KV_FETCH goes before PART.
    pub fetch_before_part: bool,
    /// KV_DATA goes before PART.
    pub data_before_part: bool,
    /// KV_DATA goes before KV_FETCH.
    pub data_before_fetch: bool,
    /// Flits inside a packet go before first flits.
    pub body_before_first: bool,
}

/// Chooses the kind of flit that an output sends: `class_turn`. `asks`: first flits of PART packets, other flits of them,
/// KV_FETCH, KV_DATA; at least one is set. A class that wins against another goes last from then on.
#[inline]
pub(in crate::model::cycle) fn class_turn(asks: [bool; 4], order: &mut ClassOrder) -> usize {
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

/// Two sides that share an output: `shared_turn`.
#[derive(Debug, Clone, Copy)]
pub(in crate::model::cycle) struct Shares {
    /// Wins of the first side in its turn, and of the second in its own; 0 counts as 1.
    pub share: u8,
    pub rival_share: u8,
}

/// Where two sides stand that share an output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::model::cycle) struct Turn {
    /// It is the turn of the second side.
    pub rivals: bool,
    /// Wins left in this turn.
    pub left: u8,
}

/// Chooses one of two sides, in turns of `share` and `rival_share` wins while both ask: `shared_turn`. At least one asks.
/// True if the first wins.
#[inline(always)]
pub(in crate::model::cycle) fn shared_turn(turn: &mut Turn, shares: Shares, asks: [bool; 2]) -> bool {
    let Shares { share, rival_share } = shares;
    let Turn { rivals, left } = *turn;
    let first = asks[0] && !(rivals && asks[1]);
    if first != rivals {
        let ends = left < 2;
        let next = if rivals { share } else { rival_share };
        *turn = Turn { rivals: rivals ^ ends, left: if ends { next } else { left - 1 } };
    }
    first
}

/// Chooses between straight flits and those that join, `share` times the first while both ask: `straight_turn`. At least
/// one asks. True if the straight flit wins. `left` counts what is left of a round.
#[inline(always)]
pub(in crate::model::cycle) fn straight_turn(left: &mut u8, share: u8, asks: [bool; 2]) -> bool {
    let wins = asks[0] && !(*left == 0 && asks[1]);
    *left = if wins { left.saturating_sub(1) } else { share };
    wins
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{ClassTurn, CreditGauge, EagerFork, KThenV, SharedTurn, StraightTurn};
    use rust_hdl::prelude::*;

    fn bits<const N: usize>(case: u32) -> [bool; N] {
        std::array::from_fn(|i| case >> i & 1 != 0)
    }

    #[test]
    fn credits_are_taken_and_returned_as_the_kernel_does_it() {
        let mut uut = CreditGauge::<3>::new();
        for (case, count) in (0..4).flat_map(|case| (0..7).map(move |count| (case, count))) {
            let [wants, returns] = bits(case);
            uut.wants.next = wants;
            uut.returns.next = returns;
            uut.count_q.next = u64::from(count).into();
            assert!(simulate(&mut uut, 4));
            let (takes, next) = credit_gauge(count, wants, returns);
            assert_eq!(uut.takes.val(), takes, "count {count} case {case:02b}");
            assert_eq!(uut.count_d.val(), u64::from(next), "count {count} case {case:02b}");
        }
    }

    #[test]
    fn a_word_goes_two_ways_as_the_kernel_sends_it() {
        let mut uut = EagerFork::default();
        for case in 0..64 {
            let [near, far, near_q, far_q, near_goes, far_goes] = bits(case);
            uut.forks.next = true;
            [uut.near.next, uut.far.next, uut.near_q.next, uut.far_q.next] = [near, far, near_q, far_q];
            [uut.near_goes.next, uut.far_goes.next] = [near_goes, far_goes];
            assert!(simulate(&mut uut, 4));
            let found = (uut.forked.val(), [uut.near_d.val(), uut.far_d.val()]);
            let model = eager_fork([near, far], [near_q, far_q], [near_goes, far_goes]);
            assert_eq!(found, model, "case {case:06b}");
        }
    }

    #[test]
    fn k_comes_before_v_as_the_kernel_orders_it() {
        let mut uut = KThenV::default();
        for case in 0..64 {
            let [may_leave, skips, asks, ends, begun, value] = bits(case);
            uut.fetches.next = true;
            [uut.may_leave.next, uut.skips.next, uut.asks.next, uut.ends.next] =
                [may_leave, skips, asks, ends];
            [uut.begun_q.next, uut.value_q.next] = [begun, value];
            assert!(simulate(&mut uut, 4));
            let found = Asked {
                last: uut.asks_last.val(),
                done: uut.done.val(),
                progress: Progress { begun: uut.begun_d.val(), value: uut.value_d.val() },
            };
            let model = k_then_v(Progress { begun, value }, asks.then_some(ends), may_leave, skips);
            assert_eq!(found, model, "case {case:06b}");
        }
    }

    #[test]
    fn the_class_of_an_output_is_chosen_as_the_kernel_chooses_it() {
        let mut uut = ClassTurn::default();
        for case in 0..256_u32 {
            let [first, body, fetch, data, of_fetch, of_data, data_fetch, of_body] = bits(case);
            // All orders but the two that contradict themselves: each class before the next in a circle.
            if (of_fetch, of_data, data_fetch) == (false, true, false)
                || (of_fetch, of_data, data_fetch) == (true, false, true)
                || case & 15 == 0
            {
                continue;
            }
            [uut.first.next, uut.body.next, uut.fetch.next, uut.data.next] = [first, body, fetch, data];
            [uut.fetch_before_part_q.next, uut.data_before_part_q.next] = [of_fetch, of_data];
            [uut.data_before_fetch_q.next, uut.body_before_first_q.next] = [data_fetch, of_body];
            assert!(simulate(&mut uut, 4));
            let mut order = ClassOrder {
                fetch_before_part: of_fetch,
                data_before_part: of_data,
                data_before_fetch: data_fetch,
                body_before_first: of_body,
            };
            let kind = class_turn([first, body, fetch, data], &mut order);
            let sends =
                [uut.sends_first.val(), uut.sends_body.val(), uut.sends_fetch.val(), uut.sends_data.val()];
            assert_eq!(sends, [0, 1, 2, 3].map(|k| k == kind), "case {case:08b}");
            let next = ClassOrder {
                fetch_before_part: uut.fetch_before_part_d.val(),
                data_before_part: uut.data_before_part_d.val(),
                data_before_fetch: uut.data_before_fetch_d.val(),
                body_before_first: uut.body_before_first_d.val(),
            };
            assert_eq!(order, next, "case {case:08b}");
        }
    }

    #[test]
    fn two_sides_share_an_output_as_the_kernel_lets_them() {
        let mut uut = SharedTurn::<3>::new();
        for case in 0..8 * 8 * 8 * 8_u32 {
            let (share, rival_share, left) = (case & 7, case >> 3 & 7, case >> 6 & 7);
            let [first, second, rivals] = bits(case >> 9);
            let asks = [first, second];
            // Somebody asks.
            if asks == [false; 2] {
                continue;
            }
            [uut.asks.next, uut.rivals.next] = asks;
            uut.used.next = true;
            uut.share.next = u64::from(share).into();
            uut.rival_share.next = u64::from(rival_share).into();
            uut.turn_q.next = rivals;
            uut.left_q.next = u64::from(left).into();
            uut.ending.next = left < 2;
            assert!(simulate(&mut uut, 4));
            let mut turn = Turn { rivals, left: left as u8 };
            let shares = Shares { share: share as u8, rival_share: rival_share as u8 };
            assert_eq!(shared_turn(&mut turn, shares, asks), uut.wins.val(), "case {case:012b}");
            assert_eq!(uut.turn_d.val(), turn.rivals, "case {case:012b}");
            assert_eq!(uut.left_d.val(), u64::from(turn.left), "case {case:012b}");
        }
    }
    #[test]
    fn straight_flits_win_as_the_kernel_lets_them() {
        let mut uut = StraightTurn::<3>::new();
        for case in 0..8 * 8 * 4_u32 {
            let (share, left, asks) = (case & 7, case >> 3 & 7, bits(case >> 6));
            // Somebody asks, and a share is at least one.
            if asks == [false; 2] || share == 0 {
                continue;
            }
            [uut.asks.next, uut.rivals.next] = asks;
            uut.used.next = true;
            uut.share.next = u64::from(share).into();
            uut.left_q.next = u64::from(left).into();
            uut.spent.next = left == 0;
            assert!(simulate(&mut uut, 4));
            let mut next = left as u8;
            assert_eq!(straight_turn(&mut next, share as u8, asks), uut.wins.val(), "case {case:08b}");
            assert_eq!(uut.left_d.val(), u64::from(next), "case {case:08b}");
        }
    }
}
