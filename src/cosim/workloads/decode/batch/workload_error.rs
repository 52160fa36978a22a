//! Reasons why a workload is impossible.

/// Reason why a workload is impossible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkloadError {
    /// A new token, and a cache that cannot be written.
    #[error("a new token is to be appended, and the cache of this configuration is read only\n  help: set kv.append = true")]
    ReadOnly,
    /// New tokens without a segment of their own.
    #[error("a new token is to be appended to the common prefix\n  help: a token belongs to one stream: give more --tokens than --prefix")]
    Shared,
    /// A list of another number of streams.
    #[error("the lengths list {listed} streams, and the batch is {batch}\n  help: list a number for each stream, or leave the batch to the list")]
    Listed {
        /// Streams of the list.
        listed: u32,
        /// Streams of the batch.
        batch: u32,
    },
    /// A text that is no rule of lengths.
    #[error("{0}")]
    Lengths(String),
    /// Streams of different lengths, and something that needs one length.
    #[error("streams have different {what}, and {other}\n  help: {help}")]
    Different {
        /// Property in which the streams differ.
        what: &'static str,
        /// Option or part that needs this property to be equal.
        other: &'static str,
        /// Suggestion.
        help: &'static str,
    },
    /// A number outside its range.
    #[error("{what} is {value}, and must be {least} to {most}\n  help: {help}")]
    Range {
        /// Name of the number.
        what: &'static str,
        /// Its value.
        value: u32,
        /// Its least legal value.
        least: u32,
        /// Its largest legal value.
        most: u32,
        /// Suggestion.
        help: &'static str,
    },
}
