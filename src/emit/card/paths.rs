//! Paths of instances below the top, and bits of ports.

use crate::emit::rtl::spec::module::ModuleSpec;

/// Path of the core below the top.
pub(super) const CORE: &str = "u_core/";

/// Path of a part of a tile.
pub(super) fn of_tile(core_path: &str, tile: impl std::fmt::Display) -> String {
    format!("{CORE}{}", core_path.replace("{t}", &tile.to_string()))
}

/// Bits of some ports of a module.
pub(super) fn port_bits(modules: &[ModuleSpec], module: &str, ports: &[&str]) -> u32 {
    let module = modules.iter().find(|m| m.name == module).expect("every design has it");
    let width =
        |name: &&str| module.ports.iter().find(|p| p.name == **name).expect("a port of it").width.bits;
    ports.iter().map(width).sum()
}
