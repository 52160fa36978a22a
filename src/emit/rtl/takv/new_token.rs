//! The new token of a tile, and the way of its words to external memory.

use crate::design::Append;
use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::takv::params::TakvParams;

/// The words of a new token at its home.
pub(in crate::emit::rtl) fn new_token(w: &TakvParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Takv,
        "meshkv_new_token",
        &[
            "Holds K and V of a new token at its home: passes them on to external memory, and makes flits of them.",
            "",
            "The words come from the column controller just before the slice that they belong to. The first names slice",
            "and token and is only passed on. Flits of K are assembled word by word; an element of V fills all lanes in",
            "one cycle, since V is stored element by element, and the filler picks the token's lane.",
        ],
    )
    .control(w, &["INDEX_WIDTH", "FLIT_WIDTH", "HEAD_DIM", "TOKEN_WORDS", "TOKEN_DEPTH"])
    .clocked()
    .group("A word from the bus.")
    .input("s_valid", 1, "")
    .output("s_ready", 1, "")
    .input("s_data", 64, "Four elements, the first in the lowest bits.")
    .group("The same to the memory port.")
    .output("new_valid", 1, "One pulse a word, which has a credit.")
    .output("new_data", 64, "The word.")
    .input("new_credit", 1, "One pulse a word that left the port's queue.")
    .group("For the filler.")
    .output("token_here", 1, "All words are here.")
    .input("token_done", 1, "They are no longer needed.")
    .input("key_wanted", 1, "A flit of K is wanted.")
    .input("key_number", "INDEX_WIDTH", "Its number in the token's K.")
    .output("key_ready", 1, "It is there.")
    .input("key_taken", 1, "It is taken.")
    .input("value_wanted", 1, "An element of V is wanted in every lane of the next cycle's flit.")
    .input("value_element", "INDEX_WIDTH", "Its number.")
    .output("token_flit", "FLIT_WIDTH", "The flit.")
    .build()
}

/// Merges the words of a port's tiles.
pub(in crate::emit::rtl) fn write_port(w: &TakvParams, append: &Append) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Takv,
        "meshkv_write_port",
        &[
            "Merges new tokens of the tiles of a memory port, token by token, on their way to its writer.",
            "",
            "Words go by credits, so that registers can lie on the way.",
        ],
    )
    .param("TILES", w.memory.tiles_per_port, "Tiles of the port.")
    .param("WORDS", append.words + 1, "Words of a token: one that names it, K and V.")
    .param("DEPTH", 8, "Words of a tile that can wait.")
    .param("CREDITS", append.write_depth, "Words that the writer can take.")
    .clocked()
    .words_of_tiles("TILES")
    .writes("")
    .instances(&["meshkv_fifo"])
    .build()
}
