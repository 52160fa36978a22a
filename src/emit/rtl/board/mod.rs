//! Converters from the AXI4 ports of the top to a pseudo-channel of HBM, for the system without a shell.

pub(super) mod axi3;
pub(super) mod params;

use crate::design::Design;
use crate::emit::rtl::board::axi3::{fifo, io, read, split, write};
use crate::emit::rtl::board::params::Axi3Params;
use crate::emit::rtl::module::ModuleSpec;

/// Bodies of its modules.
pub(super) const TEMPLATES: &[(&str, &str)] = &[
    template!("board/meshkv_axi3_fifo.v"),
    template!("board/meshkv_axi3_io.v"),
    template!("board/meshkv_axi3_read.v"),
    template!("board/meshkv_axi3_split.v"),
    template!("board/meshkv_axi3_write.v"),
];

/// Every module of the block, each after those it instantiates; none if a flit is narrower than HBM.
pub(super) fn modules(design: &Design, common: &[ModuleSpec]) -> Vec<ModuleSpec> {
    let Some(params) = Axi3Params::of(design) else { return Vec::new() };
    let crossing = common.iter().find(|m| m.name == "meshkv_async_fifo").expect("every design has it");
    let (read, write) = (read(&params), write(&params));
    let io = io(&read, &write);
    vec![fifo(crossing), split(&params), read, write, io]
}
