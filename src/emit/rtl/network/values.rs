//! Values of the network.

use crate::design::{
    decided, index_bits, Design, Flaw, Port, CLAIM_LIMIT, CLAIM_PERIODS, RANDOM_SEED, RANDOM_TAPS, SLIP_BITS,
    STARVE_LIMIT, TURNS,
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
        ("carried_width", flit.carried_width()),
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
    values.flags(&[
        ("multicast", router.multicast),
        ("vn0_turns", router.vn0_vcs > 1),
        ("parity", flit.parity),
    ]);
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
        // Parameter with the width of a payload as flits carry it.
        ("carried", if flit.parity { "CARRIED_WIDTH" } else { "FLIT_WIDTH" }.to_owned()),
        ("flaw_places", Flaw::listed()),
    ]);
    values.set("slip_bits", SLIP_BITS.iter().map(|bits| bits.to_vec().into()).collect::<Vec<tera::Value>>());
    set_turns(values, router.staged());
}

/// Sets the turns and what follows from them, by the letters of ports: the inputs of each output, the outputs of each input,
/// its rivals for an output, the outputs that are granted before it, and its choices between two.
fn set_turns(values: &mut Values, staged: bool) {
    let letters = |ports: &[Port]| ports.iter().map(|port| port.letter().to_string()).collect::<Vec<_>>();
    let outputs_of = |input| Port::ALL.into_iter().filter(move |&output| TURNS.allows(input, output));
    let inputs_of = |output| Port::ALL.into_iter().filter(move |&input| TURNS.allows(input, output));
    let (first, rest) = decided(staged).split_first().expect("some outputs are decided first");
    values.set("ports", letters(&Port::ALL));
    values.set("link_ports", letters(&Port::ALL[..4]));
    values.set("column_outputs", letters(first));
    values.set("row_outputs", letters(&[Port::East, Port::West]));
    values.set("late_outputs", letters(&rest.concat()));
    values.set("opposite", by_port(|port| port.opposite().letter().to_string()));
    values.set("turns_mask", by_port(|port| format!("5'b{:05b}", TURNS.mask(port))));
    values.set("inputs_of", by_port(|output| letters(&inputs_of(output).collect::<Vec<_>>())));
    values.set("outputs_of", by_port(|input| letters(&outputs_of(input).collect::<Vec<_>>())));
    let rivals = |input, output| letters(&inputs_of(output).filter(|&i| i != input).collect::<Vec<_>>());
    values.set("rivals", by_port(|input| by_port(|output| rivals(input, output))));
    let before = |input, output| {
        let earlier = decided(staged).iter().take_while(|outputs| !outputs.contains(&output));
        let earlier = earlier.flat_map(|outputs| outputs.iter().copied());
        letters(&earlier.filter(|&other| TURNS.allows(input, other)).collect::<Vec<_>>())
    };
    values.set("before", by_port(|input| by_port(|output| before(input, output))));
    let choices = TURNS.choices(decided(staged));
    let chosen = |input| choices.iter().filter(move |choice| choice.0 == input);
    let chosen = |input| chosen(input).flat_map(|&(_, a, b)| letters(&[a, b])).collect::<Vec<_>>();
    values.set("chosen_of", by_port(chosen));
    let choices = choices.iter().map(|&(input, a, b)| letters(&[input, a, b]).into());
    values.set("choices", choices.collect::<Vec<tera::Value>>());
}

/// A value for each port, by its letter.
fn by_port<T: Into<tera::Value>>(value: impl Fn(Port) -> T) -> tera::Map<String, tera::Value> {
    Port::ALL.into_iter().map(|port| (port.letter().to_string(), value(port).into())).collect()
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
