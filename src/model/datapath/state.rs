//! State of a head's attention over some of the tokens: what a root returns on request, and what a host merges.
//!
//! Attention over all tokens is o / l of the merged state: the online softmax of FlashAttention-2 and of tree
//! attention, with 2^m in place of e^m.

/// m is returned exactly from minus this up to it: all such integers are FP32.
pub const MOST_MAX: i32 = 1 << 24;

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

    /// A state whose numbers are all the same.
    pub(super) fn all(number: f32, head_dim: usize) -> State {
        State { l: number, max: number, o: vec![number; head_dim] }
    }

    /// Reads l, m, and o as the device writes them: a part with l and m, then o.
    pub fn from_words(header: [u32; 2], o: impl Iterator<Item = u32>) -> State {
        let [l, max] = header.map(f32::from_bits);
        State { l, max, o: o.map(f32::from_bits).collect() }
    }

    /// True if both are the same in every bit, NaN included.
    pub fn is_bitwise(&self, other: &State) -> bool {
        let bits = |of: &State| [of.l.to_bits(), of.max.to_bits()];
        let o = |of: &State| of.o.iter().map(|o| o.to_bits()).collect::<Vec<_>>();
        bits(self) == bits(other) && o(self) == o(other)
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
    use super::State;

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
    fn a_nan_stays() {
        let nan = State::all(f32::NAN, 2);
        for merged in [nan.merge(&state(1.0, 0.0, 1.0)), state(1.0, 0.0, 1.0).merge(&nan)] {
            assert!(merged.output().iter().all(|o| o.is_nan()));
        }
        assert!(nan.merge(&State::empty(2)).l.is_nan());
    }
}
