//! Who wins what in a cycle: `meshkv_switch_allocator` with its arbiters.
//!
//! Inputs and outputs are numbered as [`Port`](crate::design::Port); a set of either is a byte. Outputs are
//! decided in the order north and south, east and west, local, each from what those before have left.

use super::lanes::{any, gather, lane, scatter_all};

pub(super) const N: usize = 0;
pub(super) const S: usize = 1;
pub(super) const E: usize = 2;
pub(super) const W: usize = 3;
pub(super) const L: usize = 4;

const COLUMN: u8 = 1 << N | 1 << S;
const ROW: u8 = 1 << E | 1 << W;

/// What is sent straight through to each of the first four outputs comes from here.
const STRAIGHT: [usize; 4] = [S, N, W, E];

/// Turns of the arbiters.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Allocator {
    /// By output, the request that is preferred.
    next: [u8; 5],
    /// By output but the local one: flits that passed straight through since another had its turn, and tiles
    /// behind who passes.
    passed: [u8; 4],
    behind: [u8; 4],
    /// Inputs east, west and local of north and south, and local of east and west: the second is preferred.
    second: [bool; 4],
}

impl Allocator {
    /// Of the router that has so many tiles beyond each of its first four ports.
    pub(super) fn new(tiles: [u8; 4]) -> Allocator {
        Allocator { behind: STRAIGHT.map(|input| tiles[input]), ..Allocator::default() }
    }

    /// The outputs that each input is granted of those it `wants`, a lane for each input; `copies` are those for which it
    /// offers a copy of one flit, so that several may be granted.
    #[inline(always)]
    pub(super) fn grant(&mut self, mut wants: u64, copies: u64, requested: u8) -> u64 {
        if wants & (wants - 1) == 0 {
            self.grant_only(wants, copies);
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
    fn grant_only(&mut self, want: u64, copies: u64) {
        let (input, output) = (want.trailing_zeros() as usize / 8, want.trailing_zeros() as usize % 8);
        if input >= E {
            match output {
                N | S => self.second[input - E] = output == N,
                E | W if input == L => self.second[3] = output == E,
                _ => {}
            }
        }
        match output {
            L => self.next[L] = (input as u8 + 1) & 3,
            N | S => {
                self.of_column(output, 1 << input, copies);
            }
            _ => {
                self.of_row(output, 1 << input, copies);
            }
        }
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
        if copies >> output & 1 == 1 {
            passed != 2 * behind
        } else {
            4 * passed + 3 < behind
        }
    }

    #[inline(always)]
    fn count(&mut self, output: usize, winner: u8) {
        let passed = &mut self.passed[output];
        if winner != 0 {
            *passed = 0;
        } else if *passed != 2 * self.behind[output] {
            *passed += 1;
        }
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
