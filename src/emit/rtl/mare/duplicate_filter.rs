//! The filter of duplicates of a home, and its Bloom filter.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::mare::params::MareParams;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn duplicate_filter(w: &MareParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Mare,
        "meshkv_duplicate_filter",
        &[
            "Removes from a chunk's destinations the tiles that were sent it already.",
            "",
            "All data of a slice enters the network at its home, so what this filter",
            "stops reaches no router. A destination is removed only on a hit of the whole",
            "tag, generation and chunk; without a free tag the chunk is sent and not recorded.",
        ],
    )
    .tiles(w)
    .key_width(w)
    .index_width(w)
    .chunk_flits(w)
    .bloom(w)
    .tag_entries("ENTRIES", w)
    .clocked()
    .input("tick", 1, "The last cycle of a period.")
    .input("period", 1, "Parity of the period.")
    .group("A chunk, held until it is taken.")
    .input("s_valid", 1, "")
    .output("s_ready", 1, "The chunk and its answer are taken.")
    .input("s_key", "KEY_WIDTH", "")
    .input("s_first", "INDEX_WIDTH", "")
    .input("s_dest", "TILES", "")
    .input("s_again", 1, "A destination has asked before: the chunk is not recorded.")
    .group("Remaining destinations.")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_dest", "TILES", "None: the chunk is not sent.")
    .group("Events, one pulse each.")
    .filter_events()
    .instances(&["meshkv_bloom_filter"])
    .build()
}

pub(in crate::emit::rtl) fn bloom_filter(w: &MareParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Mare,
        "meshkv_bloom_filter",
        &[
            "Bloom filter of two hash functions and two banks.",
            "",
            "A key inserted in this or the previous period is always seen; another only by",
            "chance. A bank is cleared as a whole at the start of the period that fills it.",
        ],
    )
    .param("BITS", w.mare.bloom_bits, "Bits of one bank, half for each hash function.")
    .hash_width(w)
    .param("KEY_WIDTH", w.name(), "Width of a key in bits.")
    .clocked()
    .input("valid", 1, "There is a key.")
    .input("key", "KEY_WIDTH", "Key to look up and, with insert, to record.")
    .output("seen", 1, "The key of the cycle before may have been inserted; if low, it was not.")
    .input("insert", 1, "The key is recorded.")
    .input("tick", 1, "The last cycle of a period.")
    .input("period", 1, "Parity of the period: the bank that is filled.")
    .build()
}
