//! The systolic array of a tile; `docs/pad.md` gives the reasons.

pub(super) mod dot;
// The block and its module share their name.
#[allow(clippy::module_inception)]
pub(super) mod pad;
pub(super) mod params;
pub(super) mod row;
pub(super) mod row_params;
pub(super) mod sequencer;

use crate::design::Design;
use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::ModuleSpec;
use crate::emit::rtl::pad::pad::pad;
use crate::emit::rtl::pad::params::PadParams;
use crate::emit::rtl::pad::row::array_modules;
use crate::emit::rtl::pad::sequencer::{job_contexts, odd_contexts, weight_loader};

/// Bodies of its modules.
pub(super) const TEMPLATES: &[(&str, &str)] = &[
    template!("pad/meshkv_align.v"),
    template!("pad/meshkv_pad_array.v"),
    template!("pad/meshkv_preadd_dsp.v"),
    template!("pad/meshkv_query_lanes.v"),
    template!("pad/meshkv_dot.v"),
    template!("pad/meshkv_dsp.v"),
    template!("pad/meshkv_job_contexts.v"),
    template!("pad/meshkv_odd_contexts.v"),
    template!("pad/meshkv_pad.v"),
    template!("pad/meshkv_pad_row.v"),
    template!("pad/meshkv_scratchpad.v"),
    template!("pad/meshkv_sums.v"),
    template!("pad/meshkv_weight.v"),
    template!("pad/meshkv_weight_loader.v"),
];

/// Every module of the block, each after those it instantiates; PaD mirrors ports of the `tile` and passes on parameters
/// of the part former.
pub(super) fn modules(design: &Design, tile: &ModuleSpec, former: &ModuleSpec) -> Vec<ModuleSpec> {
    let w = PadParams::of(design);
    let mut modules = array_modules(design, w.slots());
    modules.retain(|m| m.block == Block::Pad);
    let array = modules.last().expect("the array comes last");
    let pad = pad(&w, tile, array, former);
    modules.extend([job_contexts(&w), weight_loader(&w), odd_contexts(&w), pad]);
    modules
}
