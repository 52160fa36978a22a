//! Switch allocator: `meshkv_switch_allocator` with its arbiters.
//!
//! Inputs and outputs are numbered as [`Port`](crate::design::Port); a set of either is a byte. Outputs are
//! decided in the order north and south, east and west, local. Each pair sees the requests left by the pair
//! before.

use super::lanes::{any, gather, lane, nonzero, scatter_all};

pub(super) const N: usize = 0;
pub(super) const S: usize = 1;
pub(super) const E: usize = 2;
pub(super) const W: usize = 3;
pub(super) const L: usize = 4;

const COLUMN: u8 = 1 << N | 1 << S;
const ROW: u8 = 1 << E | 1 << W;

/// Input from which straight-through traffic reaches each of the first four outputs.
const STRAIGHT: [usize; 4] = [S, N, W, E];

/// State update after an uncontested grant.
#[derive(Clone, Copy)]
struct Only {
    /// The flit passes straight through.
    straight: bool,
    /// Number of the input among the output's requests, and the last such number.
    request: u8,
    last: u8,
    /// Pair choice of the input, if any, and whether it prefers the second output from now on.
    second: u8,
    prefers: bool,
}

/// By input and output.
const ONLY: [[Only; 8]; 8] = {
    let mut table = [[Only { straight: false, request: 0, last: 3, second: 7, prefers: false }; 8]; 8];
    let mut input = 0;
    while input < 5 {
        let mut output = 0;
        while output < 5 {
            let only = &mut table[input][output];
            // The inputs north, south, east and west are the requests of the local output.
            only.request = if output == L { input as u8 & 3 } else { 0 };
            if output != L {
                only.straight = STRAIGHT[output] == input;
                let column = output == N || output == S;
                only.last = if column { 3 } else { 1 };
                if !only.straight && input >= E {
                    only.request = if column { input as u8 - 1 } else { 1 };
                }
                if column && input >= E {
                    (only.second, only.prefers) = ((input - E) as u8, output == N);
                }
                if !column && input == L {
                    (only.second, only.prefers) = (3, output == E);
                }
            }
            output += 1;
        }
        input += 1;
    }
    table
};

/// Round-robin state of the arbiters.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SwitchAllocator {
    /// By output, the preferred request.
    next: [u8; 8],
    /// By output: straight-through flits since another request won, and tiles upstream of them. Unused for
    /// the local output, which has no through traffic.
    passed: [u8; 8],
    behind: [u8; 8],
    /// Second output preferred: inputs east, west and local for north and south, then local for east and
    /// west. The other entries are unused.
    second: [bool; 8],
}

impl SwitchAllocator {
    /// Creates the allocator of a router with `tiles` tiles beyond each of its first four ports.
    pub(super) fn new(tiles: [u8; 4]) -> SwitchAllocator {
        let behind = |output: usize| STRAIGHT.get(output).map_or(0, |&input| tiles[input]);
        SwitchAllocator { behind: std::array::from_fn(behind), ..SwitchAllocator::default() }
    }

    /// Returns the outputs granted to each input out of `wants`, a lane for each input. `copies` marks
    /// requests for a copy of one flit, of which several may be granted.
    #[inline(always)]
    pub(super) fn grant(&mut self, mut wants: u64, copies: u64, requested: u8) -> u64 {
        if independent(wants) {
            let mut left = wants;
            while left != 0 {
                let (input, output) =
                    (left.trailing_zeros() as usize / 8, left.trailing_zeros() as usize % 8);
                left &= left - 1;
                self.grant_only(input, output, lane(copies, input));
            }
            return wants;
        }
        let asked = wants;
        // An input that requests both outputs of a pair with different flits drops one first.
        if requested & COLUMN != 0 {
            for (i, input) in [E, W, L].into_iter().enumerate() {
                wants = settle(wants, copies, input, N, S, self.second[i]);
            }
        }
        wants = settle(wants, copies, L, E, W, self.second[3]);
        let mut granted = 0;
        if requested & COLUMN != 0 {
            for output in [N, S] {
                let requests = gather(wants >> output);
                if requests != 0 {
                    granted |= self.of_column(output, requests, copies);
                }
            }
            for (i, input) in [E, W, L].into_iter().enumerate() {
                let won = lane(granted, input);
                if won != 0 {
                    self.second[i] = won & 1 << N != 0;
                }
            }
        }
        for output in [E, W] {
            if requested & 1 << output != 0 {
                granted |= self.of_row(output, gather(open(wants, copies, granted) >> output), copies);
            }
        }
        let won = lane(granted, L) & ROW;
        if won != 0 {
            self.second[3] = won & 1 << E != 0;
        }
        if requested & 1 << L != 0 {
            let requests = gather(open(asked, copies, granted) >> L);
            if requests != 0 {
                // The inputs north, south, east and west are the requests 0 to 3.
                let winner = first_of_four(self.next[L], requests);
                self.next[L] = (winner + 1) & 3;
                granted |= 1 << (8 * winner + L as u8);
            }
        }
        granted
    }

    /// Updates the state for an uncontested grant, the common case.
    #[inline(always)]
    fn grant_only(&mut self, input: usize, output: usize, copies: u8) {
        let Only { straight, request, last, second, prefers } = ONLY[input & 7][output & 7];
        self.second[usize::from(second & 7)] = prefers;
        let through = straight & self.through(output, copies);
        let next = if request == last { 0 } else { request + 1 };
        self.next[output] = if through { self.next[output] } else { next };
        self.count(output, request);
    }

    /// Decides north or south for a set of inputs that is not empty. Request 0 is straight-through traffic;
    /// east, west and local follow.
    #[inline(always)]
    fn of_column(&mut self, output: usize, inputs: u8, copies: u64) -> u64 {
        let straight = STRAIGHT[output];
        let requests = inputs >> 1 & 0b1110 | inputs >> straight & 1;
        let through = requests & 1 == 1 && self.through(output, lane(copies, straight));
        let winner = if through { 0 } else { first_of_four(self.next[output], requests) };
        if !through {
            self.next[output] = (winner + 1) & 3;
        }
        self.count(output, winner);
        let input = if winner == 0 { straight } else { usize::from(winner) + 1 };
        1 << (8 * input + output)
    }

    /// Decides east or west for a set of inputs: straight-through traffic or the tile.
    #[inline(always)]
    fn of_row(&mut self, output: usize, inputs: u8, copies: u64) -> u64 {
        if inputs == 0 {
            return 0;
        }
        let straight = STRAIGHT[output];
        let (passes, local) = (inputs >> straight & 1 == 1, inputs >> L & 1 == 1);
        let through = passes && self.through(output, lane(copies, straight));
        let first = passes && (through || !local || self.next[output] == 0);
        if !through {
            self.next[output] = u8::from(first);
        }
        self.count(output, u8::from(!first));
        1 << (8 * if first { straight } else { L } + output)
    }

    /// Straight-through traffic wins regardless of the turn: `meshkv_through_priority`.
    #[inline(always)]
    fn through(&self, output: usize, copies: u8) -> bool {
        let (passed, behind) = (self.passed[output], self.behind[output]);
        let copy = copies >> output & 1 == 1;
        copy & (passed != 2 * behind) | !copy & (4 * passed + 3 < behind)
    }

    #[inline(always)]
    fn count(&mut self, output: usize, winner: u8) {
        let passed = &mut self.passed[output];
        let more = *passed + u8::from(*passed != 2 * self.behind[output]);
        *passed = more * u8::from(winner == 0);
    }

    /// Advances the turn of one output, for tests of comparisons with this model.
    pub(super) fn skip_turn(&mut self, output: usize) {
        self.next[output] = (self.next[output] + 1) & if output == E || output == W { 1 } else { 3 };
    }
}

/// Drops one of two requests of an input that are decided in parallel: `meshkv_pair_choice`.
#[inline(always)]
fn settle(wants: u64, copies: u64, input: usize, a: usize, b: usize, second: bool) -> u64 {
    let both: u64 = (1 << a | 1 << b) << (8 * input);
    if wants & both != both || copies & both == both {
        wants
    } else {
        wants & !(1 << (8 * input + if second { a } else { b }))
    }
}

/// No input requests two outputs, and no output is requested by two inputs.
#[inline(always)]
fn independent(wants: u64) -> bool {
    let (mut seen, mut twice) = (0, 0);
    for lane in &wants.to_le_bytes()[..5] {
        twice |= seen & lane;
        seen |= lane;
    }
    twice == 0 && wants & (wants - nonzero(wants)) == 0
}

/// Returns the requests that remain after some grants. An input that won keeps only requests for copies of
/// the same flit.
#[inline(always)]
fn open(wants: u64, copies: u64, granted: u64) -> u64 {
    if granted == 0 {
        return wants;
    }
    let (served, otherwise) = (any(granted), any(granted & !copies));
    wants & !scatter_all(served) | wants & copies & scatter_all(served & !otherwise)
}

/// Returns the first of four requests in a circle from `next`. At least one is set.
#[inline(always)]
fn first_of_four(next: u8, requests: u8) -> u8 {
    let turned = (requests | requests << 4) >> next;
    (turned.trailing_zeros() as u8 + next) & 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::OutputOpen;
    use rust_hdl::prelude::*;

    #[test]
    fn an_input_that_has_won_is_open_as_the_kernel_lets_it_be() {
        let mut uut = OutputOpen::<3>::new();
        // Inputs, the output that each may still take, and the outputs that are decided before.
        let pairs: [(usize, usize, &[usize]); 8] = [
            (W, E, &[N, S]),
            (E, W, &[N, S]),
            (L, E, &[N, S]),
            (L, W, &[N, S]),
            (N, L, &[S]),
            (S, L, &[N]),
            (E, L, &[N, S, W]),
            (W, L, &[N, S, E]),
        ];
        for (input, output, before) in pairs {
            let set = |bits: u64| before.iter().enumerate().fold(0, |set, (i, o)| set | (bits >> i & 1) << o);
            for case in 0..4 << (2 * before.len()) {
                let (request, copy, rest) = (case & 1, case >> 1 & 1, case >> 2);
                let (won, copies) = (rest >> before.len(), rest & ((1 << before.len()) - 1));
                uut.request.next = request != 0;
                uut.copy.next = copy != 0;
                uut.won.next = won.into();
                uut.copies.next = copies.into();
                assert!(simulate(&mut uut, 4));

                let lane = |outputs: u64| outputs << (8 * input);
                let offers = lane(set(copies) | copy << output);
                let found = open(lane(request << output), offers, lane(set(won)));
                assert_eq!(
                    found,
                    lane(u64::from(uut.open.val()) << output),
                    "{input} to {output}, case {case:b}"
                );
            }
        }
    }
}
