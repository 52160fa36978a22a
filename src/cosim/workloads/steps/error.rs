//! Reasons why steps are impossible. Nothing has been written when one is given.

/// Reason why a schedule, or a step of it, is impossible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StepsError {
    /// The cache cannot be written.
    #[error("kv.append is false: this fabric has no way of new tokens into the cache, and every step appends some\n  help: set kv.append = true, or add --fit, which builds this run with it")]
    ReadOnly,
    /// No streams, or more than the design can hold.
    #[error("--lengths has {streams} streams, and must have 1 to {most}\n  help: model.max_streams of the configuration is the largest batch; --fit takes it from --lengths")]
    Streams {
        /// The streams.
        streams: usize,
        /// The most that the design can hold.
        most: u32,
    },
    /// A list with another number of streams.
    #[error("{option} has {given} numbers, and --lengths has {streams} streams\n  help: give one number for each stream")]
    Numbers {
        /// The option.
        option: &'static str,
        /// Its numbers.
        given: usize,
        /// The streams.
        streams: usize,
    },
    /// A stream that begins or ends outside the steps, or ends before it begins.
    #[error("stream {stream} begins with step {begin} and is gone from step {end} on, of {steps} steps from 0 on\n  help: --begin is 0 to {}, --end is above it and at most {steps}", steps - 1)]
    Span {
        /// The stream.
        stream: usize,
        /// Its first step.
        begin: u32,
        /// The step before which it leaves.
        end: u32,
        /// All steps.
        steps: u32,
    },
    /// A step without a stream.
    #[error("no stream is in the batch of step {step}\n  help: let one begin by then or end later, or give fewer --steps")]
    Idle {
        /// The step.
        step: u32,
    },
    /// A prompt that the design cannot hold.
    #[error("stream {stream} of --lengths has {tokens} tokens, and can have at most {most}\n  help: model.max_tokens of the configuration is the longest; --fit takes it from --lengths and --steps")]
    Prompt {
        /// The stream.
        stream: u32,
        /// Its tokens.
        tokens: u32,
        /// The most that the design can hold.
        most: u32,
    },
    /// A stream whose cache would overflow.
    #[error("the cache of stream {stream} is full in step {step}: it has {most} tokens, which is model.max_tokens; nothing is written\n  help: give fewer --steps, end the stream with --end {step} at most, or add --fit")]
    Full {
        /// The stream.
        stream: u32,
        /// The step.
        step: u32,
        /// Tokens of a cache at most.
        most: u32,
    },
    /// A stream that is not there.
    #[error("stream {stream} is not one of the {streams} streams")]
    Unknown {
        /// The stream.
        stream: u32,
        /// The streams.
        streams: u32,
    },
    /// A stream more than once in a batch.
    #[error("stream {stream} is twice in the batch of step {step}; nothing is written\n  help: a step brings one token of a stream; the second belongs to the next step")]
    Twice {
        /// The stream.
        stream: u32,
        /// The step.
        step: u32,
    },
    /// A prefix longer than a stream.
    #[error("stream {stream} has {tokens} tokens, and shares a prefix of {prefix}\n  help: --lengths counts the prefix too; give at least as many")]
    Shorter {
        /// The stream.
        stream: u32,
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
}
