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
            "Holds K and V of a new token at its home: passes them on to external memory and to the staging memory.",
            "",
            "The words come from the column controller just before the slice that they belong to. The first names slice",
            "and token and is only passed on. The filler gets K word by word, then V element by",
            "element, since each is in another flit, and picks the token's place.",
        ],
    )
    .control(w, &["INDEX_WIDTH", "HEAD_DIM", "TOKEN_WORDS", "TOKEN_DEPTH"])
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
    .input("token_wanted", 1, "What the next part goes over is here: it is given once all words are.")
    .input("token_drop", 1, "The token is not needed.")
    .output("next_value", 1, "The next part is an element of V, not a word of K.")
    .output("next_number", "INDEX_WIDTH", "Its number.")
    .output("token_done", 1, "One pulse: its last part follows in the next cycle.")
    .output("piece_valid", 1, "A part.")
    .output("piece_value", 1, "It is an element of V, not a word of K.")
    .output("piece_number", "INDEX_WIDTH", "Its number.")
    .group("For the staging memory.")
    .output("patch_data", 64, "The word of K, or the element of V four times.")
    .build()
}

/// Merges the words of a port's tiles.
pub(in crate::emit::rtl) fn write_port(w: &TakvParams, append: &Append) -> ModuleSpec {
    if append.direct {
        return ModuleBuilder::new(
            Block::Takv,
            "meshkv_write_port",
            &[
                "Passes new tokens of the tile of a memory port on to its writer.",
                "",
                "Words go by credits of the writer, so that registers can lie on the way.",
            ],
        )
        .clocked()
        .words_of_tiles("")
        .writes("")
        .build();
    }
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
