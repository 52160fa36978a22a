//! The mean over some seeds with its confidence interval.

use schemars::JsonSchema;
use serde::Serialize;

/// Mean of some values and half of its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// Number of values.
    pub n: usize,
    /// Mean.
    pub mean: f64,
    /// Half the width of the 95 % interval, after Student, and the error to expect of an extrapolated mean; null for a single value
    /// without an error.
    pub half: Option<f64>,
}

impl Spread {
    /// The spread of at least one value.
    pub fn of(values: &[f64]) -> Spread {
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let variance = || values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
        let half = (n > 1).then(|| student(n - 1) * (variance() / n as f64).sqrt());
        Spread { n, mean, half }
    }

    /// The same where the values have an error of their own, as a share of them.
    pub fn with_error(self, share: f64) -> Spread {
        let own = share * self.mean.abs();
        let half = self.half.map(|half| half + own).or((own > 0.0).then_some(own));
        Spread { half, ..self }
    }

    /// The mean with four significant digits, however large it is.
    pub fn text(self) -> String {
        let decimals = 3.0 - self.mean.abs().max(1e-3).log10().floor();
        self.show(decimals.clamp(0.0, 6.0) as usize)
    }

    /// With so many decimals.
    pub fn show(self, decimals: usize) -> String {
        match self.half {
            Some(half) => format!("{:.decimals$} ± {half:.decimals$}", self.mean),
            None => format!("{:.decimals$}", self.mean),
        }
    }
}

/// Student's t for 95 %, two sides, by degrees of freedom: exact to three decimals up to 10, to two beyond.
fn student(freedom: usize) -> f64 {
    const T: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    // Cornish and Fisher's expansion about the normal quantile.
    let (z, v) = (1.959_964_f64, freedom as f64);
    let series =
        z + (z.powi(3) + z) / (4.0 * v) + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * v * v);
    T.get(freedom - 1).copied().unwrap_or(series)
}

#[cfg(test)]
mod tests {
    use crate::eval::rows::spread::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, t) in [(1, 12.706), (4, 2.776), (11, 2.201), (20, 2.086), (60, 2.000), (1000, 1.962)] {
            assert!((student(freedom) - t).abs() < 0.005, "{freedom}: {}", student(freedom));
        }
    }

    #[test]
    fn one_value_has_no_interval() {
        assert_eq!(Spread::of(&[3.0]), Spread { n: 1, mean: 3.0, half: None });
        let two = Spread::of(&[1.0, 3.0]);
        assert_eq!((two.mean, two.half), (2.0, Some(12.706)));
        assert_eq!((two.show(1), two.text()), ("2.0 ± 12.7".to_owned(), "2.000 ± 12.706".to_owned()));
    }
}
