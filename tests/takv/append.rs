//! New tokens: each is written to external memory, once and where it belongs, and attended to in the same step without
//! memory having it. The Verilog and its model agree in every cycle.

use crate::support::decode::{plan, run_clean, small, whole_library, LOAD, MAPPINGS};
use meshkv::config::Config;
use meshkv::cosim::workloads::decode::{Plan, Workload};
use meshkv::design::{Design, Mapping, Sharing};

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
    let tokens = u64::from(load.batch * load.layers * design.config.model.kv_heads) * u64::from(plan.steps);
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
