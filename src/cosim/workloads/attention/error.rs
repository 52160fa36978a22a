//! Reasons why a run of attention has no result, or cannot begin: tensors and streams that do not fit a design.

use crate::config::{KvFormat, KvScales};
use crate::cosim::dut::DutError;
use crate::cosim::workloads::decode::WorkloadError;
use crate::design::Design;
use crate::model::datapath::tensors::Tensors;
use crate::model::datapath::HeadScales;

/// Reason why a run gave no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AttentionError {
    /// The fabric stopped.
    #[error(transparent)]
    Dut(#[from] DutError),
    /// Nothing moved for too long.
    #[error(
        "nothing has moved for {cycles} cycles at cycle {at}: {missing} of {heads} outputs have not come{which}"
    )]
    Stuck {
        /// Cycles without an output, a read or a flit of PART.
        cycles: u64,
        /// Cycle.
        at: u64,
        /// Outputs still missing.
        missing: usize,
        /// All outputs.
        heads: usize,
        /// What is awaited first, as words.
        which: String,
    },
    /// All outputs came, and new tokens are not written.
    #[error("nothing has moved for {cycles} cycles at cycle {at}: {waiting}")]
    Unwritten {
        /// Cycles without movement.
        cycles: u64,
        /// Cycle.
        at: u64,
        /// What is not written.
        waiting: String,
    },
    /// It moves, and does not end.
    #[error("the run has not ended by cycle {at}, its bound: {moving}\n  help: this is a livelock, or a bound that does not know this workload")]
    Endless {
        /// Cycle of the bound.
        at: u64,
        /// The bound, what still moves, and what is awaited.
        moving: String,
    },
    /// The caller gave up waiting.
    #[error("the run was stopped")]
    Stopped,
}

/// Reason why a job is impossible.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum JobError {
    /// Tensors of another shape than the configuration's.
    #[error("the tensors have {what} = {tensors}, the configuration {configured}\n  help: --fit takes it from the tensors, or set {key} = {tensors}")]
    Shape {
        /// Name of the value.
        what: &'static str,
        /// The tensors' value.
        tensors: usize,
        /// The configuration's.
        configured: u32,
        /// Its key.
        key: &'static str,
    },
    /// Keys and values in another format than the configuration's.
    #[error("the tensors have keys and values in {}, and kv.format is \"{}\"\n  help: --fit takes it from the tensors, or set kv.format = \"{}\"", tensors.name(), configured.name(), tensors.name())]
    Format {
        /// The tensors' format.
        tensors: KvFormat,
        /// The configuration's.
        configured: KvFormat,
    },
    /// Factors of keys and values that the design cannot apply.
    #[error("KV head {kv_head} has keys times {k} and values times {v}, and a design applies factors that are positive and not too large, if kv.scales is not \"none\"\n  help: set kv.scales = \"head\", or divide the numbers themselves by powers of two")]
    Scale {
        /// KV head.
        kv_head: u32,
        /// Factor of its keys.
        k: f32,
        /// Factor of its values.
        v: f32,
    },
    /// Tokens have scales, and the design keeps none.
    #[error("the tensors have scales of tokens, and kv.scales is \"{}\"\n  help: set kv.scales = \"token\"", configured.name())]
    TokenScales {
        /// What the configuration keeps.
        configured: KvScales,
    },
    /// More positions than there are queries.
    #[error("query {last} was asked for, and the tensors have queries 0 to {most}\n  help: choose --query and --batch inside that")]
    Position {
        /// The last query needed.
        last: usize,
        /// The last query in the tensors.
        most: usize,
    },
    /// More streams of different lengths than the design can hold.
    #[error("--lengths has {streams} streams, and must have 1 to {most}\n  help: model.max_streams of the configuration is the largest batch")]
    Streams {
        /// The streams.
        streams: usize,
        /// The most that the design can hold.
        most: u32,
    },
    /// A stream of a length that the design cannot hold.
    #[error("stream {stream} of --lengths has {tokens} tokens, and must have 1 to {most}\n  help: model.max_tokens of the configuration is the longest; leave a stream without tokens out")]
    Length {
        /// The stream.
        stream: usize,
        /// Its tokens.
        tokens: u32,
        /// The most that the design can hold.
        most: u32,
    },
    /// Streams of more tokens than there are.
    #[error("the streams of --lengths have {asked} tokens together, and the tensors have {there}\n  help: each stream takes the next tokens of the tensors; give shorter ones, or fewer")]
    Tokens {
        /// Tokens of all streams.
        asked: u64,
        /// Tokens of the tensors.
        there: usize,
    },
    /// A prefix that ends within a segment.
    #[error("the common prefix has {prefix} tokens, and streams share whole segments of {tokens}\n  help: give --prefix {}, and count the rest in --lengths as a copy of each stream", prefix / tokens * tokens)]
    Shared {
        /// The prefix.
        prefix: u32,
        /// Tokens of a segment.
        tokens: u32,
    },
    /// A prefix that is all of a stream.
    #[error("stream {stream} of --lengths has {tokens} tokens, and shares a prefix of {prefix}\n  help: --lengths counts the prefix too; give at least one token more")]
    Shorter {
        /// The stream.
        stream: usize,
        /// Its tokens.
        tokens: u32,
        /// The prefix.
        prefix: u32,
    },
    /// A prefix of streams whose windows begin at different tokens.
    #[error("streams share a prefix of {prefix} tokens, and model.sliding_window is {window}: each stream leaves it at another token\n  help: leave --prefix out, or model.sliding_window")]
    Window {
        /// The prefix.
        prefix: u32,
        /// The window.
        window: u32,
    },
    /// The layer has sinks, and the tensors have none.
    #[error("the layer has attention sinks, and the tensors have none\n  help: add layers.L.sinks, a logit a query head, or choose a --layer without sinks")]
    NoSinks,
    /// The tensors have sinks, and the layer has none.
    #[error("the tensors have attention sinks, and the layer has none\n  help: set sinks = true for its group of model.groups, or choose another --layer")]
    Sinks,
    /// A workload that the design cannot hold.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}

/// Checks streams of different lengths, with a common prefix, before there are tensors for them.
///
/// # Errors
/// If the design cannot hold so many, or one has too many tokens or none; if the prefix is not of whole segments, leaves a
/// stream no token of its own, or meets a sliding window.
pub fn lengths_fit(design: &Design, (lengths, prefix): (&[u32], u32)) -> Result<(), JobError> {
    let (streams, most) = (lengths.len(), design.model.max_streams);
    if !(1..=most as usize).contains(&streams) {
        return Err(JobError::Streams { streams, most });
    }
    let most = design.model.max_tokens;
    if let Some((stream, &tokens)) = lengths.iter().enumerate().find(|(_, n)| !(1..=most).contains(*n)) {
        return Err(JobError::Length { stream, tokens, most });
    }
    if prefix == 0 {
        return Ok(());
    }
    if let Some(window) = design.model.sliding_window {
        return Err(JobError::Window { prefix, window });
    }
    let tokens = design.placement.segment_tokens;
    if !prefix.is_multiple_of(tokens) {
        return Err(JobError::Shared { prefix, tokens });
    }
    if let Some((stream, &tokens)) = lengths.iter().enumerate().find(|(_, tokens)| **tokens <= prefix) {
        return Err(JobError::Shorter { stream, tokens, prefix });
    }
    Ok(())
}

/// Heads have sinks if the layer has some.
fn sinks_fit(design: &Design, tensors: &Tensors) -> Result<(), JobError> {
    match (design.model.sinks, tensors.sink(0)) {
        (true, None) if !tensors.is_blank() => Err(JobError::NoSinks),
        (false, Some(_)) => Err(JobError::Sinks),
        _ => Ok(()),
    }
}

/// The tensors have the shape of the design and queries for all streams.
pub(super) fn fitting(
    design: &Design,
    tensors: &Tensors,
    (position, streams): (usize, u32),
) -> Result<(), JobError> {
    let (model, key_of_head) = (&design.model, design.key_of_head_dim(tensors.model_dim as u32));
    for (what, of_tensors, configured, key) in [
        ("query heads", tensors.heads, model.heads, "model.heads"),
        ("KV heads", tensors.kv_heads, model.kv_heads, "model.kv_heads"),
        ("elements of a head", tensors.model_dim, model.head_dim, key_of_head),
        ("elements of a row", tensors.head_dim, design.pe.head_dim, "pe.head_dim"),
    ] {
        if of_tensors != configured as usize {
            return Err(JobError::Shape { what, tensors: of_tensors, configured, key });
        }
    }
    sinks_fit(design, tensors)?;
    if tensors.format != design.pe.format {
        return Err(JobError::Format { tensors: tensors.format, configured: design.pe.format });
    }
    if tensors.token_scales(0).is_some() && !design.pe.has_token_scales() {
        return Err(JobError::TokenScales { configured: design.pe.scales });
    }
    for head in (0..model.heads).step_by(model.group_heads() as usize) {
        let [k, v] = tensors.scales(head as usize);
        if HeadScales::of(design, (k, v)).is_none() {
            return Err(JobError::Scale { kv_head: head / model.group_heads(), k, v });
        }
    }
    if position + streams as usize > tensors.positions {
        return Err(JobError::Position {
            last: position + streams as usize - 1,
            most: tensors.positions - 1,
        });
    }
    Ok(())
}
