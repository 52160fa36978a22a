//! Values for the templates, block by block.

use super::device;
use super::modules::modules;
use crate::design::{Array, Design, Port, RANDOM_SEED, RANDOM_TAPS, SLIP_BITS, TURNS};
use crate::emit::rtl::fabric::core::core_wires;
use crate::emit::rtl::mare::params::MareParams;
use crate::emit::rtl::module::unshared_params;
use crate::emit::rtl::names::{CORE, FABRIC, PAD, ROOT};
use crate::emit::rtl::network::debruijn_ring::Ring;
use crate::emit::rtl::network::params::PORTS;
use crate::emit::rtl::pad::params::PadParams;
use crate::emit::rtl::pad::row_params::PadRowParams;
use crate::emit::rtl::reduce::params::ReduceParams;
use crate::emit::rtl::takv::params::TakvParams;
use crate::kernels;
use anyhow::Result;
use std::collections::BTreeMap;

/// Values by their names in the templates; `row` sets the rows of PaD.
pub(super) fn values(design: &Design, row: &PadRowParams) -> Result<BTreeMap<String, tera::Value>> {
    let mut values: BTreeMap<String, tera::Value> = BTreeMap::new();
    values.insert("multicast".into(), design.router.multicast.into());
    values.insert("staged".into(), design.router.staged().into());
    // Kinds of requests, the lowest bit first, and those whose inputs share by tiles.
    let (kinds, shared): (&[&str], &[&str]) = if design.router.staged() {
        (&["part", "fetch", "data"], &["part", "fetch", "data"])
    } else {
        (&["first", "body", "fetch", "data"], &["first", "fetch", "data"])
    };
    values.insert("kinds".into(), kinds.len().into());
    values.insert("kind_names".into(), kinds.to_vec().into());
    values.insert("shared_kinds".into(), shared.to_vec().into());
    values.insert("ports".into(), PORTS.to_vec().into());
    for port in Port::ALL {
        let mask = format!("5'b{:05b}", TURNS.mask(port));
        values.insert(format!("outputs_{}", port.letter()), mask.into());
    }
    values.insert("random_seed".into(), format!("16'h{RANDOM_SEED:04x}").into());
    values.insert("random_taps".into(), format!("16'h{RANDOM_TAPS:04x}").into());
    values.insert(
        "slip_bits".into(),
        SLIP_BITS.iter().map(|bits| bits.to_vec().into()).collect::<Vec<tera::Value>>().into(),
    );
    let mare = &design.mare;
    let fifo = if Array::fifo_in_block(design) { "block" } else { "distributed" };
    values.insert("fifo_style".into(), fifo.into());
    values.insert("dedup".into(), mare.dedup.into());
    values.insert("coalesce".into(), (mare.coalesce_window > 0).into());
    values.insert("waits".into(), (mare.coalesce_window + mare.tree_cycles > 0).into());
    values.insert("vn0_turns".into(), (design.router.vn0_vcs > 1).into());
    values.extend(TakvParams::of(design).values());
    values.extend(PadParams::of(design).values());
    values.extend(row.values());
    values.extend(ReduceParams::of(design).values());
    let all = modules(design);
    let spec = |name: &str| all.iter().find(|m| m.name == name).expect("every design has it");
    let (wires, unused) = core_wires(spec(FABRIC), spec(CORE));
    values.insert("core_wires".into(), wires.into());
    values.insert("unused_root".into(), unused.into());
    values.extend(device::front::values(design, &all));
    for (name, part) in [("pad_params", PAD), ("root_params", ROOT)] {
        values.insert(name.into(), unshared_params(spec(FABRIC), spec(part)).into());
    }
    let [rows_a, rows_b] = MareParams::of(design).hash_rows();
    values.insert("bloom_rows_a".into(), rows_a.into());
    values.insert("bloom_rows_b".into(), rows_b.into());
    // The low bits of a counter step through a ring of 32.
    let ring = Ring::of(32);
    values.insert("count_ring".into(), ring.literal().into());
    values.insert("count_places".into(), ring.places_literal().into());
    for kernel in kernels::all()? {
        values.insert(format!("kernel_{}", kernel.name), kernel.body.trim_end().into());
    }
    Ok(values)
}
