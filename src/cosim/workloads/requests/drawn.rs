//! Traces that are drawn from a seed, with the shape of public ones: lengths alone, no text.

use super::request::{Prefix, Request};
use crate::cosim::hash::mix;
use std::f64::consts::TAU;

/// Kinds of drawn traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawn {
    /// Conversations: prompts log-normal with a median of 1000 tokens, 500 of them a system prompt that all share; outputs
    /// log-normal with a median of 200; both together at most 8192. 20 come a second.
    Chat,
    /// Long documents: prompts of 2000 to 32 000 tokens, evenly over their logarithm, and outputs as above; both together
    /// at most 32 768. Two come a second.
    Long,
}

/// Tokens of the system prompt of conversations.
const SYSTEM: u32 = 500;
/// Standard deviations of the logarithms of prompts and outputs.
const SPREAD: [f64; 2] = [0.8, 0.7];

/// Numbers of a seed.
struct Random(u64);

impl Random {
    /// A number above 0 and at most 1.
    fn unit(&mut self) -> f64 {
        self.0 = mix(self.0);
        ((self.0 >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// A log-normal number with this median.
    fn log_normal(&mut self, median: f64, spread: f64) -> f64 {
        let normal = (-2.0 * self.unit().ln()).sqrt() * (TAU * self.unit()).cos();
        median * (spread * normal).exp()
    }
}

impl Drawn {
    /// Its name, which is that of its file in `examples/`.
    pub fn name(self) -> &'static str {
        match self {
            Drawn::Chat => "chat",
            Drawn::Long => "long",
        }
    }

    /// So many requests of a seed.
    pub fn requests(self, seed: u64, count: usize) -> Vec<Request> {
        let mut random = Random(mix(seed));
        let (rate, most) = match self {
            Drawn::Chat => (20.0, 8192),
            Drawn::Long => (2.0, 32_768),
        };
        let mut arrival = 0.0;
        let mut request = || {
            arrival -= random.unit().ln() / rate;
            let output = random.log_normal(200.0, SPREAD[1]).clamp(1.0, 2000.0) as u32;
            let (prompt, least) = match self {
                Drawn::Chat => (random.log_normal(1000.0, SPREAD[0]), SYSTEM + 1),
                Drawn::Long => (2000.0 * 16f64.powf(random.unit()), 1),
            };
            Request {
                // Milliseconds: a file is read by people too.
                arrival: (arrival * 1e3).round() / 1e3,
                prompt: (prompt as u32).clamp(least, most - output),
                output,
                prefix: (self == Drawn::Chat).then(|| Prefix { name: "system".to_owned(), tokens: SYSTEM }),
            }
        };
        (0..count).map(|_| request()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::request::read;
    use super::*;

    fn median(values: impl Iterator<Item = u32>) -> u32 {
        let mut all: Vec<u32> = values.collect();
        all.sort_unstable();
        all[all.len() / 2]
    }

    #[test]
    fn lengths_have_the_medians_and_limits_that_are_said() {
        let chat = Drawn::Chat.requests(7, 4000);
        assert!((950..1050).contains(&median(chat.iter().map(|one| one.prompt))));
        assert!((190..210).contains(&median(chat.iter().map(|one| one.output))));
        assert!(chat.iter().all(|one| one.prompt > SYSTEM && one.prompt + one.output <= 8192));
        assert!((190.0..210.0).contains(&chat.last().unwrap().arrival), "{:?}", chat.last());
        let long = Drawn::Long.requests(7, 4000);
        assert!(long
            .iter()
            .all(|one| (2000..=32_000).contains(&one.prompt) && one.prompt + one.output <= 32_768));
        assert!((7500..8500).contains(&median(long.iter().map(|one| one.prompt))));
    }

    #[test]
    fn the_files_of_the_repository_are_those_of_seed_1() {
        for (drawn, count) in [(Drawn::Chat, 256), (Drawn::Long, 64)] {
            let path = format!("examples/{}.jsonl", drawn.name());
            let lines = |requests: &[Request]| {
                requests.iter().map(|one| serde_json::to_string(one).unwrap() + "\n").collect::<String>()
            };
            let wanted = lines(&drawn.requests(1, count));
            if std::env::var_os("MESHKV_BLESS").is_some() {
                std::fs::write(&path, &wanted).unwrap();
            }
            assert_eq!(std::fs::read_to_string(&path).unwrap(), wanted, "{path}");
            assert_eq!(read(&wanted).unwrap(), drawn.requests(1, count));
        }
    }
}
