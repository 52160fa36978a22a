//! Who wins what in a cycle: `meshkv_switch_allocator` with its arbiters.
//!
//! Inputs and outputs are numbered as [`Port`](crate::design::Port); a set of either is a byte. Outputs are
//! decided in the order north and south, east and west, local, each from what those before have left.

use super::lanes::{any, gather, lane, nonzero, scatter_all};

pub(super) const N: usize = 0;
pub(super) const S: usize = 1;
pub(super) const E: usize = 2;
pub(super) const W: usize = 3;
pub(super) const L: usize = 4;

const COLUMN: u8 = 1 << N | 1 << S;
const ROW: u8 = 1 << E | 1 << W;

/// What is sent straight through to each of the first four outputs comes from here.
const STRAIGHT: [usize; 4] = [S, N, W, E];

/// What follows if an input is granted an output that no other asks.
#[derive(Clone, Copy)]
struct Only {
    /// It passes straight through.
    straight: bool,
    /// Its number among the requests of the output, and the last number there.
    request: u8,
    last: u8,
    /// The pair whose turn it is in, if any, and whether that prefers the second from now on.
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

/// Turns of the arbiters.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Allocator {
    /// By output, the request that is preferred.
    next: [u8; 8],
    /// By output: flits that passed straight through since another had its turn, and tiles behind who passes. Of no
    /// meaning for the local one, through which nothing passes.
    passed: [u8; 8],
    behind: [u8; 8],
    /// Inputs east, west and local of north and south, and local of east and west: the second is preferred. The others
    /// stand for no pair.
    second: [bool; 8],
}

impl Allocator {
    /// Of the router that has so many tiles beyond each of its first four ports.
    pub(super) fn new(tiles: [u8; 4]) -> Allocator {
        let behind = |output: usize| STRAIGHT.get(output).map_or(0, |&input| tiles[input]);
        Allocator { behind: std::array::from_fn(behind), ..Allocator::default() }
    }

    /// The outputs that each input is granted of those it `wants`, a lane for each input; `copies` are those for which it
    /// offers a copy of one flit, so that several may be granted.
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
        // An input that wants both of a pair with different flits settles for one beforehand.
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

    /// Notes that a request was granted that has no rival, which most are.
    #[inline(always)]
    fn grant_only(&mut self, input: usize, output: usize, copies: u8) {
        let Only { straight, request, last, second, prefers } = ONLY[input & 7][output & 7];
        self.second[usize::from(second & 7)] = prefers;
        let through = straight & self.through(output, copies);
        let next = if request == last { 0 } else { request + 1 };
        self.next[output] = if through { self.next[output] } else { next };
        self.count(output, request);
    }

    /// North or south, for a set of inputs that is not empty: the request that passes straight through is number 0,
    /// those of east, west and local follow.
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

    /// East or west, for a set of inputs: what passes straight through, and the tile's.
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

    /// Whether what passes straight through goes first whoever's turn it is: `meshkv_through_turn`.
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

    /// Moves the turn of one output on: for tests of what compares with this model.
    pub(super) fn skip_turn(&mut self, output: usize) {
        self.next[output] = (self.next[output] + 1) & if output == E || output == W { 1 } else { 3 };
    }
}

/// What is left of the wants when two outputs are decided side by side: `meshkv_pair_choice` of one input.
#[inline(always)]
fn settle(wants: u64, copies: u64, input: usize, a: usize, b: usize, second: bool) -> u64 {
    let both: u64 = (1 << a | 1 << b) << (8 * input);
    if wants & both != both || copies & both == both {
        wants
    } else {
        wants & !(1 << (8 * input + if second { a } else { b }))
    }
}

/// Whether no input wants two outputs, and no output is wanted by two inputs.
#[inline(always)]
fn independent(wants: u64) -> bool {
    let (mut seen, mut twice) = (0, 0);
    for lane in &wants.to_le_bytes()[..5] {
        twice |= seen & lane;
        seen |= lane;
    }
    twice == 0 && wants & (wants - nonzero(wants)) == 0
}

/// What inputs still ask for after some outputs were granted to them: only copies of the same flit.
#[inline(always)]
fn open(wants: u64, copies: u64, granted: u64) -> u64 {
    if granted == 0 {
        return wants;
    }
    let (served, otherwise) = (any(granted), any(granted & !copies));
    wants & !scatter_all(served) | wants & copies & scatter_all(served & !otherwise)
}

/// The first request from `next` on, of four in a circle; there is one.
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
