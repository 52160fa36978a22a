//! All modules of a design, block by block.

use super::module::ModuleSpec;
use super::{board, common, device, fabric, mare, network, pad, reduce, takv};
use crate::design::Design;

/// Every module of the design, in order of dependence: the top comes last.
pub fn modules(design: &Design) -> Vec<ModuleSpec> {
    let mut modules = common::modules(design.router.staged());
    modules.extend(network::modules(design));
    modules.extend(mare::modules(design));
    modules.extend(takv::modules(design));
    let tile = fabric::tile_of(design, &modules);
    modules.extend(reduce::modules(design, &tile));
    let former = modules.iter().find(|m| m.name == "meshkv_part_former").expect("every design has it");
    modules.extend(pad::modules(design, &tile, former));
    modules.extend(fabric::modules(design, tile, &modules));
    let core = modules.last().expect("the core comes last").clone();
    modules.extend(board::modules(design, &modules));
    modules.extend(device::modules(design, &core));
    modules
}
