//! Runs of drawn lengths, to set their time beside that of their bytes: lengths and batches that nobody chose.

use super::Draw;
use crate::config::Config;
use crate::cosim::workloads::decode::{step_of, StreamLength, Workload, WorkloadError};
use crate::design::{least_cycles, Descriptor, Design, Mapping, Sharing};

/// Tokens of a stream, or of its tail behind a common prefix.
const TOKENS: (u32, u32) = (64, 32_768);

/// Streams of a batch at most.
const STREAMS: u32 = 8;

/// Query heads of a KV head: MHA, and GQA.
const GROUPS: [u32; 3] = [1, 4, 8];

/// Longest common prefix: half of the longest context.
const PREFIX: u32 = TOKENS.1 / 2;

/// A run of one layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnRun {
    /// Query heads of a KV head.
    pub group: u32,
    /// Tokens of each stream, the common prefix included.
    pub lengths: Vec<u32>,
    /// Tokens of the common prefix, in whole segments; 0 for none.
    pub prefix: u32,
}

impl DrawnRun {
    /// The first `count` runs of a seed, on segments of so many tokens. More of them begin with the same.
    pub fn of(seed: u64, count: usize, segment_tokens: u32) -> Vec<DrawnRun> {
        let mut draw = Draw::new(seed);
        (0..count).map(|_| one(&mut draw, segment_tokens)).collect()
    }

    /// Drawn lengths of one stream, from so many tokens on.
    pub fn alone(seed: u64, count: usize, least: u32) -> Vec<u32> {
        let mut draw = Draw::new(seed);
        (0..count).map(|_| log_uniform(&mut draw, least, TOKENS.1)).collect()
    }

    /// The configuration that holds every drawn run of this group: one layer, the longest batch.
    #[must_use]
    pub fn config(&self, config: &Config) -> Config {
        let mut config = config.clone();
        config.model.kv_heads = config.model.heads / self.group;
        (config.model.layers, config.model.max_tokens, config.model.max_streams) = (1, TOKENS.1, STREAMS);
        config
    }

    /// The keys that it changes, in words.
    pub fn keys(&self, config: &Config) -> String {
        let model = self.config(config).model;
        format!(
            "model.kv_heads = {}, model.layers = {}, model.max_tokens = {}, model.max_streams = {}",
            model.kv_heads, model.layers, model.max_tokens, model.max_streams
        )
    }

    /// The options of `meshkv run` for it.
    pub fn options(&self) -> String {
        let lengths: Vec<_> = self.lengths.iter().map(u32::to_string).collect();
        let prefix = if self.prefix > 0 { format!(" --prefix {}", self.prefix) } else { String::new() };
        format!("--lengths {}{prefix}", lengths.join(","))
    }

    /// Bytes of K and V that it reads, those of the common prefix once.
    pub fn bytes(&self, design: &Design) -> u64 {
        let tails: u64 = self.lengths.iter().map(|tokens| u64::from(tokens - self.prefix)).sum();
        (tails + u64::from(self.prefix)) * design.cached_token_bytes()
    }

    /// Cycles that no placement saves: the larger of bytes and array passes, of the common prefix and of the tails behind
    /// it, summed. All streams pass the arrays for each token of the prefix, so there the passes are often more, and behind
    /// it the bytes.
    ///
    /// # Errors
    /// If the design does not hold the run.
    pub fn least(&self, design: &Design, mapping: Mapping) -> Result<u64, WorkloadError> {
        let load = Workload {
            tokens: 0,
            batch: 0,
            prefix: 0,
            mapping,
            sharing: Sharing::KvHead,
            segments: None,
            layers: 1,
            stride: 1,
            append: false,
        };
        let stream = |&tokens: &u32| StreamLength { tokens, prefix: self.prefix };
        let streams: Vec<_> = self.lengths.iter().map(stream).collect();
        let descriptors = step_of(design, &load, &streams)?.descriptors;
        let (tails, common): (Vec<Descriptor>, Vec<Descriptor>) =
            descriptors.into_iter().partition(|d| d.close);
        let least = |of: &[Descriptor]| if of.is_empty() { 0 } else { least_cycles(design, of).least() };
        Ok(least(&common) + least(&tails))
    }
}

/// A number from `from` to `to`, as likely in each octave.
fn log_uniform(draw: &mut Draw, from: u32, to: u32) -> u32 {
    const STEPS: u32 = 1 << 24;
    let share = f64::from(draw.from(0, STEPS)) / f64::from(STEPS);
    let drawn = f64::from(from) * (f64::from(to) / f64::from(from)).powf(share);
    (drawn.round() as u32).clamp(from, to)
}

fn one(draw: &mut Draw, segment_tokens: u32) -> DrawnRun {
    let group = draw.of(&GROUPS);
    let streams = draw.from(1, STREAMS);
    // A stream by itself has nothing in common with others.
    let shares = draw.one_in(2) && streams > 1;
    let least = TOKENS.0.next_multiple_of(segment_tokens);
    let prefix = if shares { log_uniform(draw, least, PREFIX) / segment_tokens * segment_tokens } else { 0 };
    let tail = |_| log_uniform(draw, TOKENS.0, TOKENS.1 - prefix);
    let lengths = (0..streams).map(tail).map(|tail| prefix + tail).collect();
    DrawnRun { group, lengths, prefix }
}

#[cfg(test)]
mod tests {
    use crate::eval::soak::drawn_run::*;

    fn card(run: &DrawnRun) -> Design {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows, config.takv.column_stride) = (4, 8, 1);
        config.memory.refresh = false;
        (config.pe.array_rows, config.clock.noc_mhz, config.clock.pe_mhz) = (4, 250.0, 300.0);
        Design::from_config("card", &run.config(&config)).unwrap()
    }

    #[test]
    fn runs_follow_from_their_seed_and_reach_all_that_is_promised() {
        let runs = DrawnRun::of(1, 200, 64);
        assert_eq!(runs, DrawnRun::of(1, 200, 64));
        assert_eq!(runs[..5], DrawnRun::of(1, 5, 64));
        assert_ne!(runs, DrawnRun::of(2, 200, 64));
        let share = |of: &dyn Fn(&DrawnRun) -> bool| runs.iter().filter(|run| of(run)).count();
        for group in GROUPS {
            assert!((40..100).contains(&share(&|run| run.group == group)), "{group}");
        }
        for streams in 1..=STREAMS as usize {
            assert!(share(&|run| run.lengths.len() == streams) > 8, "{streams}");
        }
        assert!((60..120).contains(&share(&|run| run.prefix > 0)));
        assert!(runs.iter().all(|run| run.prefix % 64 == 0 && run.lengths.iter().all(|n| *n > run.prefix)));
        let tails: Vec<_> =
            runs.iter().filter(|run| run.prefix == 0).flat_map(|run| run.lengths.clone()).collect();
        assert!(tails.iter().all(|tokens| (64..=32_768).contains(tokens)));
        assert!(DrawnRun::alone(1, 50, 2048).iter().all(|tokens| (2048..=32_768).contains(tokens)));
        // Nine octaves: a third of the lengths lies below 512, a third above 4096.
        let below = |tokens: u32| tails.iter().filter(|n| **n < tokens).count() as f64 / tails.len() as f64;
        assert!((below(512) - 1.0 / 3.0).abs() < 0.08 && (below(4096) - 2.0 / 3.0).abs() < 0.08);
    }

    #[test]
    fn every_run_is_legal_and_takes_its_bytes_at_least() {
        for run in DrawnRun::of(7, 20, 64) {
            let design = card(&run);
            let least = run.least(&design, Mapping::RowAligned).unwrap();
            // 1840 bytes a cycle. Rows of V are whole flits of 32 tokens.
            let bytes = run.bytes(&design) as f64 / 1840.0;
            assert!(least as f64 >= bytes - 1.0, "{run:?}: {least} {bytes}");
        }
    }

    #[test]
    fn a_common_prefix_takes_its_passes_and_the_tails_their_bytes() {
        let run = DrawnRun { group: 1, lengths: vec![2048 + 256; 8], prefix: 2048 };
        let alone = DrawnRun { group: 1, lengths: vec![256; 8], prefix: 0 };
        let design = card(&run);
        let least = |run: &DrawnRun| run.least(&design, Mapping::RowAligned).unwrap() as f64;
        // Eight streams pass an array of four rows twice for each flit of the prefix.
        let of_prefix = least(&run) - least(&alone);
        let bytes = (2048 * design.exchange().token_bytes) as f64 / 1840.0;
        assert!(of_prefix > 1.4 * bytes, "{of_prefix} {bytes}");
        assert_eq!(run.bytes(&design), (2048 + 8 * 256) * design.exchange().token_bytes);
        assert_eq!(run.options(), format!("--lengths {} --prefix 2048", ["2304"; 8].join(",")));
    }
}
