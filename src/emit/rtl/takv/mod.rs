//! Placement of slices, the column bus and external memory; `docs/takv.md` gives the reasons.

pub(super) mod bundles;
pub(super) mod bus_stop;
mod close_rows;
pub(super) mod column_controller;
pub(super) mod filler;
pub(super) mod memory_port;
pub(super) mod new_token;
pub(super) mod params;
pub(super) mod placement;
pub(super) mod prefetcher;
pub(super) mod query_words;
mod slices_said;
pub(super) mod swap_unit;
mod tables;
mod token_words;

use crate::design::{Design, PlacementKind};
use crate::emit::rtl::module::ModuleSpec;
use crate::emit::rtl::takv::bus_stop::bus_stop;
use crate::emit::rtl::takv::close_rows::close_rows;
use crate::emit::rtl::takv::column_controller::column_controller;
use crate::emit::rtl::takv::filler::filler;
use crate::emit::rtl::takv::memory_port::memory_port;
use crate::emit::rtl::takv::new_token::{new_token, write_port};
use crate::emit::rtl::takv::params::TakvParams;
use crate::emit::rtl::takv::placement::{divmod, placement};
use crate::emit::rtl::takv::prefetcher::prefetcher;
use crate::emit::rtl::takv::query_words::query_words;
use crate::emit::rtl::takv::slices_said::slices_said;
use crate::emit::rtl::takv::swap_unit::{occupancy, swap_unit};
use crate::emit::rtl::takv::token_words::token_words;

/// Bodies of its modules.
pub(super) const TEMPLATES: &[(&str, &str)] = &[
    template!("takv/meshkv_bus_stop.v"),
    template!("takv/meshkv_close_rows.v"),
    template!("takv/meshkv_column_controller.v"),
    template!("takv/meshkv_filler.v"),
    template!("takv/meshkv_memory_port.v"),
    template!("takv/meshkv_new_token.v"),
    template!("takv/meshkv_occupancy.v"),
    template!("takv/meshkv_placement.v"),
    template!("takv/meshkv_prefetcher.v"),
    template!("takv/meshkv_query_words.v"),
    template!("takv/meshkv_divmod.v"),
    template!("takv/meshkv_slices_said.v"),
    template!("takv/meshkv_swap_unit.v"),
    template!("takv/meshkv_token_words.v"),
    template!("takv/meshkv_write_port.v"),
];

/// Every module of the block, each after those it instantiates.
pub(super) fn modules(design: &Design) -> Vec<ModuleSpec> {
    let w = TakvParams::of(design);
    let placement = placement(&w);
    let controller = column_controller(&w, &[&placement]);
    let mut modules = Vec::new();
    if w.placement.kind != PlacementKind::Hub {
        modules.push(divmod());
    }
    modules.extend([placement, close_rows(&w), slices_said(&w)]);
    if w.append.is_some() {
        modules.push(token_words(&w));
    }
    modules.extend([controller, query_words(&w), memory_port(&w), bus_stop(&w), prefetcher(&w), filler(&w)]);
    if let Some(append) = &w.append {
        modules.extend([new_token(&w), write_port(&w, append)]);
    }
    if w.swaps() {
        modules.extend([occupancy(&w), swap_unit(&w)]);
    }
    modules
}
