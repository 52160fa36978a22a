//! New tokens: each is written to external memory, once and where it belongs, and attended to in the same step without
//! memory having it. The Verilog and its model agree in every cycle.

use crate::support::attention::tensors;
use crate::support::decode::{
    plan, run_alone, run_clean, run_on, small, whole_library, FORM, LOAD, MAPPINGS,
};
use crate::support::sources::source_mut;
use crate::support::verilated::library_of;
use meshkv::config::{Config, Spread};
use meshkv::cosim::build::Library;
use meshkv::cosim::memory::{Behaviour, Image};
use meshkv::cosim::workloads::attention::Job;
use meshkv::cosim::workloads::decode::{DecodeError, Decoded, Plan, Workload};
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::emit::emit;
use meshkv::model::datapath::tensors::Logits;
use std::collections::HashMap;

/// Two streams, each with a new token after what they share.
const APPENDING: Workload = Workload { tokens: 29, batch: 2, prefix: 9, append: true, ..LOAD };

fn design(change: impl FnOnce(&mut Config)) -> Design {
    small(|c| {
        c.kv.append = true;
        change(c);
    })
}

/// Runs some steps; the new tokens of each are checked where they are written and where they are used.
fn appends(design: &Design, load: &Workload, change: impl FnOnce(Plan) -> Plan, what: &str) {
    let plan = change(Plan { steps: 2, ..plan(design, load) });
    let done = run_clean(&whole_library(design), design, &plan, what);
    let tokens = u64::from(load.batch * load.layers * design.model.kv_heads) * u64::from(plan.steps);
    assert_eq!(done.tokens_written, tokens, "{what}");
}

#[test]
fn a_new_token_is_attended_to_and_written() {
    let design = design(|_| {});
    for mapping in MAPPINGS {
        appends(&design, &Workload { mapping, ..APPENDING }, |plan| plan, &format!("{mapping:?}"));
    }
}

#[test]
fn it_may_have_a_home_of_its_own() {
    let design = design(|c| (c.takv.spread, c.takv.swap_epoch) = (Spread::Slice, None));
    for mapping in MAPPINGS {
        appends(&design, &Workload { mapping, ..APPENDING }, |plan| plan, &format!("{mapping:?}"));
    }
}

#[test]
fn it_may_be_the_first_or_the_last_of_a_segment_a_block_or_a_cache() {
    // Segments of 8 tokens, blocks of 4.
    let design = design(|_| {});
    for tokens in [1, 4, 5, 8, 9, 256] {
        let load = Workload { tokens, batch: 1, prefix: 0, mapping: Mapping::RowAligned, ..APPENDING };
        appends(&design, &load, |plan| plan, &format!("{tokens} tokens"));
    }
}

#[test]
fn all_heads_may_share_it() {
    let load =
        Workload { sharing: Sharing::Segment, mapping: Mapping::StreamStriped, layers: 2, ..APPENDING };
    appends(&design(|_| {}), &load, |plan| plan, "shared");
}

#[test]
fn memory_may_answer_in_any_order_and_at_any_time() {
    let design = design(|c| c.memory.tiles_per_port = Some(2));
    let unruly = |plan: Plan| Plan { memory: plan.memory.clone().unruly(5), ..plan };
    appends(&design, &Workload { mapping: Mapping::RowAligned, ..APPENDING }, unruly, "unruly");
}

/// K of a token is within one burst, which is so long under way that its home begins to fetch other slices.
fn beside_others() -> (Design, Plan) {
    let design = design(|c| {
        (c.noc.flit_width, c.kv.uram_per_tile, c.pad.fifo_depth) = (128, 2, None);
    });
    let memory = &design.memory;
    assert!(
        memory.burst_flits >= design.pe.head_dim / design.flit.elements,
        "a burst of {} flits",
        memory.burst_flits
    );
    let load = Workload { tokens: 57, prefix: 0, mapping: Mapping::RowAligned, ..APPENDING };
    let plan = plan(&design, &load);
    let plan = Plan { memory: Behaviour { latency: 200, ..plan.memory.clone() }, ..plan };
    (design, plan)
}

#[test]
fn its_home_may_fetch_other_slices_before_its_own_is_there() {
    let (design, plan) = beside_others();
    run_clean(&whole_library(&design), &design, &plan, "slices behind that of a token");
}

#[test]
fn a_token_that_is_forgotten_when_its_home_fetches_another_slice_is_found() {
    let (design, plan) = beside_others();
    let mut files = emit(&design).unwrap();
    let text = &mut source_mut(&mut files, "meshkv_filler").text;
    let from = "~key_comes & ~(claims & appends);";
    assert_eq!(text.matches(from).count(), 1);
    *text = text.replace(from, "~key_comes & ~claims;");
    let done = run_on(&library_of(FORM, &design, &files), &design, &plan);
    assert!(done.is_err(), "it is not found");
}

#[test]
fn a_cache_that_grows_token_by_token_is_the_one_that_a_host_writes_whole() {
    let design = design(|_| {});
    let (heads, kv_heads, dim) = (6, 3, design.pe.head_dim as usize);
    let tokens = 21;
    let tensors = tensors(&design, tokens, 1, Logits::Normal, 3);
    let job = Job::new(&design, &tensors, (0, 1), Mapping::RowAligned, Sharing::KvHead).unwrap();
    let Image::Slices(whole) = job.image() else { panic!("a job has slices") };
    let mut grown: HashMap<u64, Vec<u8>> =
        whole.iter().map(|(at, bytes)| (*at, vec![0; bytes.len()])).collect();
    let words = |row: &[u16]| {
        let word = |four: &[u16]| four.iter().rev().fold(0, |word, &half| word << 16 | u64::from(half));
        row.chunks(4).map(word).collect::<Vec<u64>>()
    };
    for (token, g) in (0..tokens).flat_map(|token| (0..kv_heads).map(move |g| (token, g))) {
        let row = |of: &[u16]| words(&of[token * dim..(token + 1) * dim]);
        let head = g * heads / kv_heads;
        let both = [row(tensors.keys(head)), row(tensors.values(head))].concat();
        let (segment, place) = (token as u32 / 8, token as u32 % 8);
        let number = design.slice_number(0, 0, segment, g as u32);
        for (address, bytes) in design.token_places(number, place, &both) {
            let at = (address % design.memory.slice_bytes) as usize;
            grown.get_mut(&number).unwrap()[at..at + bytes.len()].copy_from_slice(&bytes);
        }
    }
    assert!(grown == whole);
}

#[test]
fn a_slip_on_the_way_of_a_token_is_found() {
    assert_found(
        &design(|_| {}),
        run_alone,
        &[
            // V of the next token, and of all tokens of its lanes.
            (
                "meshkv_filler",
                "patch_lane = patch_row[LANE_BITS-1:0]",
                "patch_lane = ~patch_row[LANE_BITS-1:0]",
            ),
            ("meshkv_filler", "(~piece_value || first_lane[1:0] == LANE[1:0])", "1'b1"),
            // The token is written where memory's answer for the same place comes later.
            ("meshkv_filler", "patches_q & next_here & ~patched_q", "patches_q & ~patched_q"),
            // The elements of one word in another order.
            ("meshkv_new_token", "word[16*number_q[1:0]+:16]", "word[16*number_q[0]+:16]"),
            // The token of the next KV head.
            ("meshkv_token_words", "shown   = told_q - 1'b1;", "shown   = told_q;"),
            // A token twice.
            ("meshkv_token_words", "told_q      <= leaves ?", "told_q      <= leaves & ~told_q[0] ?"),
        ],
    );
    // A burst is read before it has its part of the token. That loses nothing while it is read later by chance, so the
    // model finds it.
    let early = [("meshkv_filler", "| ahead | unpatched)", "| ahead)")];
    assert_found(&design(|_| {}), run_on, &early);
    // Tokens long enough that a slice can be read while its token is written.
    assert_found(
        &design(|c| (c.pe.head_dim, c.mare.coalesce_window) = (64, 0)),
        run_alone,
        &[
            // What is read while the port writes is left out.
            ("meshkv_slice_streamer", "steps   = advance & ~patch_valid", "steps   = advance"),
            // Words of the next token take places of words that are still needed.
            ("meshkv_new_token", "at_q <= from[AT_WIDTH-1:0] &&", "at_q <= from[AT_WIDTH-1:0] + 1'b1 &&"),
        ],
    );
}

/// A run on a fabric of its own, alone or in lockstep.
type Run = fn(&Library, &Design, &Plan) -> Result<Decoded, DecodeError>;

/// Each of these changes (module, text, other text) is found.
fn assert_found(design: &Design, run: Run, slips: &[(&str, &str, &str)]) {
    let plan = Plan { steps: 2, ..plan(design, &Workload { mapping: Mapping::RowAligned, ..APPENDING }) };
    let done = run(&library_of(FORM, design, &emit(design).unwrap()), design, &plan).unwrap();
    assert_eq!(done.violations, 0);
    for &(module, from, to) in slips {
        let mut files = emit(design).unwrap();
        let file = source_mut(&mut files, module);
        assert_eq!(file.text.matches(from).count(), 1, "{from}");
        file.text = file.text.replace(from, to);
        let done = run(&library_of(FORM, design, &files), design, &plan);
        let caught = done.as_ref().map_or(true, |done| done.violations > 0);
        assert!(caught, "{module}: {to} is not found");
    }
}
