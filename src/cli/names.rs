//! Choices of several subcommands, with their names on the command line.

use crate::design;

/// Rule for the tile that computes a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Mapping {
    /// The mapping of the least expected cycles for this workload
    Auto,
    /// One tile a head and stream, whatever the segment
    HeadTile,
    /// The row of the segment's home
    RowAligned,
    /// Streams spread over the rows, from that of the segment's home on
    StreamStriped,
}

/// Receivers of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Sharing {
    /// The heads that attend with its KV head
    KvHead,
    /// Every head, as a macro-block multicast
    Segment,
}

impl Mapping {
    /// The mapping; none if the workload decides.
    pub(super) fn fixed(self) -> Option<design::Mapping> {
        match self {
            Mapping::Auto => None,
            Mapping::HeadTile => Some(design::Mapping::HeadTile),
            Mapping::RowAligned => Some(design::Mapping::RowAligned),
            Mapping::StreamStriped => Some(design::Mapping::StreamStriped),
        }
    }
}

impl From<Sharing> for design::Sharing {
    fn from(sharing: Sharing) -> design::Sharing {
        match sharing {
            Sharing::KvHead => design::Sharing::KvHead,
            Sharing::Segment => design::Sharing::Segment,
        }
    }
}

/// The name of a choice on the command line.
pub(super) fn name(value: impl clap::ValueEnum) -> String {
    value.to_possible_value().map_or(String::new(), |v| v.get_name().to_owned())
}
