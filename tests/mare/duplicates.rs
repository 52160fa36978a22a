//! Duplicates of every cause are suppressed, needed flits are not, and a filter that does otherwise is found.

use crate::support::fetch::{chunk, plan, random_plan, run_clean, run_mutant, slice, tile};
use crate::support::verilated::design;
use meshkv::config::Config;
use meshkv::cosim::workloads::fetch::{Fetched, Plan, Resident};
use meshkv::design::Design;

/// The difference of one fabric from another.
type Change = fn(&mut Config);

/// A fabric with a short window and a filter memory that outlasts its requests. Links have no registers between SLRs:
/// which requests meet in a window depends on the cycle, and a register would change it.
fn fabric(change: impl FnOnce(&mut Config)) -> Design {
    design(3, 2, |c| {
        c.mare.coalesce_window = 4;
        c.mare.bloom_refresh = 200;
        c.floorplan.slr_registers = false;
        change(c);
    })
}

/// Runs a plan with and without suppression: traffic falls by the redundant flits and by nothing else.
fn both_ways(change: Change, make: impl Fn(&Design) -> Plan) -> (Fetched, Fetched) {
    let with = fabric(change);
    let without = fabric(|c| {
        change(c);
        c.mare.dedup = false;
    });
    let (with, without) = (run_clean(&with, &make(&with)), run_clean(&without, &make(&without)));
    assert_eq!(with.delivered, without.delivered);
    (with, without)
}

#[test]
fn heads_that_miss_the_window_cost_no_second_stream() {
    // Head 1 asks while head 0's fetch is under way, too late to be merged at the home.
    let (with, without) = both_ways(
        |_| {},
        |design| {
            let mut plan = plan(design, 1);
            plan.commands[5].push(chunk(design, 0, 0, 0, 0, 1));
            plan.commands[5].push(chunk(design, 7, 0, 0, 0, 2));
            plan
        },
    );
    assert_eq!(
        (with.event("joins"), with.event("requests_opened"), with.event("requests_merged")),
        (1, 2, 0)
    );
    assert_eq!((with.event("chunks_dropped"), with.event("duplicate_flits")), (1, 0));
    assert_eq!(2 * with.data_links, without.data_links);
    assert!(without.event("duplicate_flits") > 0, "the requester drops what the home does not");
}

#[test]
fn where_nothing_is_repeated_suppression_costs_no_cycle() {
    // Two tiles ask for the same chunk, too far apart to be merged. The look-up passes while the tree is built.
    let (with, without) = both_ways(
        |_| {},
        |design| {
            let mut plan = plan(design, 1);
            plan.commands[5].push(chunk(design, 0, 0, 0, 0, 1));
            plan.commands[2].push(chunk(design, 9, 0, 0, 0, 1));
            plan
        },
    );
    assert_eq!((with.event("requests_merged"), with.event("exact_hits")), (0, 1));
    assert_eq!(with.data_links, without.data_links);
    // Without it a chunk may meet the end of the one before a cycle later.
    assert!(with.cycles <= without.cycles, "{} {}", with.cycles, without.cycles);
}

#[test]
fn of_overlapping_trees_only_the_new_branches_are_sent() {
    // Tile 5 asks, and again together with tile 2, whose request is a new one.
    let (with, without) = both_ways(
        |_| {},
        |design| {
            let mut plan = plan(design, 1);
            plan.commands[5].push(chunk(design, 0, 0, 0, 0, 1));
            plan.commands[2].push(chunk(design, 9, 0, 0, 0, 1));
            plan.commands[5].push(chunk(design, 9, 0, 0, 0, 2));
            plan
        },
    );
    assert_eq!((with.event("requests_opened"), with.event("requests_merged")), (2, 1));
    assert_eq!((with.event("chunks_trimmed"), with.event("duplicate_flits")), (1, 0));
    assert!(with.data_links < without.data_links, "{} {}", with.data_links, without.data_links);
}

/// A plan whose slice becomes resident long after the first request, and after the repeated one.
fn late_slice(design: &Design) -> Plan {
    let mut plan = plan(design, 1);
    let published = u64::from(design.mare.retry_cycles().1) * 2 + 50;
    plan.residents[0].cycle = published;
    plan.watchdog = 10 * published;
    plan.commands[5].push(chunk(design, 0, 0, 0, 0, 1));
    plan
}

#[test]
fn retries_of_what_was_only_late_cost_nothing() {
    // The first request waits for its slice, so the home drops the others, with a filter or without.
    let (with, without) = both_ways(|c| c.mare.coalesce_window = 0, late_slice);
    assert!(with.event("retries") >= 1, "{}", with.event("retries"));
    assert_eq!(with.event("retries"), without.event("retries"));
    assert_eq!((with.event("duplicate_flits"), without.event("duplicate_flits")), (0, 0));
    assert_eq!((with.event("fetches_parked"), without.event("fetches_parked")), (1, 1));
    assert_eq!(with.data_links, without.data_links);
}

#[test]
fn retries_of_a_request_that_waits_for_its_slice_open_none() {
    let design = fabric(|_| {});
    let done = run_clean(&design, &late_slice(&design));
    assert!(done.event("retries") >= 1, "{}", done.event("retries"));
    assert_eq!((done.event("requests_opened"), done.event("requests_merged")), (1, 0));
    assert_eq!((done.event("chunks_dropped"), done.event("duplicate_flits")), (0, 0));
}

#[test]
fn a_false_positive_of_the_bloom_filter_drops_nothing() {
    // Eight bits a hash and dozens of chunks in two periods: by construction most look-ups collide.
    let design = fabric(|c| (c.mare.bloom_bits, c.mare.tag_entries) = (16, 64));
    let done = run_clean(&design, &random_plan(&design, 3, 300, 10, 12));
    let (positives, exact) = (done.event("bloom_false_positives"), done.event("exact_hits"));
    assert!(positives > 400, "{positives} false, {exact} exact");
    assert_eq!(done.event("retries"), 0);
}

#[test]
fn a_full_table_forwards() {
    let design = fabric(|c| c.mare.tag_entries = 1);
    let done = run_clean(&design, &random_plan(&design, 4, 300, 10, 12));
    assert!(done.event("tags_full") > 500, "{}", done.event("tags_full"));
    assert_eq!(done.event("retries"), 0);
}

#[test]
fn a_refresh_in_mid_stream_loses_nothing() {
    // Periods shorter than a chunk, and than any way there and back.
    for refresh in [1, 3, 9] {
        let design = fabric(|c| c.mare.bloom_refresh = refresh);
        let done = run_clean(&design, &random_plan(&design, 6, 200, 10, 12));
        assert_eq!(done.event("retries"), 0, "{refresh}");
    }
}

#[test]
fn a_full_request_table_holds_back_fetches_and_nothing_else() {
    // Tiles ask home 0 for more chunks, each for itself, than it has entries.
    let design = fabric(|c| (c.mare.request_entries, c.mare.coalesce_window) = (2, 0));
    let mut plan = plan(&design, 13);
    for t in 1..6 {
        for c in 0..8 {
            plan.commands[t].push(chunk(&design, 0, 0, 0, c % 4, 1));
        }
    }
    // What tile 0 asks of another home comes while its own table is full.
    plan.commands[0].push(chunk(&design, 40, 10, 4, 0, 1));
    let done = run_clean(&design, &plan);
    assert!(done.event("table_full_cycles") > 100, "{}", done.event("table_full_cycles"));
    assert!(done.last_flit[0] < 120, "{}", done.last_flit[0]);
    assert_eq!(done.delivered, 41 * u64::from(design.mare.chunk_flits));
}

#[test]
fn fetches_for_what_is_missing_hold_back_nothing() {
    // Slices of home 0 are awaited by more fetches than it has entries; none is resident until late.
    let design = fabric(|c| (c.model.kv_heads, c.mare.request_entries) = (16, 4));
    let mut plan = plan(&design, 1);
    for g in 1..12 {
        plan.residents.push(Resident { slice: slice(g), home: tile(&design, 0), cycle: 400 });
    }
    for t in 0..6 {
        for g in 0..2 {
            plan.commands[t].push(chunk(&design, 0, t as u32 * 2 + g, 0, 0, 1));
        }
    }
    // Then a tile asks the same home for what it has.
    plan.commands[5].push(chunk(&design, 200, 0, 0, 0, 1));
    let done = run_clean(&design, &plan);
    assert_eq!(done.event("fetches_parked"), 11);
    assert!(done.first_flit < 300, "{}", done.first_flit);
    assert_eq!(done.delivered, 13 * u64::from(design.mare.chunk_flits));
}

#[test]
fn repeats_of_a_fetch_are_not_parked() {
    // Two tiles ask for a slice that is not there yet, each with four heads in turn: the later ones join the first.
    let design = fabric(|_| {});
    let mut plan = plan(&design, 1);
    plan.residents[0].cycle = 600;
    for t in [0, 4] {
        for head in 0..4 {
            plan.commands[t].push(chunk(&design, 20 * head, 0, 0, 0, 1 << head));
        }
    }
    let done = run_clean(&design, &plan);
    assert_eq!((done.event("fetches"), done.event("joins"), done.event("retries")), (2, 6, 0));
    assert_eq!(done.event("fetches_parked"), 2);
    let flits = u64::from(design.mare.chunk_flits);
    assert_eq!((done.delivered, done.head_flits), (2 * flits, 8 * flits));
    let (from, to) = ("(swept_q | ~again)", "1'b1");
    let parked =
        run_mutant(&design, &plan, "meshkv_fetch_miss_queue", from, to).unwrap().event("fetches_parked");
    assert_eq!(parked, 8);
}

/// Asserts that a broken filter shows in random fetches: as a violation, a flit that never arrives, or a flit that
/// arrives only after a repeated request.
fn is_caught(design: &Design, file: &str, from: &str, to: &str) {
    let mut plan = random_plan(design, 8, 300, 15, 6);
    plan.watchdog = 4 * u64::from(design.mare.retry_cycles().1);
    match run_mutant(design, &plan, file, from, to) {
        Ok(done) => {
            assert!(done.violations > 0 || done.event("retries") > 0, "{from} -> {to} goes unnoticed")
        }
        Err(error) => println!("{error}"),
    }
}

#[test]
fn a_filter_that_trusts_the_bloom_filter_is_caught() {
    let design = fabric(|c| c.mare.bloom_bits = 16);
    let (from, to) =
        ("wire [TILES-1:0] left   = s_dest & ~served;", "wire [TILES-1:0] left = s_dest & {TILES{~seen_q}};");
    is_caught(&design, "meshkv_duplicate_filter", from, to);
}

#[test]
fn a_filter_that_ignores_the_generation_is_caught() {
    let design = fabric(|_| {});
    let gen = "s_key};";
    is_caught(&design, "meshkv_duplicate_filter", gen, "s_key & {2'b00, {KEY_WIDTH-2{1'b1}}}};");
}

#[test]
fn a_filter_that_forgets_a_destination_is_caught() {
    let design = fabric(|_| {});
    let (from, to) = ("s_dest & ~served;", "s_dest & ~served & ~(served << 1);");
    is_caught(&design, "meshkv_duplicate_filter", from, to);
}

#[test]
fn a_home_that_forgets_who_joined_is_caught() {
    let design = fabric(|_| {});
    let (from, to) = ("dest_mem[asked] <= p_tile_q |", "dest_mem[asked] <= (p_tile_q & {TILES{|opens}}) |");
    is_caught(&design, "meshkv_request_table", from, to);
}

#[test]
fn a_requester_that_takes_duplicates_is_caught() {
    let design = fabric(|c| c.mare.dedup = false);
    let from = "&& x_index_q == next;\n";
    is_caught(&design, "meshkv_requester", from, ";\n");
}

#[test]
fn a_requester_that_reserves_no_room_is_caught() {
    let design = fabric(|_| {});
    let from = "(reserve_valid ? reserve_count : {ROOM_WIDTH{1'b0}})";
    let mut plan = random_plan(&design, 8, 200, 0, 6);
    plan.stall = 250;
    let done = run_mutant(&design, &plan, "meshkv_reorder_fifo", from, "{ROOM_WIDTH{1'b0}}");
    let error = done.expect_err("the FIFO runs over").to_string();
    // Where the word that is lost is the one that is awaited, nothing moves any more.
    let caught = ["a word came for a place that is taken", "nothing has moved"];
    assert!(caught.iter().any(|found| error.contains(found)), "{error}");
}
