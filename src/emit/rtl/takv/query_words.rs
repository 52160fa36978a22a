//! Words of a column's queries.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};
use crate::emit::rtl::takv::bundles::PLACE;
use crate::emit::rtl::takv::params::TakvParams;

pub(in crate::emit::rtl) fn query_words(w: &TakvParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Takv,
        "meshkv_query_words",
        &[
            "Queues the queries of a column in groups of words and hands them to its controller word by word.",
            "",
            "All columns do so side by side: each takes a word a cycle, from groups that come one after the other.",
        ],
    )
    .control(
        w,
        &[
            "STREAM_WIDTH",
            "HEAD_PLACE_WIDTH",
            "QUERY_GROUP",
            "QUERY_GROUP_WIDTH",
            "QUERY_WORD_WIDTH",
            "QUERY_DEPTH",
        ],
    )
    .clocked()
    .query_groups(Dir::Input, PLACE)
    .query("vector", Dir::Output, PLACE, "")
    .instances(&["meshkv_fifo"])
    .build()
}
