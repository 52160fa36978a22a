//! Words of new tokens on their way to the bus.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{Dir, ModuleBuilder, ModuleSpec};
use crate::emit::rtl::takv::params::TakvParams;

pub(in crate::emit::rtl) fn token_words(w: &TakvParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Takv,
        "meshkv_token_words",
        &[
            "Keeps the new tokens of all streams until their slices are announced to their homes.",
            "",
            "The words of a token go just before its slice, which waits for them. The first of them names it.",
        ],
    )
    .control(
        w,
        &["STREAM_WIDTH", "SLICE_WIDTH", "SLICES", "QUERY_GROUP", "TOKEN_WORDS", "TOKEN_GROUPS", "TOKEN_GROUP_WIDTH"],
    )
    .clocked()
    .new_tokens(Dir::Input)
    .more_tokens(Dir::Input)
    .group("The slice whose turn it is.")
    .input("waits", 1, "It is here, and has a new token.")
    .input("begins", 1, "None is here.")
    .input("leaves", 1, "It makes way for the next.")
    .input("stream", "STREAM_WIDTH", "Its stream.")
    .input("slice", "SLICE_WIDTH", "Its KV head.")
    .group("Words of the token.")
    .input("free", 1, "The bus has room for a word.")
    .output("held", 1, "Its last group is not here.")
    .output("tells", 1, "Some are to come.")
    .output("token", 1, "One pulse a word that goes.")
    .output("names", 1, "It names the token.")
    .output("word", 64, "It, if it does not.")
    .build()
}
