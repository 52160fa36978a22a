//! Values of the network.

use crate::design::{
    index_bits, Design, Port, CLAIM_LIMIT, CLAIM_PERIODS, RANDOM_SEED, RANDOM_TAPS, SLIP_BITS, STARVE_LIMIT,
    TURNS,
};
use crate::emit::rtl::network::debruijn_ring::Ring;
use crate::emit::rtl::spec::values::Values;

/// Cycles of a period, after which waiting heads are counted on.
const PERIOD: u32 = 32;

/// Sets the values of the network.
pub(in crate::emit::rtl) fn set(values: &mut Values, design: &Design) {
    let (mesh, router, flit) = (design.mesh, &design.router, &design.flit);
    values.numbers(&[
        ("cols", mesh.cols()),
        ("rows", mesh.rows()),
        ("tiles", mesh.tiles() as u32),
        ("home_width", index_bits(mesh.cols()) + index_bits(mesh.rows())),
        ("vn0_vcs", router.vn0_vcs),
        ("vcs", router.vcs()),
        ("vc_depth", router.vc_depth),
        ("dest_width", flit.dest_width),
        ("column_dest_width", flit.column_dest_width),
        ("head_width", flit.head_width),
        ("flit_width", flit.data_width),
        ("flit_bytes", flit.data_width / 8),
        ("flit_log", (flit.data_width / 8).ilog2()),
        // Beside the payload: in a buffer also the route; on a link whether the flit goes on along the row.
        ("stored_meta_width", flit.head_width + flit.dest_width + flit.column_dest_width + 2),
        ("sent_meta_width", flit.head_width + flit.dest_width + 1),
        ("starve_limit", STARVE_LIMIT),
        ("claim_periods", CLAIM_PERIODS),
        ("claim_limit", CLAIM_LIMIT),
    ]);
    values.widths(&[("x_width", mesh.cols()), ("y_width", mesh.rows())]);
    let turn = index_bits(mesh.rows()).max(index_bits(mesh.cols()));
    values.numbers(&[("turn_width", turn), ("share_width", turn + 1)]);
    values.flags(&[("multicast", router.multicast), ("vn0_turns", router.vn0_vcs > 1)]);
    set_kinds(values, router.staged());
    let (slots, period) = (Ring::of(router.vc_depth), Ring::of(PERIOD));
    values.set("vc_ptr_width", slots.width());
    values.texts([
        ("crossings", format!("16'b{:016b}", design.crossings())),
        ("vc_ring", slots.literal()),
        ("vc_half_slot", slots.before_first(router.vc_depth / 2)),
        ("count_ring", period.literal()),
        ("count_places", period.places_literal()),
        ("random_seed", format!("16'h{RANDOM_SEED:04x}")),
        ("random_taps", format!("16'h{RANDOM_TAPS:04x}")),
    ]);
    values.set("slip_bits", SLIP_BITS.iter().map(|bits| bits.to_vec().into()).collect::<Vec<tera::Value>>());
    values.set("ports", Port::ALL.map(|port| port.letter().to_string()).to_vec());
    for port in Port::ALL {
        values.set(format!("outputs_{}", port.letter()), format!("5'b{:05b}", TURNS.mask(port)));
    }
}

/// Sets the kinds of requests, the lowest bit first: those whose inputs share by tiles, and those that take plain turns.
/// A router of three stages has chosen a flit of PART for each input before its outputs choose.
fn set_kinds(values: &mut Values, staged: bool) {
    let (shared, plain): (&[&str], &[&str]) = match staged {
        true => (&["part", "fetch", "data"], &[]),
        false => (&["first", "fetch", "data"], &["body"]),
    };
    let mut kinds = shared.to_vec();
    kinds.splice(1..1, plain.iter().copied());
    let words = match staged {
        true => "{KV_DATA, KV_FETCH, PART}",
        false => "{KV_DATA, KV_FETCH, PART inside a packet, first flit of a PART packet}",
    };
    values.set("stages", if staged { 3 } else { 2 });
    values.set("kinds", kinds.len());
    values.set("kind_words", words);
    values.set("kind_names", kinds);
    values.set("shared_kinds", shared.to_vec());
    values.set("plain_kinds", plain.to_vec());
}
