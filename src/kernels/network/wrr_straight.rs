//! Weighted round robin of straight flits: they share an output with those that join there.
//!
//! Invariant: while both ask, straight flits win `share` times for one win of their rivals. A win of the
//! rivals always begins a new round, so what straight flits did not use of the last one is not held
//! against them. Wins count, not cycles, as in `wrr_sides`; a counter holds the wins left in a round.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// The count's width is the shell's: enough for the share.
#[derive(LogicBlock)]
pub struct WrrStraight<const COUNT: usize> {
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

impl<const COUNT: usize> WrrStraight<COUNT> {
    /// Returns a block; it has no constants.
    pub fn new() -> Self {
        WrrStraight {
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

impl<const COUNT: usize> Default for WrrStraight<COUNT> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const COUNT: usize> Logic for WrrStraight<COUNT> {
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

/// Returns whether a straight flit is granted rather than one that joins; at least one asks. `left` counts what is left
/// of a round.
#[inline(always)]
pub fn rule(left: &mut u8, share: u8, asks: [bool; 2]) -> bool {
    let wins = asks[0] && !(*left == 0 && asks[1]);
    *left = if wins { left.saturating_sub(1) } else { share };
    wins
}

/// Prints [`WrrStraight`].
pub fn wrr_straight() -> Result<Kernel, PrintError> {
    Kernel::print(
        "wrr_straight",
        "Straight flits win `share` times for one win of those that join, while both ask.",
        &WrrStraight::<5>::new(),
    )
}

#[cfg(test)]
mod tests {
    use crate::kernels::network::wrr_straight::*;

    fn step(uut: &mut WrrStraight<3>, [asks, rivals, used]: [bool; 3], share: u8, left: u8) -> u8 {
        [uut.asks.next, uut.rivals.next, uut.used.next] = [asks, rivals, used];
        uut.share.next = u64::from(share).into();
        uut.left_q.next = u64::from(left).into();
        uut.spent.next = left == 0;
        assert!(simulate(uut, 4));
        (0..8).find(|&left| uut.left_d.val() == u64::from(left)).expect("three bits")
    }

    #[test]
    fn while_both_ask_straight_flits_win_their_share_of_every_round() {
        let mut uut = WrrStraight::<3>::new();
        for share in 1..8 {
            let (mut left, mut wins) = (0, 0);
            for _ in 0..3 * (share + 1) {
                left = step(&mut uut, [true; 3], share, left);
                wins += u8::from(uut.wins.val());
            }
            assert_eq!(wins, 3 * share, "share {share}");
        }
    }

    #[test]
    fn a_flit_is_granted_by_the_rule_and_nothing_moves_unused() {
        let mut uut = WrrStraight::<3>::new();
        for (share, left) in (1..8).flat_map(|share| (0..8).map(move |left| (share, left))) {
            for (asks, rivals) in [(false, false), (false, true), (true, false), (true, true)] {
                let case = format!("share {share} left {left} asks {asks} rivals {rivals}");
                assert_eq!(step(&mut uut, [asks, rivals, false], share, left), left, "{case}");
                let mut next = left;
                let wins = (asks || rivals) && rule(&mut next, share, [asks, rivals]);
                assert_eq!(step(&mut uut, [asks, rivals, true], share, left), next, "{case}");
                assert_eq!(uut.wins.val(), wins, "{case}");
            }
        }
    }
}
