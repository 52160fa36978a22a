//! Arguments of `meshkv run --trace`, and the requests that follow from them.

use crate::cosim::workloads::requests::{read, Drawn, Request, Rules};
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};

/// Requests of a drawn trace, unless others are asked for.
const DRAWN: usize = 64;

/// Where the requests come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Trace {
    /// A file.
    File(PathBuf),
    /// Drawn from the seed.
    Drawn(Drawn),
}

// No doc comment: it would become that of the subcommand.
#[allow(missing_docs)]
#[derive(Debug, Clone, clap::Args)]
pub struct TraceArgs {
    /// Decode the requests of a trace step by step with continuous batching over the pages of the cache: a file in JSON
    /// Lines, or `chat` or `long`, which are drawn from --seed. Prompts are in the cache when a request joins the batch;
    /// the time of a step is that of attention in all layers
    #[arg(long, value_name = "FILE|chat|long", value_parser = parsed, value_hint = clap::ValueHint::FilePath, conflicts_with_all = ["tensors", "lengths", "batch", "query", "layer", "window", "sm_scale", "partials", "output", "save_tensors", "vectors", "prefix", "begin", "end", "tokens", "fit", "wave", "upset"], help_heading = "Steps")]
    pub(in crate::cli::simulate::run) trace: Option<Trace>,
    /// Requests of the trace: the first of a file [default: all], or those that are drawn [default: 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 20), requires = "trace", help_heading = "Steps")]
    requests: Option<u32>,
    /// Simulate every K-th step; the others take as long a byte of KV as the last one that was simulated
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), requires = "trace", help_heading = "Steps")]
    pub(in crate::cli::simulate::run) every: u32,
}

fn parsed(text: &str) -> Result<Trace, std::convert::Infallible> {
    let known = [Drawn::Chat, Drawn::Long].into_iter().find(|drawn| drawn.name() == text);
    Ok(known.map_or_else(|| Trace::File(text.into()), Trace::Drawn))
}

impl TraceArgs {
    /// The file of the trace, if it has one.
    pub(in crate::cli::simulate::run) fn file(&self) -> Option<&Path> {
        match &self.trace {
            Some(Trace::File(path)) => Some(path),
            _ => None,
        }
    }

    /// The requests, all of which fit.
    ///
    /// # Errors
    /// If the file cannot be read, is no trace, or has a request that never fits.
    pub(super) fn read(&self, trace: &Trace, seed: u64, rules: &Rules) -> anyhow::Result<Vec<Request>> {
        let count = self.requests.map(|count| count as usize);
        let (requests, whence) = match trace {
            Trace::Drawn(drawn) => (drawn.requests(seed, count.unwrap_or(DRAWN)), drawn.name().to_owned()),
            Trace::File(path) => {
                let whence = path.display().to_string();
                let text = fs::read_to_string(path).with_context(|| whence.clone())?;
                let mut requests = read(&text).with_context(|| whence.clone())?;
                requests.truncate(count.unwrap_or(requests.len()));
                (requests, whence)
            }
        };
        let refused = (1..).zip(&requests).find_map(|(number, one)| Some((number, rules.refuses(one)?)));
        if let Some((number, fault)) = refused {
            let number: usize = number;
            anyhow::bail!(
                "request {number} of {whence} never fits: its {fault}, or give the request fewer tokens"
            );
        }
        Ok(requests)
    }

    /// The options of the command that repeats a run.
    pub(super) fn words(&self, trace: &Trace) -> String {
        let name = match trace {
            Trace::File(path) => path.display().to_string(),
            Trace::Drawn(drawn) => drawn.name().to_owned(),
        };
        let requests = self.requests.map_or(String::new(), |count| format!(" --requests {count}"));
        format!(" --trace {name}{requests} --every {}", self.every)
    }
}
