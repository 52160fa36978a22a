//! Attention sink of a head: a logit beside those of the tokens, which has no value.

/// Bits of the fraction of l.
const FRACTION: u32 = 23;
/// Bit of a word that says that there is a sink.
const THERE: u64 = 1 << 63;

/// A sink as a root begins with it: 2^z = l 2^m, for z the logit in powers of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sink {
    /// m: floor(z).
    pub max: i32,
    /// l from 1 to 2, rounded to 23 bits below the point: the bits behind the point.
    pub fraction: u32,
}

impl Sink {
    /// The sink of a logit, base e, as the softmax takes it beside q.k times its scale; none of an infinity below, which has no
    /// weight. None, too, of what is no number within FP16's range: a caller refuses it.
    pub fn new(logit: f32) -> Option<Sink> {
        if logit.is_nan() || logit.abs() > 65_504.0 {
            return None;
        }
        let z = f64::from(logit) * std::f64::consts::LOG2_E;
        let max = z.floor();
        let fraction = (((z - max).exp2() - 1.0) * f64::from(1 << FRACTION)).round() as u32;
        // What rounds to 2 is 1 of the next power.
        Some(Sink {
            max: max as i32 + (fraction >> FRACTION) as i32,
            fraction: fraction & ((1 << FRACTION) - 1),
        })
    }

    /// l, with so many bits below the point.
    pub fn sum(&self, fraction: u32) -> i128 {
        i128::from(1 << FRACTION | self.fraction) << (fraction - FRACTION)
    }

    /// The word that a host gives for a head: m, the fraction of l above it, and a bit that there is one; 0 of none.
    pub fn word(sink: Option<Sink>) -> u64 {
        sink.map_or(0, |sink| THERE | u64::from(sink.fraction) << 32 | u64::from(sink.max as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::LN_2;

    #[test]
    fn a_sink_is_its_logit_but_for_the_last_of_23_bits() {
        for logit in [0.0, -0.0, 1.0, -1.0, LN_2, 12.5, -300.25, 65_504.0, -65_504.0, 1e-30] {
            let sink = Sink::new(logit).unwrap();
            let z = f64::from(sink.max) + (sink.sum(36) as f64 / 2f64.powi(36)).log2();
            assert!((z - f64::from(logit) * std::f64::consts::LOG2_E).abs() < 1e-6, "{logit}: {sink:?}");
        }
        assert_eq!(Sink::new(0.0), Some(Sink { max: 0, fraction: 0 }));
        assert_eq!(Sink::word(Sink::new(-1e-9)), THERE, "it rounds to 2, so to 1 of the next power");
        assert_eq!(Sink::word(None), 0);
        for none in [f32::NEG_INFINITY, f32::INFINITY, f32::NAN, 70_000.0] {
            assert_eq!(Sink::new(none), None);
        }
    }
}
