//! Homes that swap between two steps: nothing is lost, and nothing comes from the wrong tile.

use crate::support::decode::{self, plan, run_clean, small, whole_library, FORM, LOAD, MAPPINGS, SHARINGS};
use crate::support::verilated::lasting_library_of;
use meshkv::config::Config;
use meshkv::cosim::workloads::decode::{Plan, Workload};
use meshkv::design::Design;
use meshkv::emit::emit;

/// A design in which every other segment, as in `SKEWED`, lies in row 0, in each of its columns.
fn skewed(epoch: u32, change: impl Fn(&mut Config)) -> Design {
    small(|c| {
        (c.takv.column_stride, c.takv.swap_epoch) = (1, Some(epoch));
        change(c);
    })
}

const SKEWED: Workload = Workload { tokens: 250, stride: 2, ..LOAD };

fn steps(plan: Plan, steps: u32) -> Plan {
    Plan { steps, ..plan }
}

#[test]
fn homes_swap_in_the_middle_of_a_run_and_nothing_is_lost() {
    let design = skewed(1, |_| {});
    let library = lasting_library_of(FORM, &design, &emit(&design).unwrap());
    let mut swaps = 0;
    for mapping in MAPPINGS {
        for sharing in SHARINGS {
            let load = Workload { mapping, sharing, batch: 2, prefix: 100, ..SKEWED };
            let plan = steps(plan(&design, &load), 6);
            let done = run_clean(&library, &design, &plan, &format!("{mapping:?} {sharing:?}"));
            swaps += done.steps.iter().map(|s| s.swaps.len()).sum::<usize>();
            assert!(done.steps.iter().all(|s| s.occupancy.len() == 6));
        }
    }
    assert!(swaps > 0, "a skewed load makes homes swap");
}

#[test]
fn homes_swap_every_epoch_and_not_before() {
    let design = skewed(3, |_| {});
    let library = whole_library(&design);
    let plan = steps(plan(&design, &SKEWED), 10);
    let done = run_clean(&library, &design, &plan, "an epoch of 3");
    for (number, step) in done.steps.iter().enumerate() {
        assert!(step.swaps.is_empty() || number % 3 == 2, "{number}: {:?}", step.swaps);
    }
    assert!(done.steps.iter().any(|s| !s.swaps.is_empty()));
}

#[test]
fn occupancies_of_all_columns_arrive_and_are_those_of_the_homes() {
    // As many columns as send their values at the same time.
    for (cols, rows) in [(12, 2), (3, 4)] {
        let design =
            decode::sized(cols, rows, |c| (c.takv.column_stride, c.takv.swap_epoch) = (1, Some(1000)));
        let library = whole_library(&design);
        let load = Workload { tokens: 8 * (rows + 1), segments: Some(rows + 1), ..LOAD };
        let done = run_clean(&library, &design, &steps(plan(&design, &load), 2), &format!("{cols} x {rows}"));
        let homes: Vec<_> = (0..=rows).map(|s| design.placement.home(0, s)).collect();
        // Homes are sampled when all has been said, and send what was asked of them after that: of a short
        // step the next one tells.
        let occupancy = &done.steps[1].occupancy;
        for tile in design.mesh.nodes() {
            let occupied = occupancy[tile.index()] > 0;
            assert_eq!(occupied, homes.contains(&tile), "{cols} x {rows}: {occupancy:?}");
        }
    }
}

#[test]
fn what_is_sent_after_a_call_counts_in_the_step_that_follows() {
    // How long a flit keeps its slot depends on the cycle in which its step begins: a twentieth at most.
    short_steps_have_equal_sums(2, 20);
}

#[test]
fn occupancies_do_not_drift_with_several_channels_of_data() {
    for vn1_vcs in [3, 4] {
        // Slices of several channels share the router's input in an order that depends on that cycle too. A credit
        // that is lost adds a slot to all cycles of all later steps. A ninth was seen, between the first two.
        short_steps_have_equal_sums(vn1_vcs, 8);
    }
}

/// Runs steps that are all sent after their call, with so many channels of VN1. Their sums differ by one part in
/// `parts` at most.
fn short_steps_have_equal_sums(vn1_vcs: u32, parts: u64) {
    // With ports for pairs the steps take turns with the memory's pace alike; with a port a tile every second does.
    let design = skewed(1000, |c| (c.memory.tiles_per_port, c.noc.vn1_vcs) = (Some(2), vn1_vcs));
    let library = whole_library(&design);
    let plan = steps(plan(&design, &Workload { tokens: 32, ..SKEWED }), 8);
    let done = run_clean(&library, &design, &plan, "short steps");
    // The mean of a step is half of what was added up and half of the mean before.
    let mut before = vec![0; design.mesh.tiles()];
    let mut sums = Vec::new();
    for step in &done.steps {
        sums.push(step.occupancy.iter().zip(&before).map(|(mean, old)| 2 * mean - old).collect::<Vec<_>>());
        before.clone_from(&step.occupancy);
    }
    // All of so short a step is sent after its call; then each call finds just what one step sends.
    assert!(sums[0].iter().all(|&sum| sum == 0), "{sums:?}");
    let alike = |a: &[u64], b: &[u64]| a.iter().zip(b).all(|(a, b)| parts * a.abs_diff(*b) <= *a.max(b));
    assert!(sums[2..].iter().all(|sum| alike(sum, &sums[1])), "{sums:?}");
    // A flit has its slot for one cycle at least.
    let sent = (done.event("flits_streamed") - done.event("flits_kept")) / done.steps.len() as u64;
    assert!(sums[1].iter().sum::<u64>() >= sent && sent > 0, "{sums:?} {sent}");
}
