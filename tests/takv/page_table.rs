//! The table of pages: slices lie where it says, whatever it says. Verilog and model agree in every cycle, and outputs are
//! those of the datapath model in every bit.

use crate::support::attention::{assert_exact, lockstep, small as small_core, tensors, Trouble};
use crate::support::decode::{plan, run_clean, run_on, small, whole_library, FORM, LOAD, MAPPINGS};
use crate::support::device::{apart, growing, joined, MOST};
use crate::support::sources::source_mut;
use crate::support::verilated::{emitted, library_of};
use meshkv::config::{Config, PlacementKind, Spread};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::workloads::attention::{AttentionResult, Job};
use meshkv::cosim::workloads::decode::{Plan, Workload};
use meshkv::cosim::workloads::device::{Notice, Platform};
use meshkv::cosim::workloads::shuffled;
use meshkv::design::device::registers::error;
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::emit::emit;
use meshkv::model::datapath::tensors::Logits;

/// Streams of different mappings that share a prefix, and two layers.
const WORK: Workload = Workload { tokens: 61, batch: 3, prefix: 16, layers: 2, ..LOAD };

fn paged(change: impl FnOnce(&mut Config)) -> Design {
    small(|c| {
        c.kv.pages = true;
        change(c);
    })
}

#[test]
fn steps_take_as_long_on_coloured_pages_as_on_caches_of_their_own() {
    for change in [(|c| c.takv.column_stride = 1) as fn(&mut Config), |c| {
        (c.takv.spread, c.takv.swap_epoch) = (Spread::Slice, None)
    }] {
        let [without, with] = [small(change), paged(change)];
        for mapping in MAPPINGS {
            let load = Workload { mapping, ..WORK };
            let [a, b] = [&without, &with].map(|design| {
                let what = format!("{mapping:?}");
                run_clean(&whole_library(design), design, &plan(design, &load), &what)
            });
            // The look-up takes two cycles of each descriptor.
            assert!(b.cycles * 100 <= a.cycles * 101, "{mapping:?}: {} and {}", a.cycles, b.cycles);
            assert_eq!(a.head_flits, b.head_flits);
        }
    }
}

#[test]
fn any_order_of_pages_will_do() {
    let change: [fn(&mut Config); 4] = [
        |c| c.takv.column_stride = 1,
        |c| (c.takv.spread, c.takv.swap_epoch) = (Spread::Slice, None),
        |c| c.takv.placement = PlacementKind::RoundRobin,
        // More caches than streams, pages that are no power of two, and a new token.
        |c| {
            (c.kv.caches, c.kv.page_count, c.kv.append) = (Some(7), Some(203), true);
            c.noc.router_stages = 3;
        },
    ];
    for (at, change) in change.into_iter().enumerate() {
        let design = shuffled(paged(change), at as u64 + 5);
        for (mapping, sharing) in
            MAPPINGS.into_iter().zip([Sharing::KvHead, Sharing::KvHead, Sharing::Segment])
        {
            let append = design.append.is_some();
            let load = Workload { mapping, sharing, append, ..WORK };
            let plan = Plan { steps: 2, ..plan(&design, &load) };
            run_clean(&whole_library(&design), &design, &plan, &format!("design {at}, {mapping:?}"));
        }
    }
}

#[test]
fn pages_may_swap_their_homes() {
    let design = shuffled(paged(|c| (c.takv.swap_epoch, c.takv.column_stride) = (Some(1), 1)), 3);
    let plan = Plan { steps: 3, ..plan(&design, &Workload { layers: 1, ..WORK }) };
    run_clean(&whole_library(&design), &design, &plan, "swaps");
}

#[test]
fn slips_of_the_table_are_found() {
    let design = shuffled(paged(|c| c.takv.column_stride = 1), 2);
    let plan = plan(&design, &WORK);
    for (module, from, to) in [
        ("meshkv_page_table", "entry = {cache, segment}", "entry = {cache, segment ^ 1'b1}"),
        ("meshkv_page_table", "if (write_q) mem", "if (page_valid) mem"),
        ("meshkv_page_table", "page_q  <= valid_q ? lane", "page_q  <= valid ? lane"),
        (
            "meshkv_column_controller",
            "page_s2b, rows_s2b_q, mask_s2b_q, column_s2b_q,",
            "page_s2b, rows_s2b_q, mask_s2b_q, column_s2a_q,",
        ),
    ] {
        let mut files = emit(&design).unwrap();
        let text = &mut source_mut(&mut files, module).text;
        assert_eq!(text.matches(from).count(), 1, "{from}");
        *text = text.replace(from, to);
        let done = run_on(&library_of(FORM, &design, &files), &design, &plan);
        assert!(done.is_err(), "{module}: {from}");
    }
}

fn attended(design: &Design, lengths: &[u32], mapping: Mapping) -> AttentionResult {
    let tokens = lengths.iter().sum::<u32>() as usize;
    let tensors = tensors(design, tokens, lengths.len(), Logits::Normal, 5);
    let job = Job::ragged(design, &tensors, 0, lengths, mapping, Sharing::KvHead).unwrap();
    let trouble = Trouble { stall: 120, unruly: true, noise: 7 };
    let done = lockstep(&emitted(design), &job, trouble, Clocks::IN_STEP).unwrap();
    assert_eq!(done.violations, [""; 0], "{mapping:?}");
    assert_exact(&done, &format!("{mapping:?}"));
    done
}

/// FP16 numbers between two.
fn apart_by(a: u16, b: u16) -> u16 {
    let order = |bits: u16| if bits & 0x8000 == 0 { 0x8000 | bits } else { !bits };
    order(a).abs_diff(order(b))
}

#[test]
fn outputs_of_any_order_are_the_models_and_near_those_of_the_first_order() {
    let lengths = [70, 256, 9];
    let (mut all, mut other) = (0, 0);
    for (seed, spread) in [(1, Spread::Segment), (2, Spread::Slice), (3, Spread::Slice)] {
        let design = small_core(|c| {
            (c.model.max_streams, c.kv.pages, c.takv.spread) = (3, true, spread);
            (c.takv.column_stride, c.takv.swap_epoch) = (u32::from(spread == Spread::Segment), Some(0));
        });
        let moved = shuffled(design.clone(), seed);
        let [a, b] = [&design, &moved].map(|design| attended(design, &lengths, Mapping::RowAligned));
        for (of, output) in &a.outputs {
            for (x, y) in output.iter().zip(&b.outputs[of]) {
                let ulps = apart_by(*x, *y);
                assert!(ulps <= 1, "{of:?}: {x:x} and {y:x}");
                (all, other) = (all + 1, other + u32::from(ulps > 0));
            }
        }
    }
    assert!(other * 1000 <= all, "{other} of {all} outputs differ");
}

#[test]
fn a_device_gets_its_table_by_a_register() {
    let design = {
        let mut config = growing().configuration().clone();
        (config.kv.pages, config.kv.caches, config.kv.page_count) = (true, Some(5), Some(75));
        shuffled(Design::from_config("paged", &config).unwrap(), 9)
    };
    let tensors = tensors(&design, 61 + 17, 2, Logits::Normal, 3);
    let platform = Platform::of(&design);
    let mut bench = joined(&design, &platform, &apart(4));
    let job = Job::ragged(&design, &tensors, 0, &[61, 17], Mapping::RowAligned, Sharing::KvHead).unwrap();
    for job in [job.clone(), job.appending()] {
        let finished = bench.run(&job, Notice::Polling, MOST, &mut |_| false).unwrap();
        assert!(finished.bit_exact(), "{:?}", finished.violations);
    }
    // A page beyond the pool is refused, and nothing changes.
    let entry = design.pages.as_ref().unwrap();
    bench.driver.write("PAGE", entry.entry(1, 0) << entry.page_width() | entry.count).unwrap();
    let outcome = bench.driver.outcome().unwrap();
    assert_eq!(outcome.error, 1 << error("ACCESS").bit, "{}", outcome.errors());
}
