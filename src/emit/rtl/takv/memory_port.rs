//! The port to external memory.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::takv::params::TakvParams;

pub(in crate::emit::rtl) fn memory_port(w: &TakvParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Takv, "meshkv_memory_port",
        &[
            "AXI4 read master of adjacent tiles of a row.",
            "",
            "Tiles rotate, burst by burst. Bursts do not cross 4 KiB, because they start at a multiple of their length.",
            "Every requested beat has a reserved place, so the data channel is always ready.",
        ],
    )
    .control(w, &["NUMBER_WIDTH", "INDEX_WIDTH", "FLIT_WIDTH", "ID_WIDTH", "LEN_WIDTH", "AXI_ID_WIDTH", "AXI_ADDR_WIDTH"])
    .control(w, &["SLICE_BYTES", "LOCAL_WIDTH", "REGION_WIDTH", "FLIT_BYTES", "FLIT_LOG"])
    .param("TILES", w.memory.tiles_per_port, "Tiles of the port; AXI_ID_WIDTH - ID_WIDTH bits identify them.")
    .param("CREDITS", 4, "Bursts of a tile that can wait.")
    .clocked()
    .reads_of_tiles("TILES")
    .axi("")
    .instances(&["meshkv_fifo"])
    .build()
}
