//! Scales of a head: of its logits and of its output.

use crate::config::{KvFormat, Narrow};
use crate::design::Design;
use crate::model::datapath::numbers::exp2::Scale;
use crate::model::datapath::numbers::formats::Formats;
use crate::model::datapath::numbers::sink::Sink;

/// Scales of a head, as a root and the arrays apply them, and the widths of its stationary numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeadScales {
    /// Factor of q.k: log2(e) / sqrt(d_h), times that of the keys.
    pub logit: Scale,
    /// Factor of the output: that of the values. Partial results do not have it.
    pub output: f32,
    /// Stationary numbers of nine bits, where two rows share their multipliers.
    pub narrow: Narrow,
    /// Sink of the head. Partial results are without it.
    pub sink: Option<Sink>,
}

/// Bits of a word that tell widths of packed numbers: the leading one of a significand is not needed, nor is the sign of
/// the output's scale.
const WIDE_KEYS: u64 = 1 << 25;
const NARROW_VALUES: u64 = 1 << 63;

impl HeadScales {
    /// Scales of a head whose keys and values have these factors; none if the design cannot apply them.
    pub fn of(design: &Design, (k, v): (f32, f32)) -> Option<HeadScales> {
        if !design.pe.is_scaled() {
            let logit = Scale::new(design.model.head_dim, &Formats::default());
            return (k == 1.0 && v == 1.0).then_some(HeadScales {
                logit,
                output: 1.0,
                narrow: Narrow::None,
                sink: None,
            });
        }
        let root = std::f64::consts::LOG2_E / f64::from(design.model.head_dim).sqrt();
        let logit = Scale::given(root * f64::from(k), design.pe.format)?;
        if logit.rise > design.pe.most_rise() as i32 {
            return None;
        }
        let narrow = if design.pe.format == KvFormat::Int8 { design.pe.narrow } else { Narrow::None };
        (v.is_normal() && v > 0.0).then_some(HeadScales { logit, output: v, narrow, sink: None })
    }

    /// The word that a host gives: the scale of the logits, that of the output above it.
    pub fn word(&self) -> u64 {
        let word = u64::from(self.output.to_bits()) << 32 | u64::from(self.logit.word());
        let keys = if self.narrow.keys() { word & !WIDE_KEYS } else { word };
        if self.narrow.values() {
            keys | NARROW_VALUES
        } else {
            keys
        }
    }

    /// The widths that a word tells of packed numbers: those of queries are narrow, those of weights are.
    pub fn narrow_of(word: u64) -> (bool, bool) {
        (word & WIDE_KEYS == 0, word & NARROW_VALUES != 0)
    }
}
