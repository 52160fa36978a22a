//! Errors in a file's tensors.

use super::seems;
use safetensors::{Dtype, SafeTensorError};
use std::fmt;
use thiserror::Error;

/// Names that a message shows, and characters of each.
const SHOWN: usize = 3;
const LONGEST: usize = 60;

/// Error in a file's tensors.
#[derive(Debug, Error)]
pub enum TensorError {
    /// The file cannot be read.
    #[error("cannot read it: {0}")]
    Unreadable(#[from] std::io::Error),
    /// It is truncated, or no safetensors file.
    #[error("no whole safetensors file: {0}; is the download complete?")]
    Damaged(SafeTensorError),
    /// It is a file of another kind.
    #[error("no safetensors file, but {0}")]
    OtherFile(&'static str),
    /// A tensor is missing.
    #[error("{0}")]
    Missing(Missing),
    /// A tensor is of a type that no format of a cache has.
    #[error("{name} is {dtype:?}; meshkv reads F16, BF16, F32, F8_E4M3, F8_E5M2 and I8: convert it, `tensor.half()` in PyTorch")]
    WrongDtype {
        /// Name of the tensor.
        name: String,
        /// Its type.
        dtype: Dtype,
    },
    /// Queries have eight bits.
    #[error("{name} is {dtype:?}; queries are F16, BF16 or F32, whatever the format of the cache")]
    NarrowQueries {
        /// Name of the tensor.
        name: String,
        /// Its type.
        dtype: Dtype,
    },
    /// Values are of another type than keys.
    #[error("{name} is {dtype:?} and the keys are {keys:?}; a cache has one format for both")]
    OtherThanKeys {
        /// Name of the values.
        name: String,
        /// Their type.
        dtype: Dtype,
        /// That of the keys.
        keys: Dtype,
    },
    /// A number is too large for FP16.
    #[error("{name}[{}, {}, {}] is {value}, and FP16 ends at 65504; divide the tensor by a power of two", place[0], place[1], place[2])]
    Beyond {
        /// Name of the tensor.
        name: String,
        /// Head, row, element.
        place: [usize; 3],
        /// The number.
        value: f32,
    },
    /// An integer is -128.
    #[error("{name}[{}, {}, {}] is -128, which marks what is no number; quantise to -127..127, `tensor.clamp_(min=-127)` in PyTorch", place[0], place[1], place[2])]
    NoInteger {
        /// Name of the tensor.
        name: String,
        /// Head, row, element.
        place: [usize; 3],
    },
    /// A factor is zero, negative or not finite.
    #[error("{name}[{index}] is {value}; a factor is a positive normal number")]
    WrongFactor {
        /// Name of the tensor.
        name: String,
        /// KV head.
        index: usize,
        /// The factor.
        value: f32,
    },
    /// A scale of a token is not one of those that a cache keeps.
    #[error("{name}[{}, {}] is {value}; a scale of a token is kept in FP16, and is from 2^-14 up to 2: put a factor into that of its KV head", place[0], place[1])]
    WrongTokenFactor {
        /// Name of the tensor.
        name: String,
        /// KV head, token.
        place: [usize; 2],
        /// The scale.
        value: f32,
    },
    /// A sink is no number within FP16.
    #[error("{name}[{head}] is {value}; a sink is a logit from -65504 to 65504")]
    WrongSink {
        /// Name of the tensor.
        name: String,
        /// Query head.
        head: usize,
        /// The sink.
        value: f32,
    },
    /// A tensor's shape does not fit.
    #[error("{name} has shape {shape:?}; {rule}")]
    WrongShape {
        /// Name of the tensor.
        name: String,
        /// Its shape.
        shape: Vec<usize>,
        /// Required shape.
        rule: String,
    },
    /// A number is infinite or NaN.
    #[error("{name}[{head}, {row}, {element}] is {what}; attention of it has no finite result")]
    NotFinite {
        /// Name of the tensor.
        name: String,
        /// First index.
        head: usize,
        /// Second index.
        row: usize,
        /// Third index.
        element: usize,
        /// NaN or an infinity.
        what: &'static str,
    },
}

/// A missing tensor, and names of present ones: a few, however many the file has.
#[derive(Debug)]
pub struct Missing {
    /// Name of the tensor.
    name: String,
    /// Number of all tensors.
    count: usize,
    /// Layers of which the file has queries: the first and the last.
    layers: Option<(u32, u32)>,
    /// A weight of a model.
    weight: Option<String>,
    /// The most similar names.
    nearest: Vec<String>,
}

impl Missing {
    pub(super) fn new(name: &str, names: &[String]) -> Missing {
        let layers = layers_of(names);
        let mut nearest: Vec<_> = names.iter().map(|one| (distance(name, one), one)).collect();
        let count = SHOWN.min(nearest.len());
        if count > 0 {
            nearest.select_nth_unstable(count - 1);
        }
        nearest.truncate(count);
        nearest.sort_unstable();
        Missing {
            name: name.to_owned(),
            count: names.len(),
            layers: layers.first().copied().zip(layers.last().copied()),
            weight: seems::weights(names).map(shown),
            nearest: nearest.into_iter().map(|(_, name)| shown(name)).collect(),
        }
    }
}

/// Distance of a name to the one that is asked for. Of a longer one its end counts, which says what it is.
fn distance(name: &str, other: &str) -> usize {
    let most = 4 * name.chars().count();
    let skipped = other.chars().count().saturating_sub(most);
    let end = other.char_indices().nth(skipped).map_or("", |(at, _)| &other[at..]);
    skipped + strsim::osa_distance(name, end)
}

/// A name as a message shows it.
fn shown(name: &str) -> String {
    let begin: String = name.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if name.chars().nth(LONGEST).is_some() {
        begin + "..."
    } else {
        begin
    }
}

/// The layers with queries among these names, ascending.
pub(super) fn layers_of(names: &[String]) -> Vec<u32> {
    let layer = |name: &String| name.strip_prefix("layers.")?.strip_suffix(".q")?.parse().ok();
    let mut layers: Vec<u32> = names.iter().filter_map(layer).collect();
    layers.sort_unstable();
    layers
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Missing { name, count, layers, weight, nearest } = self;
        write!(f, "no tensor {name}; ")?;
        match (layers, weight) {
            (Some((first, last)), _) => write!(f, "the file has layers {first} to {last}"),
            (None, Some(weight)) => write!(
                f,
                "the file seems to have the weights of a model ({count} tensors, {weight} for one), and attention takes \
                 the queries, keys and values that a model computes with them: layers.0.q, layers.0.k, layers.0.v"
            ),
            (None, None) if nearest.is_empty() => f.write_str("the file has no tensors"),
            (None, None) => {
                write!(f, "the file has {count} others and none named as layers.0.q; the nearest: {}", nearest.join(", "))
            }
        }
    }
}
