//! Cycles of a call on a small device: between its start and the first fetch, after the last output, and from one run
//! to the next. Arguments are read again only as far as they changed, and then without exception.

use crate::support::device::{assert_error, assert_rules, job, run_clean, small, tensors, whole, MOST};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::workloads::attention::Job;
use meshkv::cosim::workloads::device::{Bench, CallCost, CallEvent, Calls, Notice, Platform};
use meshkv::design::{Design, Mapping};

/// Most cycles from the last beat of outputs to the interrupt, and from there to the next run's first fetch.
const END: u64 = 100;
/// Cycles in which one argument passes by, and those in which accesses under way end.
const PASSING: u64 = 2;

fn timed(bench: &mut Bench, job: &Job, what: &str) -> CallCost {
    bench.driver.device.time_calls();
    run_clean(bench, job, Notice::Interrupt, what);
    calls(bench).cost(CallEvent::Start, 0)
}

fn calls(bench: &mut Bench) -> Calls {
    bench.driver.device.take_calls().expect("they were recorded")
}

fn arguments(design: &Design) -> u64 {
    design.arguments().len() as u64
}

#[test]
fn arguments_that_have_not_changed_are_not_read_again() {
    let design = small();
    let tensors = tensors(&design, 40, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &Clocks::IN_STEP);
    let first = timed(&mut bench, &job, "first");
    // All arguments are written again, as they are.
    let second = timed(&mut bench, &job, "second");
    let saved = first.to_fetch.unwrap() - second.to_fetch.unwrap();
    assert!(saved >= PASSING * arguments(&design), "{saved} cycles saved");
    for cost in [first, second] {
        assert!(cost.to_done.unwrap() <= END, "{cost:?}");
    }
}

#[test]
fn a_run_that_follows_another_begins_to_fetch_at_once() {
    let design = small();
    let tensors = tensors(&design, 40, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &Clocks::IN_STEP);
    bench.load(&job).unwrap();
    bench.push(&job).unwrap();
    bench.driver.enable(Notice::Interrupt).unwrap();
    bench.driver.device.time_calls();
    bench.driver.write("CTRL", 0x81).unwrap();
    // The second run uses the queries of the first.
    bench.push(&job).unwrap();
    bench.driver.write("QUERY_STREAMS", 0).unwrap();
    for run in 0..2 {
        let outcome = bench.driver.wait(Notice::Interrupt, MOST, &mut |_| false).unwrap();
        assert_eq!(outcome.error, 0, "run {run}: {}", outcome.errors());
        let done = bench.take(&job, outcome);
        assert!(done.bit_exact(), "run {run}");
        bench.driver.write("CTRL", 0).unwrap();
    }
    let cost = calls(&mut bench).cost(CallEvent::Done, 0);
    assert!(cost.to_fetch.unwrap() <= END && cost.to_done.unwrap() <= END, "{cost:?}");
    assert_rules(&bench, "two runs");
}

#[test]
fn each_argument_that_changes_is_used_by_the_next_run() {
    let design = small();
    let tensors = tensors(&design, 40, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &Clocks::IN_STEP);
    run_clean(&mut bench, &job, Notice::Interrupt, "first");
    let start = |bench: &mut Bench| {
        bench.driver.clear().unwrap();
        bench.driver.start().unwrap();
        bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap()
    };
    let count = arguments(&design) as u32;
    for number in 0..count {
        // A run that is refused leaves descriptors: they are those of the next.
        bench.load(&job).unwrap();
        bench.push(&job).unwrap();
        let word = Design::argument_offset(number);
        let [low, high] = [0, 4].map(|at| bench.driver.device.read(word + at).unwrap());
        bench.driver.argument(number, 8).unwrap();
        // Another argument that is wrong later than this one, and is put right first.
        let last = Design::argument_offset(count - 1);
        let kept = bench.driver.device.read(last).unwrap();
        bench.driver.device.write(last, kept + 4).unwrap();
        assert_eq!(assert_error(&start(&mut bench), "ARGUMENT", "both wrong"), number);
        bench.driver.device.write(word, low).unwrap();
        bench.driver.device.write(word + 4, high).unwrap();
        if number + 1 < count {
            assert_eq!(assert_error(&start(&mut bench), "ARGUMENT", "the last is wrong"), count - 1);
            assert_eq!(assert_error(&start(&mut bench), "ARGUMENT", "it still is"), count - 1);
            bench.driver.device.write(last, kept).unwrap();
        }
        let outcome = start(&mut bench);
        assert_eq!(outcome.error, 0, "argument {number}: {}", outcome.errors());
        let done = bench.take(&job, outcome);
        assert!(done.bit_exact(), "argument {number}");
    }
    assert_rules(&bench, "arguments");
}
