//! Shared turn: two sides share an output in a fixed ratio.
//!
//! Invariant: while both sides ask, the first wins `share` times of `last + 1`. Wins count, not
//! cycles: the period of returning credits cannot lock out a side. A side's wins in its own part of
//! a round count even if the other does not ask, so that one that asks seldom need not wait for all
//! of it. With `restarts` a win of the second side always begins a new round.

use super::error::PrintError;
use super::kernel::Kernel;
use rust_hdl::prelude::*;

/// The position's width is the shell's: enough for `last`.
#[derive(LogicBlock)]
pub struct SharedTurn<const COUNT: usize> {
    /// The first side asks.
    pub asks: Signal<In, Bit>,
    /// The second side asks.
    pub rivals: Signal<In, Bit>,
    /// The result is used: the winner is granted.
    pub used: Signal<In, Bit>,
    /// Wins of the first side in a round.
    pub share: Signal<In, Bits<COUNT>>,
    /// Wins of both sides in a round, less one.
    pub last: Signal<In, Bits<COUNT>>,
    /// Every win of the second side ends the round.
    pub restarts: Signal<In, Bit>,
    /// Wins of this round.
    pub position_q: Signal<In, Bits<COUNT>>,
    /// Next `position_q`.
    pub position_d: Signal<Out, Bits<COUNT>>,
    /// The first side wins; otherwise the second does, if it asks.
    pub wins: Signal<Out, Bit>,
}

impl<const COUNT: usize> SharedTurn<COUNT> {
    /// Returns a block; it has no constants.
    pub fn new() -> Self {
        SharedTurn {
            asks: Default::default(),
            rivals: Default::default(),
            used: Default::default(),
            share: Default::default(),
            last: Default::default(),
            restarts: Default::default(),
            position_q: Default::default(),
            position_d: Default::default(),
            wins: Default::default(),
        }
    }
}

impl<const COUNT: usize> Default for SharedTurn<COUNT> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const COUNT: usize> Logic for SharedTurn<COUNT> {
    #[hdl_gen]
    fn update(&mut self) {
        self.wins.next = self.asks.val() & ((self.position_q.val() < self.share.val()) | !self.rivals.val());
        self.position_d.next = self.position_q.val();
        if self.used.val() & self.wins.val() {
            if self.position_q.val() < self.share.val() {
                self.position_d.next = self.position_q.val() + 1;
            }
        } else if self.used.val() & self.rivals.val() {
            if self.restarts.val() | (self.position_q.val() >= self.last.val()) {
                self.position_d.next = 0.into();
            } else if self.position_q.val() >= self.share.val() {
                self.position_d.next = self.position_q.val() + 1;
            }
        }
    }
}

/// Prints [`SharedTurn`].
pub fn shared_turn() -> Result<Kernel, PrintError> {
    Kernel::print(
        "shared_turn",
        "Two sides win in a fixed ratio while both ask: the first `share` times of `last` + 1.",
        &SharedTurn::<5>::new(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(uut: &mut SharedTurn<3>, [asks, rivals, used]: [bool; 3], [share, last, position]: [u64; 3]) {
        uut.asks.next = asks;
        uut.rivals.next = rivals;
        uut.used.next = used;
        uut.share.next = share.into();
        uut.last.next = last.into();
        uut.position_q.next = position.into();
        assert!(simulate(uut, 4));
    }

    #[test]
    fn while_both_ask_the_first_wins_its_share_of_every_round() {
        let mut uut = SharedTurn::<3>::new();
        for last in 1..7 {
            for share in 1..=last {
                let (mut position, mut wins) = (0, 0);
                for _ in 0..3 * (last + 1) {
                    step(&mut uut, [true; 3], [share, last, position]);
                    wins += u64::from(uut.wins.val());
                    position = (0..8).find(|&next| uut.position_d.val() == next).expect("three bits");
                }
                assert_eq!(wins, 3 * share, "share {share} last {last}");
            }
        }
    }

    #[test]
    fn one_side_alone_wins_and_nothing_moves_unused() {
        let mut uut = SharedTurn::<3>::new();
        for position in 0..8 {
            for (asks, rivals) in [(false, false), (false, true), (true, false), (true, true)] {
                step(&mut uut, [asks, rivals, false], [3, 5, position]);
                assert_eq!(uut.position_d.val(), position);
                if asks != rivals {
                    assert_eq!(uut.wins.val(), asks);
                }
                step(&mut uut, [asks, rivals, true], [3, 5, position]);
                let next = match position < 3 {
                    true => position + u64::from(asks),
                    false if rivals && position >= 5 => 0,
                    false => position + u64::from(rivals),
                };
                assert_eq!(uut.position_d.val(), next, "position {position} asks {asks} rivals {rivals}");
            }
        }
    }
}
