//! Lengths of the streams of a batch: one for all, a list, or drawn from a distribution.

use crate::cosim::traffic::draw::unit;
use crate::cosim::workloads::decode::batch::workload_error::WorkloadError;
use rand_pcg::rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use std::fmt;
use std::str::FromStr;

/// Tokens of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamLength {
    /// In its cache.
    pub tokens: u32,
    /// Of these, those that it has in common with other streams, from the first on.
    pub prefix: u32,
}

/// Rule of the lengths of a batch.
#[derive(Debug, Clone, PartialEq)]
pub enum Lengths {
    /// One a stream.
    List(Vec<u32>),
    /// Each between two bounds with equal probability.
    Uniform(f64, f64),
    /// About a mean with a standard deviation.
    Normal(f64, f64),
    /// Whose logarithm is normal: a median, and the standard deviation of the logarithm.
    LogNormal(f64, f64),
}

/// The forms that a rule may have.
const FORMS: &str = "write a list such as 512,2048,4096, or uniform:LEAST:MOST, normal:MEAN:DEVIATION or \
                     log-normal:MEDIAN:SIGMA";

impl FromStr for Lengths {
    type Err = String;

    fn from_str(text: &str) -> Result<Lengths, String> {
        let wrong = || format!("{text:?} is no rule of lengths; {FORMS}");
        let Some((kind, rest)) = text.split_once(':') else {
            let all: Option<Vec<u32>> = text.split(',').map(|word| word.trim().parse().ok()).collect();
            return all.map(Lengths::List).ok_or_else(wrong);
        };
        let (a, b) = rest.split_once(':').ok_or_else(wrong)?;
        let number = |word: &str| word.trim().parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0);
        let (a, b) = number(a).zip(number(b)).ok_or_else(wrong)?;
        match kind.trim() {
            "uniform" if a <= b => Ok(Lengths::Uniform(a, b)),
            "normal" => Ok(Lengths::Normal(a, b)),
            "log-normal" if a > 0.0 => Ok(Lengths::LogNormal(a, b)),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lengths::List(all) => f.write_str(&all.iter().map(u32::to_string).collect::<Vec<_>>().join(",")),
            Lengths::Uniform(least, most) => write!(f, "uniform:{least}:{most}"),
            Lengths::Normal(mean, deviation) => write!(f, "normal:{mean}:{deviation}"),
            Lengths::LogNormal(median, sigma) => write!(f, "log-normal:{median}:{sigma}"),
        }
    }
}

impl Lengths {
    /// Streams that the rule itself counts.
    pub fn streams(&self) -> Option<u32> {
        match self {
            Lengths::List(all) => Some(all.len() as u32),
            _ => None,
        }
    }

    /// The lengths of so many streams, from `least` to `most`. A seed always gives the same.
    fn draw(&self, batch: u32, (least, most): (u32, u32), seed: u64) -> Vec<u32> {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        // Box and Muller: a number is at least half of the least step, so that its logarithm is finite.
        let mut normal = || {
            let (radius, turn) = (unit(&mut rng).max(f64::EPSILON), unit(&mut rng));
            (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
        };
        match self {
            Lengths::List(all) => all.clone(),
            Lengths::Normal(mean, deviation) => {
                (0..batch).map(|_| rounded(mean + deviation * normal(), least, most)).collect()
            }
            Lengths::LogNormal(median, sigma) => {
                (0..batch).map(|_| rounded(median * (sigma * normal()).exp(), least, most)).collect()
            }
            Lengths::Uniform(a, b) => {
                (0..batch).map(|_| rounded(a + (b - a) * unit(&mut rng), least, most)).collect()
            }
        }
    }
}

fn rounded(tokens: f64, least: u32, most: u32) -> u32 {
    tokens.round().clamp(f64::from(least), f64::from(most)) as u32
}

/// Streams of a batch: as many as were asked for, else those of a list, else one.
pub fn batch_of(batch: Option<u32>, rules: [Option<&Lengths>; 2]) -> u32 {
    batch.or_else(|| rules.into_iter().flatten().find_map(Lengths::streams)).unwrap_or(1)
}

/// Seed of prefixes, besides that of tokens.
const OF_PREFIXES: u64 = 0x7072_6566;

/// The streams of a batch whose tokens and prefixes follow rules; without a rule each has those of `alike`. Streams with longer
/// prefixes come first, since their common segments are those of stream 0.
///
/// # Errors
/// When a list has another number of streams than the batch.
pub fn stream_lengths(
    (tokens, prefix): (Option<&Lengths>, Option<&Lengths>),
    alike: StreamLength,
    (batch, most): (u32, u32),
    seed: u64,
) -> Result<Vec<StreamLength>, WorkloadError> {
    let of = |rule: Option<&Lengths>, value: u32, least: u32, seed: u64| match rule {
        None => Ok(vec![value; batch as usize]),
        Some(rule) => match rule.streams().filter(|listed| *listed != batch) {
            Some(listed) => Err(WorkloadError::Listed { listed, batch }),
            None => Ok(rule.draw(batch, (least, most), seed)),
        },
    };
    let tokens = of(tokens, alike.tokens, 1, seed)?;
    let drawn = prefix.is_some_and(|rule| rule.streams().is_none());
    let prefixes = of(prefix, alike.prefix, 0, seed ^ OF_PREFIXES)?;
    let stream = |(tokens, prefix): (u32, u32)| StreamLength {
        tokens,
        // A prefix that is drawn leaves the stream a token of its own; one that is asked for is taken or refused.
        prefix: if drawn { prefix.min(tokens - 1) } else { prefix },
    };
    let mut all: Vec<StreamLength> = tokens.into_iter().zip(prefixes).map(stream).collect();
    all.sort_by_key(|stream| std::cmp::Reverse(stream.prefix));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use crate::cosim::workloads::decode::batch::lengths::*;

    const ALIKE: StreamLength = StreamLength { tokens: 100, prefix: 0 };

    fn drawn(tokens: &str, prefix: &str, batch: u32, seed: u64) -> Vec<(u32, u32)> {
        let [tokens, prefix] = [tokens, prefix].map(|rule| rule.parse::<Lengths>().ok());
        let all = stream_lengths((tokens.as_ref(), prefix.as_ref()), ALIKE, (batch, 4096), seed).unwrap();
        all.into_iter().map(|stream| (stream.tokens, stream.prefix)).collect()
    }

    #[test]
    fn a_list_is_taken_as_it_is_and_longer_prefixes_come_first() {
        assert_eq!(drawn("5, 6,7", "", 3, 1), [(5, 0), (6, 0), (7, 0)]);
        assert_eq!(drawn("50,60,70", "8,0,16", 3, 1), [(70, 16), (50, 8), (60, 0)]);
    }

    #[test]
    fn a_distribution_has_its_mean_and_a_seed_its_lengths() {
        for (rule, mean) in
            [("uniform:1000:3000", 2000.0), ("normal:2000:300", 2000.0), ("log-normal:1000:0.3", 1046.0)]
        {
            let all = drawn(rule, "", 2000, 7);
            let found = all.iter().map(|(tokens, _)| f64::from(*tokens)).sum::<f64>() / 2000.0;
            assert!((found / mean - 1.0).abs() < 0.03, "{rule}: {found}");
            assert_eq!(all, drawn(rule, "", 2000, 7));
            assert_ne!(all, drawn(rule, "", 2000, 8));
        }
        assert!(drawn("normal:4000:2000", "", 500, 1).iter().all(|(tokens, _)| (1..=4096).contains(tokens)));
        assert!(drawn("uniform:1:9", "uniform:0:9", 500, 1).iter().all(|(tokens, prefix)| prefix < tokens));
    }

    #[test]
    fn what_is_no_rule_is_refused_with_the_forms() {
        for text in ["", "a", "1,,2", "uniform:5", "uniform:9:5", "gauss:1:2", "log-normal:0:1", "normal:x:1"]
        {
            let said = text.parse::<Lengths>().unwrap_err();
            assert!(said.contains("uniform:LEAST:MOST"), "{said}");
        }
        let rule: Lengths = "1,2".parse().unwrap();
        let said = stream_lengths((Some(&rule), None), ALIKE, (3, 9), 1).unwrap_err().to_string();
        assert!(said.contains("list 2 streams") && said.contains("batch is 3"), "{said}");
    }
}
