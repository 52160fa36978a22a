//! The column bus: widths of a word and of its fields, shared by everything that carries one.

use crate::config::{Config, KvScales};
use crate::design::card::memory::{local_width, place_width};
use crate::design::depths::QUERY_DEPTH;
use crate::design::network::flit::{index_bits, FlitLayout};
use crate::design::network::mesh::Mesh;
use crate::design::takv::append::Append;
use crate::design::takv::mapping::Heads;
use crate::design::takv::placement::{Placement, PlacementKind};

/// Bits of the kind of a word.
const KIND_BITS: u32 = 2;
/// Bits of a query that a word carries: four elements of FP16.
const QUERY_BITS: u32 = 64;
/// Words of a query that come together, at most. A column takes a word a cycle, so as many columns load at once.
pub const QUERY_GROUP_WORDS: u32 = 4;

/// Widths in bits of a word of the column bus and of its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bus {
    /// The number of a macro-block in its home.
    pub block: u32,
    /// The number of a slice in external memory.
    pub number: u32,
    /// The number of tiles that will fetch a slice.
    pub expected: u32,
    /// The number of a word of a query, four elements each; above it the bit of sinks, if there are some, and that of scales.
    /// A word of sinks has both.
    pub query_word: u32,
    /// Words that come to the controllers together, a power of two.
    pub query_group_words: u32,
    /// The number of such a group of a query.
    pub query_group: u32,
    /// Heads whose scales come in one group, a word each; none if there are no scales.
    pub scale_heads: Option<u32>,
    /// Groups that wait for the bus: a stream's queries of a column, if there are not too many.
    pub query_depth: u32,
    /// A word that announces a slice.
    pub slice: u32,
    /// A word of either kind: both start at bit 0.
    pub word: u32,
}

impl Bus {
    /// The number of a group with scales.
    pub fn scale_group(&self) -> u32 {
        1 << (self.query_group - 1)
    }

    /// The number of a group with sinks.
    pub fn sink_group(&self) -> u32 {
        3 << (self.query_group - 2)
    }

    /// Computes the widths from a configuration.
    pub(in crate::design) fn new(
        config: &Config,
        mesh: Mesh,
        flit: &FlitLayout,
        placement: &Placement,
        heads: &Heads,
    ) -> Bus {
        let (model, tokens) = (&config.model, config.kv.segment_tokens);
        let (stream, layer) = (index_bits(model.max_streams), index_bits(model.layers));
        let segment = index_bits(placement.places);
        let (x, y) = (index_bits(mesh.cols()), index_bits(mesh.rows()));
        let natural = index_bits(placement.blocks_of_home());
        let block = match placement.kind {
            PlacementKind::Takv => natural.max(layer.max(segment) + 1),
            PlacementKind::RoundRobin | PlacementKind::Hub => natural,
        };
        let number = place_width(config) + local_width(config, placement);
        let expected = index_bits(mesh.tiles() as u32 + 1);
        let rows = 2 * index_bits(tokens) + 2 * mesh.rows();
        let named = number + expected + 2 * flit.index_width() + flit.mask_width() + flit.tag_width();
        let slice = rows + 2 * stream + 1 + named + x + y + 5;
        let head_words = config.pe.head_dim / 4;
        let scaled = config.kv.scales_of_format() != KvScales::None;
        // Both counts are powers of two.
        let sinks = config.model.groups.iter().flatten().any(|group| group.sinks);
        let above = u32::from(scaled) + u32::from(sinks);
        let query_word = index_bits(head_words) + above;
        let query_group_words = QUERY_GROUP_WORDS.min(head_words).min(flit.data_width / QUERY_BITS);
        let groups = head_words / query_group_words;
        let query_group = index_bits(groups) + above;
        // A group goes to one column.
        let alike =
            (0..mesh.cols()).all(|x| (heads.of_column(x).len() as u32).is_multiple_of(query_group_words));
        let scale_heads = scaled.then_some(if alike { query_group_words } else { 1 });
        let query_depth = (heads.most() * groups).next_power_of_two().clamp(2, QUERY_DEPTH);
        // The top bit tells queries from the words that announce them.
        let query = KIND_BITS + QUERY_BITS + query_word + index_bits(heads.most()) + stream + 1;
        // The top bit says that a slice has a new token, or that the word is one of a new token.
        let word = match Append::new(config, mesh, query_group_words) {
            Some(append) => (slice + 1).max(query).max(append.word),
            None => slice.max(query),
        };
        Bus {
            block,
            number,
            expected,
            query_word,
            query_group_words,
            query_group,
            scale_heads,
            query_depth,
            slice,
            word,
        }
    }
}
