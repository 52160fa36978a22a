//! Arguments of `meshkv run --steps`, and the design and schedule that follow from them.

use crate::cosim::workloads::steps::{Schedule, StepsError};
use crate::design::Design;
use anyhow::Context;

// No doc comment: it would become that of the subcommand.
#[allow(missing_docs)]
#[derive(Debug, Clone, clap::Args)]
pub struct GrowArgs {
    /// Decode so many steps, one after the other on one simulation: in each, every stream of the batch appends a new token
    /// and attends with it. --lengths are the tokens that are in the caches before; 0 is an empty one. Each step must be
    /// bit-exact, and in the end external memory must be what a host would have written. With --trace: so many steps at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 16), conflicts_with_all = ["tensors", "batch", "query", "partials", "output"], help_heading = "Steps")]
    pub(in crate::cli::simulate::run) steps: Option<u32>,
    /// First step of each stream, from 0 on [default: 0 each]
    #[arg(long, value_name = "STEP,...", value_delimiter = ',', help_heading = "Steps")]
    pub(in crate::cli::simulate::run) begin: Vec<u32>,
    /// Step before which each stream leaves the batch [default: N each]
    #[arg(long, value_name = "STEP,...", value_delimiter = ',', help_heading = "Steps")]
    pub(in crate::cli::simulate::run) end: Vec<u32>,
    /// Tokens that all streams have in common, counted in each of --lengths: whole segments of them are stored once
    #[arg(
        long,
        value_name = "TOKENS",
        default_value_t = 0,
        conflicts_with = "tensors",
        help_heading = "Workload"
    )]
    pub(in crate::cli::simulate::run) prefix: u32,
}

impl GrowArgs {
    /// The schedule of streams with these prompts.
    pub(in crate::cli::simulate::run) fn schedule(&self, lengths: &[u32]) -> Result<Schedule, StepsError> {
        Schedule::new(lengths, self.prefix, self.steps.unwrap_or(1), &self.begin, &self.end)
    }

    /// The options of the command that repeats a run.
    pub(in crate::cli::simulate::run) fn words(&self) -> String {
        let list = |name: &str, list: &[u32]| match list.is_empty() {
            true => String::new(),
            false => format!(" --{name} {}", list.iter().map(u32::to_string).collect::<Vec<_>>().join(",")),
        };
        format!(
            " --steps {}{}{}{}",
            self.steps.unwrap_or(1),
            list("begin", &self.begin),
            list("end", &self.end),
            self.prefix_words()
        )
    }

    /// The option of the common prefix.
    pub(in crate::cli::simulate::run) fn prefix_words(&self) -> String {
        if self.prefix > 0 {
            format!(" --prefix {}", self.prefix)
        } else {
            String::new()
        }
    }
}

/// The design with a cache that can be appended to, and room for all streams and tokens; and what had to be changed for
/// it.
///
/// # Errors
/// If the changed configuration is illegal.
pub(in crate::cli::simulate::run) fn fitted(
    design: &Design,
    schedule: &Schedule,
) -> anyhow::Result<(Design, Vec<String>)> {
    let mut config = design.configuration().clone();
    let streams = schedule.lengths.len() as u32;
    let longest = (0..streams).map(|stream| schedule.grown(stream)).max().unwrap_or(0);
    let mut changed = Vec::new();
    if !config.kv.append {
        config.kv.append = true;
        changed.push("kv.append = true".to_owned());
    }
    for (key, value, least) in [
        ("model.max_streams", &mut config.model.max_streams, streams),
        ("model.max_tokens", &mut config.model.max_tokens, longest),
    ] {
        if *value < least {
            *value = least;
            changed.push(format!("{key} = {least}"));
        }
    }
    let fitted = Design::from_config(&design.name, &config);
    let fitted = fitted.with_context(|| format!("{} does not fit --lengths and --steps", design.name))?;
    Ok((fitted, changed))
}
