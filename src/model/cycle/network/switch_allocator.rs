//! Switch allocator: `meshkv_switch_allocator` with the turns of its outputs.
//!
//! Inputs and outputs are numbered as [`Port`](crate::design::Port); a set of either is a byte. Outputs are
//! decided in the order north and south, east and west, local. Each pair sees the requests left by the pair
//! before. An output first decides between the classes that could send, then between the inputs of that class.

use super::phase::Phase;
use crate::kernels::cells::round_robin;
use crate::kernels::network::class_turn::{self, ClassOrder};
use crate::kernels::network::wrr_sides::{self, Shares, Turn};
use crate::kernels::network::{output_open, wrr_straight};
use crate::model::cycle::network::flits::lanes::{any, gather, lane, nonzero, scatter_all};

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

/// The same for routers of three stages, where north and south are decided beside the others.
const SIDES: [(usize, usize, usize); 6] = [(E, N, S), (W, N, S), (L, N, S), (L, E, W), (E, W, L), (W, E, L)];

/// In the pressure of an input: the KV_DATA head has several destinations.
pub(super) const SEVERAL: u8 = 1 << 3;

/// Requests or grants: by kind, a lane for each input, in it a bit for each output.
pub(super) type Lanes = [u64; KINDS];

/// Turns of the inputs at one output, for one class: where each pair stands.
#[derive(Debug, Clone, Copy, Default)]
struct Turns {
    /// Wins left to straight flits.
    straight: u8,
    /// The row and the tile; at the local output the column and the row.
    outer: Turn,
    /// North and south, at the local output.
    column: Turn,
    /// East and west.
    row: Turn,
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
    /// By pair of outputs of [`PAIRS`]: the second is preferred; with three stages, by pair of [`SIDES`].
    second: u8,
    /// By input, the outputs for which it held flits and none could leave, a cycle ago. Only with three stages.
    stuck: u64,
    /// Tiles beyond each of the first four ports.
    tiles: [u8; 4],
}

impl SwitchAllocator {
    /// Creates the allocator of a router with `tiles` tiles beyond each of its first four ports.
    pub(super) fn new(tiles: [u8; 4]) -> SwitchAllocator {
        SwitchAllocator { tiles, ..SwitchAllocator::default() }
    }

    /// Returns the granted requests out of `wants`. `copying` has the inputs that send copies of a KV_DATA flit together
    /// rather than another flit. `pressure` has by input the classes whose buffers are at least half full, and
    /// [`SEVERAL`].
    #[inline(always)]
    pub(super) fn grant(&mut self, wants: &Lanes, copying: u8, pressure: u64) -> Lanes {
        let all = wants[FIRST] | wants[BODY] | wants[FETCH] | wants[DATA];
        if !(independent(all) && distinct(wants)) {
            return self.decide_all(wants, copying, pressure);
        }
        for (kind, &lanes) in wants.iter().enumerate() {
            let mut left = lanes;
            while left != 0 {
                let (input, output) =
                    (left.trailing_zeros() as usize / 8, left.trailing_zeros() as usize % 8);
                left &= left - 1;
                self.by_turns(output, kind, 1 << input, pressure);
            }
        }
        *wants
    }

    fn decide_all(&mut self, wants: &Lanes, copying: u8, pressure: u64) -> Lanes {
        let (mut asks, mut clashes) = (*wants, 0);
        for (pair, &(input, a, b)) in PAIRS.iter().enumerate() {
            let second = self.second >> pair & 1 == 1;
            clashes |= u8::from(settle(&mut asks, input, a, b, copying, second)) << pair;
        }
        let mut granted = [0; KINDS];
        for output in [N, S] {
            self.decide(output, &asks, pressure, &mut granted);
        }
        for output in [E, W] {
            self.decide(output, &open(&asks, &granted), pressure, &mut granted);
        }
        self.decide(L, &open(&asks, &granted), pressure, &mut granted);
        let won = granted.iter().fold(0, |all, kind| all | kind);
        for (pair, &(input, a, b)) in PAIRS.iter().enumerate() {
            let (won_a, won_b) = (lane(won, input) >> a & 1, lane(won, input) >> b & 1);
            if clashes >> pair & 1 == 1 && won_a | won_b == 1 {
                self.second = self.second & !(1 << pair) | won_a << pair;
            }
        }
        granted
    }

    /// Returns the granted requests of a router of three stages. `held` has by input the outputs to which flits with one
    /// destination are owed, and those to which copies of KV_DATA are, whether or not they could leave.
    ///
    /// The inputs in `yields` ask for neither north nor south. All outputs are decided side by side. An input's choice
    /// between two outputs follows from `held` alone; from the next cycle on it prefers one on which it `insists`. An
    /// input that is sure to win north or south asks for nothing else; one that wins there against a rival loses what it
    /// won elsewhere.
    #[inline(always)]
    pub(super) fn grant_staged(
        &mut self,
        wants: &Lanes,
        held: [u64; 2],
        (yields, insists): (u8, u64),
        pressure: u64,
        phase: Phase,
    ) -> Lanes {
        let back = scatter_all(yields) & (u64::from(COLUMN) * 0x01_0101_0101);
        let mut asks = each(*wants, |kind| kind & !back);
        for (pair, &(input, a, b)) in SIDES.iter().enumerate() {
            let both = stand_back(&mut asks, held, (input, a, b), self.second >> pair & 1);
            let insists = lane(insists, input);
            let (first, second) = (insists >> a & 1, insists >> b & 1);
            let turned = self.second >> pair & 1 ^ u8::from(both && !phase.slips(pair));
            let next = (first ^ 1) & (second | turned);
            self.second = self.second & !(1 << pair) | next << pair;
        }
        let wanted = wants.iter().fold(0, |all, kind| all | kind);
        let stuck = std::mem::replace(&mut self.stuck, (held[0] | held[1]) & !wanted);
        let mut granted = [0; KINDS];
        if asks == [0; KINDS] {
            return granted;
        }
        for output in [N, S] {
            self.decide(output, &asks, pressure, &mut granted);
        }
        let left = open(&asks, &sure(held, back | stuck));
        let mut rest = [0; KINDS];
        for output in [E, W, L] {
            self.decide(output, &left, pressure, &mut rest);
        }
        let rest = open(&rest, &granted);
        for (granted, rest) in granted.iter_mut().zip(rest) {
            *granted |= rest;
        }
        granted
    }

    /// Decides one output.
    #[inline(always)]
    fn decide(&mut self, output: usize, asks: &Lanes, pressure: u64, granted: &mut Lanes) {
        let by = each(*asks, |kind| gather(kind >> output));
        if by != [0; KINDS] {
            let kind = class_turn::rule(each(by, |inputs| inputs != 0), &mut self.classes[output]);
            let winner = self.by_turns(output, kind, by[kind], pressure);
            granted[kind] |= 1 << (8 * winner + output);
        }
    }

    /// Decides between the inputs that request an output for one kind of flit. At least one does.
    #[inline(always)]
    fn by_turns(&mut self, output: usize, kind: usize, inputs: u8, pressure: u64) -> usize {
        if kind == BODY {
            let winner = round_robin::first::<5>(inputs, self.bodies[output]);
            self.bodies[output] = round_robin::next::<5>(winner);
            return usize::from(winner);
        }
        let [north, south, east, west] = self.tiles;
        let class = kind.saturating_sub(1);
        let turns = &mut self.turns[output][class];
        let has = |input: usize| inputs >> input & 1 == 1;
        // Tiles on the sides that ask; on both if neither does.
        let behind = |a: usize, b: usize| match (has(a), has(b)) {
            (true, false) => self.tiles[a],
            (false, true) => self.tiles[b],
            _ => self.tiles[a] + self.tiles[b],
        };
        let row = inputs & ROW != 0;
        if output == L {
            let share = behind(N, S);
            if wrr_sides::rule(&mut turns.outer, one_in(share), [inputs & COLUMN != 0, row]) {
                let sides = sides(north, south);
                return if wrr_sides::rule(&mut turns.column, sides, [has(N), has(S)]) { N } else { S };
            }
        } else {
            let straight = STRAIGHT[output];
            let (pressed, k) = (lane(pressure, straight), self.tiles[straight]);
            let share = match pressed >> class & 1 == 1 {
                _ if kind == DATA && pressed & SEVERAL != 0 => 2 * k,
                true => k,
                false => 1,
            };
            let asks = [has(straight), inputs & !(1 << straight) != 0];
            if wrr_straight::rule(&mut turns.straight, share, asks) {
                return straight;
            }
            if output == E || output == W {
                return L;
            }
            let share = behind(E, W);
            if !wrr_sides::rule(&mut turns.outer, one_in(share), [row, has(L)]) {
                return L;
            }
        }
        if wrr_sides::rule(&mut turns.row, sides(east, west), [has(E), has(W)]) {
            E
        } else {
            W
        }
    }

    /// Moves all turns of one output, for tests of comparisons with this model.
    pub(super) fn skip_turn(&mut self, output: usize) {
        for Turns { straight, outer, column, row } in &mut self.turns[output] {
            *straight = u8::from(*straight == 0);
            for turn in [outer, column, row] {
                turn.rivals ^= true;
            }
        }
        let order = &mut self.classes[output];
        // The other way round.
        order.fetch_before_part ^= true;
        order.data_before_part ^= true;
        order.data_before_fetch ^= true;
    }
}

/// `array::map` in line: the library's is a call unless units of code generation are optimised as one.
#[inline(always)]
pub(super) fn each<A: Copy, B: Copy + Default, const N: usize>(
    from: [A; N],
    change: impl Fn(A) -> B,
) -> [B; N] {
    let mut to = [B::default(); N];
    for (to, from) in to.iter_mut().zip(from) {
        *to = change(from);
    }
    to
}

/// The second side wins once for `share` wins of the first.
#[inline(always)]
fn one_in(share: u8) -> Shares {
    Shares { share, rival_share: 1 }
}

/// Each side wins once for each of its tiles.
#[inline(always)]
fn sides(first: u8, second: u8) -> Shares {
    Shares { share: first, rival_share: second }
}

/// Makes an input that requests two outputs decided side by side settle for one of them, or for copies of one KV_DATA
/// flit: `meshkv_pair_choice`. True if it settled for one output.
#[inline(always)]
fn settle(asks: &mut Lanes, input: usize, a: usize, b: usize, copying: u8, second: bool) -> bool {
    let pair = (1_u8 << a | 1 << b) & 31;
    let mine = each(*asks, |kind| lane(kind, input) & pair);
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

/// Makes an input that holds flits for two outputs decided side by side ask for one of them only, or for copies of one
/// KV_DATA flit: `meshkv_side_choice`. True if it holds flits for both.
#[inline(always)]
fn stand_back(asks: &mut Lanes, held: [u64; 2], (input, a, b): (usize, usize, usize), second: u8) -> bool {
    let [single, copies] = each(held, |outputs| lane(outputs, input));
    let any = single | copies;
    let (preferred, other) = if second == 1 { (b, a) } else { (a, b) };
    let kept = !(1_u64 << (8 * input + other));
    if any >> preferred & 1 == 1 {
        asks[..DATA].iter_mut().for_each(|kind| *kind &= kept);
    }
    if single >> preferred & 1 == 1 {
        asks[DATA] &= kept;
    }
    any >> a & any >> b & 1 == 1
}

/// Returns the flits that uncontested inputs hold for north and south, except those in `back`: by early signals alone,
/// these inputs are sure to win.
#[inline(always)]
fn sure(held: [u64; 2], back: u64) -> Lanes {
    let (mut once, mut twice) = (0, 0);
    for lane in &(held[0] | held[1]).to_le_bytes()[..5] {
        twice |= once & lane;
        once |= lane;
    }
    let alone = scatter_all(31) & (u64::from(!twice & COLUMN) * 0x01_0101_0101);
    let [single, copies] = each(held, |outputs| outputs & alone & !back);
    [0, 0, single, copies]
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
    let won_single = scatter_all(any(granted[FIRST] | granted[BODY] | granted[FETCH]));
    let [single, copy] = output_open::rule(won_single, scatter_all(any(granted[DATA])));
    [asks[FIRST] & single, asks[BODY] & single, asks[FETCH] & single, asks[DATA] & copy]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{decided, TURNS};

    #[test]
    fn the_choices_of_inputs_are_those_that_the_turns_leave() {
        for (staged, pairs) in [(false, &PAIRS[..]), (true, &SIDES)] {
            let choices = TURNS.choices(decided(staged)).into_iter();
            let choices = choices.map(|(input, a, b)| (input.index(), a.index(), b.index()));
            assert_eq!(choices.collect::<Vec<_>>(), pairs, "three stages: {staged}");
        }
    }

    #[test]
    fn an_input_that_has_won_is_open_only_to_copies_of_what_it_won() {
        for input in [N, S, E, W, L] {
            for kind in [FIRST, BODY, FETCH, DATA] {
                for (single, copy) in [(false, false), (false, true), (true, false)] {
                    let (mut asks, mut granted) = ([0; KINDS], [0; KINDS]);
                    asks[kind] = 1 << (8 * input + W);
                    granted[FETCH] = u64::from(single) << (8 * input);
                    granted[DATA] = u64::from(copy) << (8 * input + 1);
                    let stands = !single && (kind == DATA || !copy);
                    let expected = if stands { asks } else { [0; KINDS] };
                    assert_eq!(open(&asks, &granted), expected, "input {input} kind {kind}");
                }
            }
        }
    }

    #[test]
    fn straight_flits_win_for_each_tile_behind_them_while_they_are_backed_up() {
        // Three tiles to the west: from there to the east it is straight on.
        let mut allocator = SwitchAllocator::new([2, 2, 4, 3]);
        let mut wants = [0; KINDS];
        wants[FETCH] = 1 << (8 * W + E) | 1 << (8 * L + E);
        let mut run = |pressure: u64| -> String {
            let winner = |granted: Lanes| if lane(granted[FETCH], W) != 0 { 'w' } else { 'l' };
            (0..8).map(|_| winner(allocator.grant(&wants, 0, pressure))).collect()
        };
        // The share is read when a round begins.
        assert_eq!(run(0), "lwlwlwlw");
        assert_eq!(run(0b010 << (8 * W)), "lwwwlwww");
        // Another class is backed up, which is no concern of this one.
        assert_eq!(run(0b001 << (8 * W)), "lwlwlwlw");
    }

    #[test]
    fn classes_take_turns_and_one_class_does_not_use_up_the_turn_of_another() {
        let mut allocator = SwitchAllocator::new([2, 2, 4, 3]);
        let mut wants = [0; KINDS];
        // The tile has both classes; KV_FETCH of the row has a credit only in every second cycle.
        let mut fetched = [0; 2];
        for cycle in 0..40 {
            wants[DATA] = 1 << (8 * L + E);
            wants[FETCH] = if cycle % 2 == 1 { 1 << (8 * W + E) | 1 << (8 * L + E) } else { 0 };
            let granted = allocator.grant(&wants, 0, 0);
            fetched[0] += u32::from(lane(granted[FETCH], W) != 0);
            fetched[1] += u32::from(lane(granted[FETCH], L) != 0);
        }
        assert!(fetched[0].abs_diff(fetched[1]) <= 1 && fetched[1] >= 5, "{fetched:?}");
    }
}
