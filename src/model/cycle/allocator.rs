//! Who wins what in a cycle: `meshkv_switch_allocator` with its arbiters.
//!
//! Inputs and outputs are numbered as [`Port`](crate::design::Port); a set of either is a byte. Outputs are
//! decided in the order north and south, east and west, local, each from what those before have left.

pub(super) const N: usize = 0;
pub(super) const S: usize = 1;
pub(super) const E: usize = 2;
pub(super) const W: usize = 3;
pub(super) const L: usize = 4;

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

    /// The outputs that each input is granted of those it `wants`; `copies` are those for which it offers a copy
    /// of one flit, so that several may be granted.
    #[inline(always)]
    pub(super) fn grant(&mut self, wants: [u8; 5], copies: [u8; 5]) -> [u8; 5] {
        let mut granted = [0_u8; 5];
        // An input that wants both with different flits settles for one beforehand.
        let east = settle(wants[E], copies[E], N, S, self.second[0]);
        let west = settle(wants[W], copies[W], N, S, self.second[1]);
        let local = settle(wants[L], copies[L], N, S, self.second[2]);
        let local = settle(local, copies[L], E, W, self.second[3]);
        if (east | west | local | wants[S]) & 1 << N != 0 {
            self.of_four(N, [wants[S], east, west, local], [S, E, W, L], copies[S], &mut granted);
        }
        if (east | west | local | wants[N]) & 1 << S != 0 {
            self.of_four(S, [wants[N], east, west, local], [N, E, W, L], copies[N], &mut granted);
        }
        for (input, second) in [E, W, L].into_iter().zip(&mut self.second) {
            if granted[input] != 0 {
                *second = granted[input] & 1 << N != 0;
            }
        }
        if (wants[W] | local) & 1 << E != 0 {
            self.of_two(E, [wants[W], local], W, copies, &mut granted);
        }
        if (wants[E] | local) & 1 << W != 0 {
            self.of_two(W, [wants[E], local], E, copies, &mut granted);
        }
        if granted[L] & (1 << E | 1 << W) != 0 {
            self.second[3] = granted[L] & 1 << E != 0;
        }
        if (wants[N] | wants[S] | wants[E] | wants[W]) & 1 << L != 0 {
            let ask = |input: usize| asks(wants[input], copies[input], granted[input], L);
            let requests = ask(N) | ask(S) << 1 | ask(E) << 2 | ask(W) << 3;
            if requests != 0 {
                let winner = first_of_four(self.next[L], requests);
                self.next[L] = (winner + 1) & 3;
                granted[usize::from(winner)] |= 1 << L;
            }
        }
        granted
    }

    /// North or south: the first of `inputs` passes straight through.
    #[inline(always)]
    fn of_four(
        &mut self,
        output: usize,
        wants: [u8; 4],
        inputs: [usize; 4],
        straight: u8,
        granted: &mut [u8; 5],
    ) {
        let requests = wants.iter().rev().fold(0, |all, want| all << 1 | want >> output & 1);
        let through = requests & 1 == 1 && self.through(output, straight);
        let winner = if through { 0 } else { first_of_four(self.next[output], requests) };
        if !through {
            self.next[output] = (winner + 1) & 3;
        }
        self.count(output, winner);
        granted[inputs[usize::from(winner)]] |= 1 << output;
    }

    /// East or west: what passes straight through from `input`, and the tile's.
    #[inline(always)]
    fn of_two(
        &mut self,
        output: usize,
        wants: [u8; 2],
        input: usize,
        copies: [u8; 5],
        granted: &mut [u8; 5],
    ) {
        let straight = asks(wants[0], copies[input], granted[input], output);
        let local = asks(wants[1], copies[L], granted[L], output);
        if straight | local == 0 {
            return;
        }
        let through = straight == 1 && self.through(output, copies[input]);
        let first = straight == 1 && (through || local == 0 || self.next[output] == 0);
        if !through {
            self.next[output] = u8::from(first);
        }
        self.count(output, u8::from(!first));
        granted[if first { input } else { L }] |= 1 << output;
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

/// What is left of the wants of an input when two outputs are decided side by side: `meshkv_pair_choice`.
#[inline(always)]
fn settle(wants: u8, copies: u8, a: usize, b: usize, second: bool) -> u8 {
    let both = 1 << a | 1 << b;
    if wants & both != both || copies & both == both {
        wants
    } else {
        wants & !(1 << if second { a } else { b })
    }
}

/// Whether an input that has been granted some outputs still asks for this one: only for a copy of the same flit.
#[inline(always)]
fn asks(wants: u8, copies: u8, granted: u8, output: usize) -> u8 {
    let open = if granted == 0 {
        wants
    } else if granted & !copies == 0 {
        wants & copies
    } else {
        0
    };
    open >> output & 1
}

/// The first request from `next` on, of four in a circle; there is one.
#[inline(always)]
fn first_of_four(next: u8, requests: u8) -> u8 {
    let turned = (requests | requests << 4) >> next;
    (turned.trailing_zeros() as u8 + next) & 3
}
