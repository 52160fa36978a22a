//! Weighted round robin between sides: two share an output in a fixed ratio.
//!
//! Invariant: while both sides ask, the first wins `share` times, then its rivals `rival_share` times,
//! and so on. Wins count, not cycles: the period of returning credits cannot lock out a side. Wins of a
//! side in its own turn count even if the other does not ask, so that one that asks seldom need not wait
//! for all of it; wins in the turn of the other do not. A counter holds the wins left in a turn and the
//! shares are read when a turn begins, so the decision is one bit, and nothing is compared.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// The count's width is the shell's: enough for the larger share.
#[derive(LogicBlock)]
pub struct WrrSides<const COUNT: usize> {
    /// The first side asks.
    pub asks: Signal<In, Bit>,
    /// The second side asks.
    pub rivals: Signal<In, Bit>,
    /// The result is used: the winner is granted.
    pub used: Signal<In, Bit>,
    /// Wins of the first side in its turn; 0 counts as 1.
    pub share: Signal<In, Bits<COUNT>>,
    /// Wins of the second side in its turn; 0 counts as 1.
    pub rival_share: Signal<In, Bits<COUNT>>,
    /// It is the turn of the second side.
    pub turn_q: Signal<In, Bit>,
    /// Wins left in this turn.
    pub left_q: Signal<In, Bits<COUNT>>,
    /// `left_q` is at most 1: the next win in this turn is the last.
    pub ending: Signal<In, Bit>,
    /// Next `turn_q`.
    pub turn_d: Signal<Out, Bit>,
    /// Next `left_q`.
    pub left_d: Signal<Out, Bits<COUNT>>,
    /// The first side wins; otherwise the second does, if it asks.
    pub wins: Signal<Out, Bit>,
}

impl<const COUNT: usize> WrrSides<COUNT> {
    /// Returns a block; it has no constants.
    pub fn new() -> Self {
        WrrSides {
            asks: Default::default(),
            rivals: Default::default(),
            used: Default::default(),
            share: Default::default(),
            rival_share: Default::default(),
            turn_q: Default::default(),
            left_q: Default::default(),
            ending: Default::default(),
            turn_d: Default::default(),
            left_d: Default::default(),
            wins: Default::default(),
        }
    }
}

impl<const COUNT: usize> Default for WrrSides<COUNT> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const COUNT: usize> Logic for WrrSides<COUNT> {
    #[hdl_gen]
    fn update(&mut self) {
        self.wins.next = self.asks.val() & (!self.turn_q.val() | !self.rivals.val());
        self.turn_d.next = self.turn_q.val();
        self.left_d.next = self.left_q.val();
        if self.used.val()
            & ((self.turn_q.val() & self.rivals.val()) | (!self.turn_q.val() & self.asks.val()))
        {
            if !self.ending.val() {
                self.left_d.next = self.left_q.val() - 1;
            } else if self.turn_q.val() {
                self.turn_d.next = false;
                self.left_d.next = self.share.val();
            } else {
                self.turn_d.next = true;
                self.left_d.next = self.rival_share.val();
            }
        }
    }
}

/// Wins of each side in its own turn; 0 counts as 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    /// Of the first side.
    pub share: u8,
    /// Of the second side.
    pub rival_share: u8,
}

/// Whose turn it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Turn {
    /// It is the turn of the second side.
    pub rivals: bool,
    /// Wins left in this turn.
    pub left: u8,
}

/// Returns whether the first of two sides is granted, of which at least one asks.
#[inline(always)]
pub fn rule(turn: &mut Turn, shares: Shares, asks: [bool; 2]) -> bool {
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

/// Prints [`WrrSides`].
pub fn wrr_sides() -> Result<Kernel, PrintError> {
    Kernel::print(
        "wrr_sides",
        "Two sides win in a fixed ratio while both ask: the first `share` times, the second `rival_share` times.",
        &WrrSides::<5>::new(),
    )
}

#[cfg(test)]
mod tests {
    use crate::kernels::network::wrr_sides::*;

    fn step(uut: &mut WrrSides<3>, [asks, rivals, used]: [bool; 3], shares: Shares, turn: Turn) -> Turn {
        [uut.asks.next, uut.rivals.next, uut.used.next] = [asks, rivals, used];
        uut.share.next = u64::from(shares.share).into();
        uut.rival_share.next = u64::from(shares.rival_share).into();
        uut.turn_q.next = turn.rivals;
        uut.left_q.next = u64::from(turn.left).into();
        uut.ending.next = turn.left < 2;
        assert!(simulate(uut, 4));
        let left = (0..8).find(|&left| uut.left_d.val() == u64::from(left)).expect("three bits");
        Turn { rivals: uut.turn_d.val(), left }
    }

    #[test]
    fn while_both_ask_the_first_wins_its_share_of_every_round() {
        let mut uut = WrrSides::<3>::new();
        for (share, rival_share) in (1..8).flat_map(|share| (1..8).map(move |rivals| (share, rivals))) {
            let (mut turn, mut wins) = (Turn { rivals: true, left: 1 }, 0);
            for _ in 0..3 * (share + rival_share) {
                turn = step(&mut uut, [true; 3], Shares { share, rival_share }, turn);
                wins += u8::from(uut.wins.val());
            }
            assert_eq!(wins, 3 * share, "share {share} of {}", share + rival_share);
        }
    }

    #[test]
    fn a_side_is_granted_by_the_rule_and_nothing_moves_unused() {
        let mut uut = WrrSides::<3>::new();
        for case in 0..8 * 8 * 8 * 8_u32 {
            let [share, rival_share, left] = [0, 3, 6].map(|at| (case >> at & 7) as u8);
            let [asks, rival_asks, rivals] = [9, 10, 11].map(|at| case >> at & 1 != 0);
            let (shares, turn) = (Shares { share, rival_share }, Turn { rivals, left });
            assert_eq!(step(&mut uut, [asks, rival_asks, false], shares, turn), turn, "case {case:012b}");
            let mut next = turn;
            let wins = (asks || rival_asks) && rule(&mut next, shares, [asks, rival_asks]);
            assert_eq!(step(&mut uut, [asks, rival_asks, true], shares, turn), next, "case {case:012b}");
            assert_eq!(uut.wins.val(), wins, "case {case:012b}");
        }
    }
}
