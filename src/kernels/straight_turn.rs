//! Straight turn: straight flits share an output with those that join there.
//!
//! Invariant: while both ask, straight flits win `share` times for one win of their rivals. A win of the
//! rivals always begins a new round, so what straight flits did not use of the last one is not held
//! against them. Wins count, not cycles, as in `shared_turn`; what is left of a round is counted down.

use super::error::PrintError;
use super::kernel::Kernel;
use rust_hdl::prelude::*;

/// The count's width is the shell's: enough for the share.
#[derive(LogicBlock)]
pub struct StraightTurn<const COUNT: usize> {
    /// A straight flit asks.
    pub asks: Signal<In, Bit>,
    /// A flit that joins asks.
    pub rivals: Signal<In, Bit>,
    /// The result is used: the winner is granted.
    pub used: Signal<In, Bit>,
    /// Wins of straight flits in a round; at least 1.
    pub share: Signal<In, Bits<COUNT>>,
    /// Wins of straight flits that are left in this round.
    pub left_q: Signal<In, Bits<COUNT>>,
    /// `left_q` is 0.
    pub spent: Signal<In, Bit>,
    /// Next `left_q`.
    pub left_d: Signal<Out, Bits<COUNT>>,
    /// The straight flit wins; otherwise a rival does, if one asks.
    pub wins: Signal<Out, Bit>,
}

impl<const COUNT: usize> StraightTurn<COUNT> {
    /// Returns a block; it has no constants.
    pub fn new() -> Self {
        StraightTurn {
            asks: Default::default(),
            rivals: Default::default(),
            used: Default::default(),
            share: Default::default(),
            left_q: Default::default(),
            spent: Default::default(),
            left_d: Default::default(),
            wins: Default::default(),
        }
    }
}

impl<const COUNT: usize> Default for StraightTurn<COUNT> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const COUNT: usize> Logic for StraightTurn<COUNT> {
    #[hdl_gen]
    fn update(&mut self) {
        self.wins.next = self.asks.val() & (!self.spent.val() | !self.rivals.val());
        self.left_d.next = self.left_q.val();
        if self.used.val() & self.asks.val() & (!self.spent.val() | !self.rivals.val()) {
            if !self.spent.val() {
                self.left_d.next = self.left_q.val() - 1;
            }
        } else if self.used.val() & self.rivals.val() {
            self.left_d.next = self.share.val();
        }
    }
}

/// Prints [`StraightTurn`].
pub fn straight_turn() -> Result<Kernel, PrintError> {
    Kernel::print(
        "straight_turn",
        "Straight flits win `share` times for one win of those that join, while both ask.",
        &StraightTurn::<5>::new(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(uut: &mut StraightTurn<3>, [asks, rivals, used]: [bool; 3], share: u64, left: u64) -> u64 {
        uut.asks.next = asks;
        uut.rivals.next = rivals;
        uut.used.next = used;
        uut.share.next = share.into();
        uut.left_q.next = left.into();
        uut.spent.next = left == 0;
        assert!(simulate(uut, 4));
        (0..8).find(|&left| uut.left_d.val() == left).expect("three bits")
    }

    #[test]
    fn while_both_ask_straight_flits_win_their_share_of_every_round() {
        let mut uut = StraightTurn::<3>::new();
        for share in 1..8 {
            let (mut left, mut wins) = (0, 0);
            for _ in 0..3 * (share + 1) {
                left = step(&mut uut, [true; 3], share, left);
                wins += u64::from(uut.wins.val());
            }
            assert_eq!(wins, 3 * share, "share {share}");
        }
    }

    #[test]
    fn one_side_alone_wins_and_a_win_of_the_rivals_begins_a_round() {
        let mut uut = StraightTurn::<3>::new();
        for left in 0..8 {
            for (asks, rivals) in [(false, false), (false, true), (true, false), (true, true)] {
                assert_eq!(step(&mut uut, [asks, rivals, false], 5, left), left);
                let wins = asks && !(rivals && left == 0);
                assert_eq!(uut.wins.val(), wins, "left {left} asks {asks} rivals {rivals}");
                let next = match (wins, rivals) {
                    (true, _) => left.saturating_sub(1),
                    (false, true) => 5,
                    (false, false) => left,
                };
                assert_eq!(step(&mut uut, [asks, rivals, true], 5, left), next, "left {left}");
            }
        }
    }
}
