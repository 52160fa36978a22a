//! Reduce root: merges partial results of a head from any number of tiles as they arrive, and normalises
//! once.

use crate::model::datapath::numbers::fixed;
use crate::model::datapath::numbers::fp16;
use crate::model::datapath::numbers::sink::Sink;
use crate::model::datapath::params::Datapath;
use crate::model::datapath::reduction::normalise::Reciprocal;
use crate::model::datapath::reduction::part::Packet;
use crate::model::datapath::reduction::state::{State, MOST_MAX};

/// Head at its column's reduce root.
///
/// m, o and l have the formats of a tile. Additions are exact. A partial that raises m shifts the sums down,
/// and one with a smaller m is shifted down itself. So the order of arrival can change the last bits: each
/// sum by less than one unit of 2^-36 a partial.
#[derive(Debug, Clone)]
pub struct Root<'a> {
    datapath: &'a Datapath,
    max: Option<i32>,
    sums: Vec<i128>,
    special: bool,
    saturated: bool,
    scale: f32,
}

impl Datapath {
    /// Creates the root state of a query head, before the first partial result.
    pub fn root(&self) -> Root<'_> {
        Root::new(self)
    }
}

impl<'a> Root<'a> {
    fn new(datapath: &'a Datapath) -> Root<'a> {
        let sums = vec![0; datapath.shape.head_dim as usize + 1];
        Root { datapath, max: None, sums, special: false, saturated: false, scale: 1.0 }
    }

    /// The same with a scale of the output, a positive normal number. It does not change the state.
    #[must_use]
    pub fn scaled(self, scale: f32) -> Root<'a> {
        Root { scale, ..self }
    }

    /// The same with a sink, with which its sums begin. It must be given before the first partial result.
    #[must_use]
    pub fn sunk(mut self, sink: Option<Sink>) -> Root<'a> {
        if let Some(sink) = sink {
            self.max = Some(sink.max);
            *self.sums.last_mut().expect("l is always there") = sink.sum(self.datapath.formats.sum_fraction);
        }
        self
    }

    /// Merges the PART packet of a tile. A packet with l = 0 saw no token and changes nothing.
    pub fn merge(&mut self, flits: &[Vec<u16>]) {
        let mut packet = Packet::from_flits(flits, self.datapath.shape.head_dim);
        let l = *packet.sums.last().expect("l is always there");
        if l == 0 {
            return;
        }
        if fixed::is_special(l) {
            self.special = true;
            return;
        }
        self.saturated |= packet.saturated();
        packet.set_saturated(false);
        let max = self.max.map_or(packet.max, |max| max.max(packet.max));
        let below = |of: i32| (i64::from(max) - i64::from(of)).min(127) as i32;
        if let Some(old) = self.max {
            self.sums.iter_mut().for_each(|sum| *sum >>= below(old));
        }
        self.max = Some(max);
        let point = self.datapath.formats.sum_fraction as i32 - below(packet.max);
        for (sum, word) in self.sums.iter_mut().zip(packet.sums) {
            let (integer, exponent) = fixed::from_fp32(word);
            *sum += fixed::shift(integer, exponent + point);
        }
    }

    /// m over all partials and the sink; none before the first token without a sink.
    pub fn max(&self) -> Option<i32> {
        self.max
    }

    /// o\[0..head_dim\], then l, with `sum_fraction` bits below the point and 2^m as the unit.
    pub fn sums(&self) -> &[i128] {
        &self.sums
    }

    /// A logit of the head was beyond the range, and the output is not NaN: it is void.
    pub fn saturated(&self) -> bool {
        self.saturated && !self.special
    }

    /// Returns l, m and o in FP32, each rounded once: NaN for a head with an infinity or a NaN; m = -infinity, l = 0 and
    /// o = 0 for one without a token.
    pub fn state(&self) -> State {
        let (l, o) = self.sums.split_last().expect("l is always there");
        if self.special {
            return State::all(f32::from_bits(fixed::FP32_NAN), o.len());
        }
        let single = |sum: i128| f32::from_bits(fixed::to_fp32(sum, self.datapath.formats.sum_fraction));
        let max = match self.max {
            Some(max) if *l > 0 => f32::from_bits(fixed::to_fp32(i128::from(max), 0)),
            _ => f32::NEG_INFINITY,
        };
        State { l: single(*l), max, o: o.iter().map(|&o| single(o)).collect() }
    }

    /// The state of the head is void: a logit was beyond the range, or m is, and the state is not NaN.
    pub fn state_is_void(&self) -> bool {
        let far = self.max.is_some_and(|max| !(-MOST_MAX..MOST_MAX).contains(&max));
        let counts = self.sums.last().is_some_and(|l| *l > 0);
        (self.saturated || far && counts) && !self.special
    }

    /// Returns o / l times the scale in FP16, infinite beyond its range: NaN for a head with an infinity or a NaN, 0 for one without a token.
    pub fn output(&self) -> Vec<u16> {
        let (l, o) = self.sums.split_last().expect("l is always there");
        if self.special {
            return vec![fp16::NAN; o.len()];
        }
        match Reciprocal::scaled(*l, self.scale) {
            None => vec![0; o.len()],
            Some(reciprocal) => o.iter().map(|&o| reciprocal.times(o)).collect(),
        }
    }
}
