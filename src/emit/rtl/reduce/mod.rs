//! From the sums of a tile to an output; `docs/reduce.md` gives the reasons.

pub(super) mod column_root;
pub(super) mod params;
pub(super) mod part_former;
pub(super) mod reduce_root;

use crate::design::Design;
use crate::emit::rtl::module::ModuleSpec;
use crate::emit::rtl::reduce::column_root::column_root;
use crate::emit::rtl::reduce::params::ReduceParams;
use crate::emit::rtl::reduce::part_former::{element_packer, leading_bits, part_former};
use crate::emit::rtl::reduce::reduce_root::{
    finish_lane, quotient, reciprocal, reduce_adder, reduce_finisher, reduce_inlet, reduce_root,
};
use crate::emit::rtl::takv::params::TakvParams;

/// Bodies of its modules.
pub(super) const TEMPLATES: &[(&str, &str)] = &[
    template!("reduce/meshkv_column_root.v"),
    template!("reduce/meshkv_element_packer.v"),
    template!("reduce/meshkv_finish_lane.v"),
    template!("reduce/meshkv_leading_bits.v"),
    template!("reduce/meshkv_part_former.v"),
    template!("reduce/meshkv_quotient.v"),
    template!("reduce/meshkv_reciprocal.v"),
    template!("reduce/meshkv_reduce_adder.v"),
    template!("reduce/meshkv_reduce_finisher.v"),
    template!("reduce/meshkv_reduce_inlet.v"),
    template!("reduce/meshkv_reduce_root.v"),
];

/// Every module of the block, each after those it instantiates; the root of a column mirrors ports of the `tile`.
pub(super) fn modules(design: &Design, tile: &ModuleSpec) -> Vec<ModuleSpec> {
    let w = ReduceParams::of(design);
    let root = reduce_root(&w);
    let column_root = column_root(&TakvParams::of(design), &w, tile, &root);
    vec![
        leading_bits(&w),
        element_packer(&w),
        part_former(&w),
        reduce_inlet(&w),
        reduce_adder(&w),
        reciprocal(),
        quotient(),
        finish_lane(&w),
        reduce_finisher(&w),
        root,
        column_root,
    ]
}
