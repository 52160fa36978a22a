//! The filter of duplicates of a home, and its Bloom filter.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::mare::params::MareParams;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn duplicate_filter(w: &MareParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Mare, "meshkv_duplicate_filter",
        &[
            "Takes out of a chunk's destinations those that have been sent it already.",
            "",
            "All that is ever sent of a slice enters the network here, at its home, so what this filter has",
            "not let through twice no router sees twice. A destination is taken out only on a hit of the whole",
            "tag, generation and chunk; where no tag is free, the chunk is sent and not remembered.",
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
    .output("s_ready", 1, "The chunk is taken, together with its answer.")
    .input("s_key", "KEY_WIDTH", "")
    .input("s_first", "INDEX_WIDTH", "")
    .input("s_dest", "TILES", "")
    .input("s_again", 1, "One of the destinations has asked before: nothing is remembered of it.")
    .group("Who is left.")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_dest", "TILES", "None: the chunk need not be sent.")
    .group("To be counted, one pulse each.")
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
            "A key that was inserted in this period or the one before is always seen; another is seen by",
            "chance. A bank is cleared as a whole, when the period begins that will fill it.",
        ],
    )
    .param("BITS", w.mare.bloom_bits, "Bits of one bank, half for each hash function.")
    .hash_width(w)
    .param("KEY_WIDTH", w.name(), "Width of a key in bits.")
    .clocked()
    .input("key", "KEY_WIDTH", "What is looked up and, with insert, remembered.")
    .output("seen", 1, "It may have been inserted; if not seen, it was not.")
    .input("insert", 1, "The key is remembered.")
    .input("tick", 1, "The last cycle of a period.")
    .input("period", 1, "Parity of the period: the bank that is filled.")
    .build()
}
