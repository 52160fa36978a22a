//! Switch allocator: `meshkv_switch_allocator` with the turns of its outputs.
//!
//! Inputs and outputs are numbered as [`Port`](crate::design::Port); a set of either is a byte. Outputs are
//! decided in the order north and south, east and west, local. Each pair sees the requests left by the pair
//! before. An output first decides between the classes that could send, then between the inputs of that class.
//! Both turns change only when a request with a rival is granted.

use super::lanes::{any, gather, lane, nonzero, scatter_all};
use crate::model::cycle::common::{class_turn, shared_turn, ClassOrder};

pub(super) const N: usize = 0;
pub(super) const S: usize = 1;
pub(super) const E: usize = 2;
pub(super) const W: usize = 3;
pub(super) const L: usize = 4;

/// Kinds of requests: first flits of PART packets, their other flits, KV_FETCH, KV_DATA.
pub(super) const FIRST: usize = 0;
pub(super) const BODY: usize = 1;
pub(super) const FETCH: usize = 2;
pub(super) const DATA: usize = 3;
pub(super) const KINDS: usize = 4;

const COLUMN: u8 = 1 << N | 1 << S;
const ROW: u8 = 1 << E | 1 << W;

/// Input from which straight-through traffic reaches each of the first four outputs.
const STRAIGHT: [usize; 4] = [S, N, W, E];

/// Pairs of outputs that are decided side by side, by an input that may request both.
const PAIRS: [(usize, usize, usize); 4] = [(E, N, S), (W, N, S), (L, N, S), (L, E, W)];

/// Requests or grants: by kind, a lane for each input, in it a bit for each output.
pub(super) type Lanes = [u64; KINDS];

/// Turns of the inputs at one output, for one class: where each of three pairs stands.
#[derive(Debug, Clone, Copy, Default)]
struct Turns {
    /// Straight-through traffic and all others; at the local output the column and the row.
    outer: u8,
    /// The row and the tile; at the local output north and south.
    inner: u8,
    /// East and west.
    row: u8,
}

/// State of the turns.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SwitchAllocator {
    /// By output and class.
    turns: [[Turns; 3]; 5],
    /// By output, which class goes first.
    classes: [ClassOrder; 5],
    /// By output, the input that is preferred for a flit inside a packet.
    bodies: [u8; 5],
    /// By pair of outputs of [`PAIRS`]: the second is preferred.
    second: u8,
    /// Tiles beyond each of the first four ports.
    tiles: [u8; 4],
}

impl SwitchAllocator {
    /// Creates the allocator of a router with `tiles` tiles beyond each of its first four ports.
    pub(super) fn new(tiles: [u8; 4]) -> SwitchAllocator {
        SwitchAllocator { tiles, ..SwitchAllocator::default() }
    }

    /// Returns the granted requests out of `wants`. `copying` has the inputs that send copies of a KV_DATA flit together
    /// rather than another flit. `full` has, by input, the classes whose buffers are at least half full.
    #[inline(always)]
    pub(super) fn grant(&mut self, wants: &Lanes, copying: u8, full: u64) -> Lanes {
        let all = wants[FIRST] | wants[BODY] | wants[FETCH] | wants[DATA];
        if independent(all) && distinct(wants) {
            return *wants;
        }
        self.decide_all(wants, copying, full)
    }

    fn decide_all(&mut self, wants: &Lanes, copying: u8, full: u64) -> Lanes {
        let (mut asks, mut clashes) = (*wants, 0);
        for (pair, &(input, a, b)) in PAIRS.iter().enumerate() {
            let second = self.second >> pair & 1 == 1;
            clashes |= u8::from(settle(&mut asks, input, a, b, copying, second)) << pair;
        }
        let mut granted = [0; KINDS];
        for output in [N, S] {
            self.decide(output, &asks, full, &mut granted);
        }
        for output in [E, W] {
            self.decide(output, &open(&asks, &granted), full, &mut granted);
        }
        self.decide(L, &open(&asks, &granted), full, &mut granted);
        let won = granted.iter().fold(0, |all, kind| all | kind);
        for (pair, &(input, a, b)) in PAIRS.iter().enumerate() {
            let (won_a, won_b) = (lane(won, input) >> a & 1, lane(won, input) >> b & 1);
            if clashes >> pair & 1 == 1 && won_a | won_b == 1 {
                self.second = self.second & !(1 << pair) | won_a << pair;
            }
        }
        granted
    }

    /// Decides one output.
    #[inline(always)]
    fn decide(&mut self, output: usize, asks: &Lanes, full: u64, granted: &mut Lanes) {
        let by = asks.map(|kind| gather(kind >> output));
        if by == [0; KINDS] {
            return;
        }
        let kind = class_turn(by.map(|inputs| inputs != 0), &mut self.classes[output]);
        let inputs = by[kind];
        let winner = if inputs & (inputs - 1) == 0 {
            inputs.trailing_zeros() as usize
        } else if kind == BODY {
            let winner = first_of_five(self.bodies[output], inputs);
            self.bodies[output] = if winner == 4 { 0 } else { winner + 1 };
            usize::from(winner)
        } else {
            self.by_turns(output, kind.saturating_sub(1), inputs, full)
        };
        granted[kind] |= 1 << (8 * winner + output);
    }

    /// Decides between several inputs of a class.
    fn by_turns(&mut self, output: usize, class: usize, inputs: u8, full: u64) -> usize {
        let [north, south, east, west] = self.tiles;
        let turns = &mut self.turns[output][class];
        let has = |input: usize| inputs >> input & 1 == 1;
        let behind = |input: usize, tiles: u8| tiles * u8::from(has(input));
        let (column, row) = (inputs & COLUMN != 0, inputs & ROW != 0);
        if output == L {
            let share = behind(N, north) + behind(S, south);
            if column && (!row || shared_turn(&mut turns.outer, share, share)) {
                let north_wins = has(N) && (!has(S) || shared_turn(&mut turns.inner, north, north + south - 1));
                return if north_wins { N } else { S };
            }
        } else {
            let straight = STRAIGHT[output];
            let share = if lane(full, straight) >> class & 1 == 1 { self.tiles[straight] } else { 1 };
            let others = inputs & !(1 << straight) != 0;
            if has(straight) && (!others || shared_turn(&mut turns.outer, share, share)) {
                return straight;
            }
            if output == E || output == W {
                return L;
            }
            let share = behind(E, east) + behind(W, west);
            if has(L) && !(row && shared_turn(&mut turns.inner, share, share)) {
                return L;
            }
        }
        let east_wins = has(E) && (!has(W) || shared_turn(&mut turns.row, east, east + west - 1));
        if east_wins { E } else { W }
    }

    /// Moves all turns of one output, for tests of comparisons with this model.
    pub(super) fn skip_turn(&mut self, output: usize) {
        for turns in &mut self.turns[output] {
            *turns = Turns { outer: u8::MAX, inner: u8::MAX, row: u8::MAX };
        }
        let order = &mut self.classes[output];
        (order.fetch_before_part, order.data_before_part) = (!order.data_before_part, !order.fetch_before_part);
        order.data_before_fetch = !order.data_before_fetch;
    }
}

/// Makes an input that requests two outputs decided side by side settle for one of them, or for copies of one KV_DATA
/// flit: `meshkv_pair_choice`. True if it settled for one output.
#[inline(always)]
fn settle(asks: &mut Lanes, input: usize, a: usize, b: usize, copying: u8, second: bool) -> bool {
    let pair = (1_u8 << a | 1 << b) & 31;
    let mine = asks.map(|kind| lane(kind, input) & pair);
    let single = mine[FIRST] | mine[BODY] | mine[FETCH];
    if single | mine[DATA] != pair || mine[DATA] == pair && single == 0 {
        return false;
    }
    let together = mine[DATA] == pair && copying >> input & 1 == 1;
    let (dropped, of) = match together {
        true => (u64::from(pair) << (8 * input), DATA),
        false => (1 << (8 * input + if second { a } else { b }), KINDS),
    };
    for kind in asks[..of].iter_mut() {
        *kind &= !dropped;
    }
    !together
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

/// No input requests an output with two kinds.
#[inline(always)]
fn distinct(wants: &Lanes) -> bool {
    let [first, body, fetch, data] = wants;
    (first & body) | (first | body) & fetch | (first | body | fetch) & data == 0
}

/// Returns the requests that remain after some grants. An input that won keeps only requests for copies of
/// the same flit: `meshkv_output_open`.
#[inline(always)]
fn open(asks: &Lanes, granted: &Lanes) -> Lanes {
    let single = scatter_all(any(granted[FIRST] | granted[BODY] | granted[FETCH]));
    let spent = single | scatter_all(any(granted[DATA]));
    [asks[FIRST] & !spent, asks[BODY] & !spent, asks[FETCH] & !spent, asks[DATA] & !single]
}

/// Returns the first of five inputs in a circle from `next`. At least one is set.
#[inline(always)]
fn first_of_five(next: u8, inputs: u8) -> u8 {
    let turned = (u16::from(inputs) | u16::from(inputs) << 5) >> next;
    let found = turned.trailing_zeros() as u8 + next;
    if found >= 5 { found - 5 } else { found }
}
