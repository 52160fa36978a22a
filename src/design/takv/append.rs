//! The way of new tokens into the cache: from the controllers over the column bus to their homes, and from there to
//! external memory.
//!
//! A controller sends the K and V of a new token and KV head to its home as words of 64 bits, after a word that names
//! the slice and the token's place in it. The home writes them over what memory had in that place once all of the slice
//! is there, and passes the same words on to the writer behind its memory port.

use crate::config::{Config, KvFormat};
use crate::design::card::memory::tiles_per_port;
use crate::design::mare::slice::{half_flits, scale_flits};
use crate::design::mare::staging::ultra_blocks;
use crate::design::network::flit::index_bits;
use crate::design::network::mesh::Mesh;

/// Bits of a word: four elements of 16 bits, or eight of eight.
const WORD_BITS: u32 = 64;
/// Bits from the port of a home to its writer: a word, valid, and whether more wait.
pub const TOKEN_WAY_BITS: u32 = WORD_BITS + 2;
/// Words of a LUT memory.
const LUT_DEPTH: u32 = 32;
/// Words of a block RAM of 72 bits.
const BLOCK_DEPTH: u32 = 512;
/// Beats of the longest burst that is written.
const LONGEST: u32 = 16;

/// Sizes of the way of new tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Append {
    /// Words of K and V of one token and KV head, as they lie in memory, and one of its scales if it has some. K comes first,
    /// scales last.
    pub words: u32,
    /// Words of K, and of V.
    pub row_words: u32,
    /// Groups of a token.
    pub token_groups: u32,
    /// Words that come to the controllers together, a power of two.
    pub group_words: u32,
    /// Groups of all streams and KV heads that a controller keeps.
    pub groups: u32,
    /// Bits of the number of such a group.
    pub group: u32,
    /// Bits of a word on the column bus: the data, the row of its home, and what tells it from other words.
    pub word: u32,
    /// Words that the writer of a memory port can take: at least those of a burst.
    pub write_depth: u32,
    /// Words that a tile can send without an answer: all of the writer's places if it has the port for itself, else a
    /// whole token, for which it has a queue there.
    pub token_depth: u32,
    /// Each memory port has one tile, so that no words are merged.
    pub direct: bool,
    /// Beats that write a token of a KV head into external memory: whole ones for K, one an element of V.
    pub beats: u32,
    /// Beats of a burst of V, a power of two: no burst crosses a multiple of its bytes.
    pub value_burst: u32,
}

/// Elements of a word of a new token.
pub fn word_elements(format: KvFormat) -> u32 {
    WORD_BITS / (8 * format.bytes())
}

impl Append {
    /// Computes the sizes; none if the cache is read only.
    pub(in crate::design) fn new(config: &Config, mesh: Mesh, group_words: u32) -> Option<Append> {
        let elements = word_elements(config.kv.format);
        let row_words = config.pe.head_dim / elements;
        let scale_words = u32::from(scale_flits(config) > 0);
        let words = 2 * row_words + scale_words;
        let token_groups = words.div_ceil(group_words);
        let groups = config.model.max_streams * config.model.kv_heads * token_groups;
        let value_burst = 1 << (half_flits(config) | config.pe.head_dim | LONGEST).trailing_zeros();
        // Words of a burst of K and of V, which wait until memory can have all of them.
        let of_key = (LONGEST * config.noc.flit_width / WORD_BITS).min(row_words);
        let write_depth = of_key.max(value_burst / elements).next_multiple_of(LUT_DEPTH);
        let direct = tiles_per_port(config) == 1;
        config.kv.append.then(|| Append {
            words,
            row_words,
            token_groups,
            group_words,
            groups,
            group: index_bits(groups),
            word: 2 + WORD_BITS + index_bits(mesh.rows()) + 1,
            beats: row_words * WORD_BITS / config.noc.flit_width + config.pe.head_dim + scale_words,
            write_depth,
            token_depth: if direct { write_depth } else { words + 1 },
            direct,
            value_burst,
        })
    }

    /// UltraRAMs of a controller: its groups are there where they need more than the depth of a block RAM.
    pub fn ultra_rams(&self) -> u32 {
        if self.groups > BLOCK_DEPTH {
            ultra_blocks(WORD_BITS * self.group_words, self.groups)
        } else {
            0
        }
    }
}
