//! State of a head's attention over some of the tokens: a root returns it on request, and a host merges several.
//!
//! Attention over all tokens is o / l of the merged state: the online softmax of FlashAttention-2 and of tree
//! attention, with 2^m in place of e^m.

use crate::model::datapath::numbers::sink::Sink;

/// m is returned exactly from minus this up to it: all such integers are FP32.
pub const MOST_MAX: i32 = 1 << 24;

/// Bits below the point of the l of a sink.
const SINK_FRACTION: u32 = 23;

/// Halves of l and m.
const HEADER: usize = 4;

/// m, l and o of a head, in FP32.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Sum over the tokens of 2^(z - m), where z is the scaled logit times log2(e). 0 without a token.
    pub l: f32,
    /// m, in powers of two: an integer, the largest floor(z). -infinity without a token.
    pub max: f32,
    /// Sum over the tokens of 2^(z - m) v, `head_dim` numbers.
    pub o: Vec<f32>,
}

impl State {
    /// The state without a token.
    pub fn empty(head_dim: usize) -> State {
        State { l: 0.0, max: f32::NEG_INFINITY, o: vec![0.0; head_dim] }
    }

    /// The state of a head's sink, which a host merges with those of its tokens; without one, the empty state.
    pub fn of_sink(sink: Option<Sink>, head_dim: usize) -> State {
        let Some(sink) = sink else { return State::empty(head_dim) };
        let l = (sink.sum(SINK_FRACTION) as f64 / f64::from(1 << SINK_FRACTION)) as f32;
        State { l, max: sink.max as f32, o: vec![0.0; head_dim] }
    }

    /// A state whose numbers are all the same.
    pub(in crate::model::datapath) fn all(number: f32, head_dim: usize) -> State {
        State { l: number, max: number, o: vec![number; head_dim] }
    }

    /// The halves of l, m and o, in this order, the lower half first: 2 x (2 + `head_dim`) numbers.
    pub fn halves(&self) -> Vec<u16> {
        let all = [self.l, self.max].into_iter().chain(self.o.iter().copied());
        all.map(f32::to_bits).flat_map(|bits| [bits as u16, (bits >> 16) as u16]).collect()
    }

    /// Reads such halves.
    ///
    /// # Panics
    /// If there are not even l and m.
    pub fn of_halves(halves: &[u16]) -> State {
        let number = |two: &[u16]| f32::from_bits(u32::from(two[1]) << 16 | u32::from(two[0]));
        let mut numbers = halves.chunks(2).map(number);
        let (l, max) = (numbers.next().expect("l"), numbers.next().expect("m"));
        State { l, max, o: numbers.collect() }
    }

    /// Halves as they lie in flits of `elements` elements: l and m have a flit of their own.
    pub fn in_flits(halves: &[u16], elements: usize) -> Vec<u16> {
        let (header, o) = halves.split_at(HEADER);
        let mut flits = header.to_vec();
        flits.resize(elements, 0);
        flits.extend(o);
        flits
    }

    /// Takes the filling of the first flit away.
    pub fn out_of_flits(halves: &mut Vec<u16>, elements: usize) {
        halves.drain(HEADER.min(halves.len())..elements.min(halves.len()));
    }

    /// Merges the state over some tokens with that over others. Sums are scaled to the larger m, which is exact but for
    /// what falls below FP32, and added in FP32. NaN stays NaN.
    ///
    /// # Panics
    /// If the heads have different sizes.
    pub fn merge(&self, other: &State) -> State {
        assert_eq!(self.o.len(), other.o.len(), "elements of a head");
        let max = self.max.max(other.max);
        // Both are empty: there is no difference of infinities.
        let scale = |of: &State| if of.max == max { 1.0 } else { (of.max - max).exp2() };
        let (a, b) = (scale(self), scale(other));
        let o = self.o.iter().zip(&other.o).map(|(x, y)| x * a + y * b).collect();
        State { l: self.l * a + other.l * b, max, o }
    }

    /// Returns o / l; 0 without a token.
    pub fn output(&self) -> Vec<f32> {
        if self.l == 0.0 {
            return vec![0.0; self.o.len()];
        }
        self.o.iter().map(|o| o / self.l).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::model::datapath::reduction::state::State;

    fn state(l: f32, max: f32, o: f32) -> State {
        State { l, max, o: vec![o; 2] }
    }

    #[test]
    fn states_merge_at_the_larger_maximum() {
        let merged = state(2.0, 3.0, 8.0).merge(&state(1.0, 5.0, 4.0));
        assert_eq!(merged, state(1.5, 5.0, 6.0));
        assert_eq!(merged.output(), [4.0; 2]);
    }

    #[test]
    fn an_empty_state_changes_nothing() {
        let (some, none) = (state(2.0, -40.0, 8.0), State::empty(2));
        assert_eq!((some.merge(&none), none.merge(&some)), (some.clone(), some));
        let both = none.merge(&none);
        assert_eq!((both.clone(), both.output()), (none, vec![0.0; 2]));
    }

    #[test]
    fn halves_and_flits_hold_the_same_numbers() {
        let some = State { l: 1.5, max: -3.0, o: vec![0.25, -7.0] };
        let halves = some.halves();
        assert_eq!(State::of_halves(&halves), some);
        for elements in [4, 32] {
            let mut flits = State::in_flits(&halves, elements);
            assert_eq!(flits.len(), elements + 4);
            State::out_of_flits(&mut flits, elements);
            assert_eq!(flits, halves);
        }
    }

    #[test]
    fn a_nan_stays() {
        let nan = State::all(f32::NAN, 2);
        for merged in [nan.merge(&state(1.0, 0.0, 1.0)), state(1.0, 0.0, 1.0).merge(&nan)] {
            assert!(merged.output().iter().all(|o| o.is_nan()));
        }
        assert!(nan.merge(&State::empty(2)).l.is_nan());
    }
}
