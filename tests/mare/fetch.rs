//! Fetches on the verilated fabric receive every requested flit: home agents, coalescing, multicast.

use crate::support::fetch::{chunk, plan, random_plan, run_clean, run_mutant, run_on, tile};
use crate::support::verilated::{design, lasting_library_of};
use meshkv::config::Config;
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::checks::violation::ViolationKind;
use meshkv::cosim::workloads::fetch::scenario::{self, Workload};
use meshkv::design::Design;
use meshkv::emit::emit;

/// The difference of one kind of fabric from another.
type Change = fn(&mut Config);

fn small(change: impl FnOnce(&mut Config)) -> Design {
    design(3, 2, change)
}

#[test]
fn a_chunk_crosses_each_link_of_its_tree_once_however_many_ask() {
    let design = small(|_| {});
    let flits = u64::from(design.mare.chunk_flits);
    for askers in [vec![4], vec![2, 5], vec![1, 2, 3, 4, 5], vec![0, 3], vec![0]] {
        let mut plan = plan(&design, 1);
        for &t in &askers {
            plan.commands[t].push(chunk(&design, 0, 0, 0, 1, 1));
        }
        let done = run_clean(&design, &plan);
        let elsewhere: Vec<_> = askers.iter().filter(|&&t| t != 0).map(|&t| tile(&design, t)).collect();
        let tree = u64::from(design.mesh.xym_tree_links(tile(&design, 0), &elsewhere));
        assert_eq!(done.data_links, tree * flits, "{askers:?}");
        assert_eq!(done.delivered, askers.len() as u64 * flits, "{askers:?}");
        assert_eq!((done.event("requests_opened"), done.event("retries")), (1, 0), "{askers:?}");
    }
}

#[test]
fn late_arrivals_join_inside_the_window_and_open_a_request_after_it() {
    let design = small(|c| c.mare.coalesce_window = 6);
    // Tiles 1 and 3 are as far from home 0: what they ask apart is how far apart it arrives, up to the
    // row's express path.
    let merged = |offset: u64| {
        let mut plan = plan(&design, 1);
        plan.commands[1].push(chunk(&design, 20, 0, 0, 0, 1));
        plan.commands[2].push(chunk(&design, 20 + offset, 0, 0, 0, 2));
        let done = run_clean(&design, &plan);
        assert_eq!(done.event("requests_opened") + done.event("requests_merged"), 2);
        assert_eq!(done.delivered, 2 * u64::from(design.mare.chunk_flits), "offset {offset}");
        done.event("requests_merged") == 1
    };
    let joined: Vec<_> = (0..16).map(merged).collect();
    let window = joined.iter().filter(|&&m| m).count();
    assert!(joined[..window].iter().all(|&m| m), "a window has no holes: {joined:?}");
    assert!((4..=7).contains(&window), "6 cycles, and the one further hop that tile 2 has: {joined:?}");
}

#[test]
fn each_cycle_of_the_window_counts() {
    let merged = |window: u32| {
        let design = small(|c| c.mare.coalesce_window = window);
        (0..16_u64)
            .filter(|offset| {
                let mut plan = plan(&design, 1);
                // Both fetches come from the home's own tile side by side with no network between.
                plan.commands[0].push(chunk(&design, 20, 0, 0, 0, 1));
                plan.commands[0].push(chunk(&design, 20 + offset, 0, 0, 0, 2));
                run_clean(&design, &plan).event("requests_merged") == 1
            })
            .count() as u64
    };
    // The second command is answered three cycles after the first at the earliest. A fetch that is compared in the
    // cycle in which the window closes joins as well, so a window is a cycle longer.
    let counts = [3, 4, 8].map(merged);
    assert_eq!(counts, [5, 6, 10]);
}

#[test]
fn without_a_window_every_fetch_is_a_request() {
    let design = small(|c| c.mare.coalesce_window = 0);
    let mut plan = plan(&design, 1);
    for t in 1..6 {
        plan.commands[t].push(chunk(&design, 0, 0, 0, 0, 1));
    }
    let done = run_clean(&design, &plan);
    assert_eq!((done.event("requests_opened"), done.event("requests_merged")), (5, 0));
}

#[test]
fn without_multicast_every_requester_gets_a_copy_of_its_own() {
    let design = small(|c| c.mare.multicast = false);
    let mut plan = plan(&design, 1);
    let mut hops = 0;
    for t in 1..6 {
        plan.commands[t].push(chunk(&design, 0, 0, 0, 0, 1));
        hops += u64::from(design.mesh.hops(tile(&design, 0), tile(&design, t)));
    }
    let done = run_clean(&design, &plan);
    assert_eq!(done.data_links, hops * u64::from(design.mare.chunk_flits));
    assert_eq!(done.event("requests_opened"), 1, "they still join one request");
}

#[test]
fn heads_that_ask_again_get_it_again() {
    let design = small(|_| {});
    let mut plan = plan(&design, 1);
    // More often than there are generations, as soon as it has come and later.
    for i in 0..12 {
        plan.commands[4].push(chunk(&design, 150 * (i / 6), 0, 0, 0, 1));
    }
    let done = run_clean(&design, &plan);
    assert_eq!(done.delivered, 12 * u64::from(design.mare.chunk_flits));
    assert_eq!((done.event("fetches"), done.event("retries"), done.event("chunks_dropped")), (12, 0, 0));
}

#[test]
fn random_fetches_bring_every_head_every_flit_once() {
    let design = small(|_| {});
    let mut commands = 0;
    for (seed, gap, stall) in [(1, 40, 0), (2, 5, 60), (3, 0, 0)] {
        let mut plan = random_plan(&design, seed, 1000, gap, 12);
        plan.stall = stall;
        let done = run_clean(&design, &plan);
        commands += done.commands;
        assert_eq!(done.event("retries"), 0, "nothing that was needed was suppressed");
        assert_eq!(done.event("flits_taken"), done.delivered);
    }
    assert!(commands > 20_000, "{commands}");
}

#[test]
fn homes_count_the_slots_of_all_their_channels() {
    // Buffers that fill, so that several channels return credits in one cycle; the bench compares sent and freed.
    for vn1_vcs in [3, 4] {
        let design = small(|c| (c.noc.vn1_vcs, c.noc.vc_depth) = (vn1_vcs, 4));
        let done = run_clean(&design, &random_plan(&design, 3, 400, 0, 12));
        assert!(done.event("stream_stalled") > 0, "{vn1_vcs} channels: nothing has waited");
    }
}

#[test]
fn credits_of_several_channels_that_count_as_one_are_caught() {
    let design = small(|c| (c.noc.vn1_vcs, c.noc.vc_depth) = (4, 4));
    let plan = random_plan(&design, 3, 400, 0, 12);
    let (from, to) = ("freed + {1'b0, tx_credit[n]}", "freed | {1'b0, tx_credit[n]}");
    let done = run_mutant(&design, &plan, "meshkv_tile_port", from, to).unwrap();
    assert!(
        done.violation_list.iter().all(|v| v.kind == ViolationKind::Credits),
        "{:?}",
        done.violation_list
    );
    assert!(done.violations > 0);
}

#[test]
fn every_kind_of_fabric_serves_random_fetches() {
    let kinds: [(&str, Change); 7] = [
        ("no duplicate suppression; deep FIFO, long chunks", |c| {
            (c.mare.dedup, c.pad.fifo_depth) = (false, Some(200));
        }),
        ("unicast; shallow FIFO", |c| (c.mare.multicast, c.pad.fifo_depth) = (false, Some(5))),
        ("no coalescing; stages one after the other", |c| {
            (c.mare.coalesce_window, c.pad.enable) = (0, false);
        }),
        ("nothing of MaRe", |c| c.mare.enable = false),
        ("the smallest filter, refreshed in mid-stream", |c| {
            (c.mare.bloom_bits, c.mare.tag_entries, c.mare.bloom_refresh) = (16, 1, 5);
        }),
        ("one channel of VN0, three of VN1", |c| (c.noc.vn0_vcs, c.noc.vn1_vcs) = (1, 4)),
        ("wide flits, shallow buffers", |c| {
            (c.noc.flit_width, c.noc.vc_depth, c.kv.uram_per_tile) = (256, 2, 8);
        }),
    ];
    for (name, change) in kinds {
        let design = small(change);
        let done = run_clean(&design, &random_plan(&design, 5, 150, 20, 6));
        assert_eq!(done.event("retries"), 0, "{name}");
        assert!(done.delivered > 0, "{name}");
    }
}

#[test]
fn storms_on_large_meshes_end() {
    // Every tile asks without pause, on meshes whose homes, trees and tables are all overloaded.
    for (side, commands) in [(8, 80), (16, 12)] {
        let design = design(side, side, |c| {
            c.noc.flit_width = 64;
            c.model.max_tokens = 1024;
        });
        let library = lasting_library_of(BuildForm::TransportPieces, &design, &emit(&design).unwrap());
        for workload in [
            Workload::Random { commands, gap: 0, slices: 16 },
            Workload::Broadcast { slices: 4, chunks: 6, skew: 1, rotate: false },
        ] {
            let done = run_on(&library, &design, &scenario::plan(&design, &workload, 3).unwrap()).unwrap();
            assert!(
                done.violations == 0 && done.delivered > 0,
                "{side} {workload:?}: {:?}",
                done.violation_list
            );
        }
    }
}
