//! Registers in every order, legal and not, beside a model of the register file: read values, reported errors, the
//! interrupt. Between the accesses there are runs that must be exact.

use crate::support::device;
use crate::support::device::any_host::{Host, ACTS};
use crate::support::device::register_file::Reference;
use crate::support::device::{apart, assert_clean, assert_rules, growing, job, small, tensors, whole, MOST};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::workloads::attention::Job;
use meshkv::cosim::workloads::device::{Bench, DeviceError, Notice, Outcome, Platform};
use meshkv::design::device::registers::{named, DESC_QUEUE, WATCHDOG};
use meshkv::design::Descriptor;
use meshkv::design::{Design, Mapping, Sharing};

fn legal(design: &Design) -> Descriptor {
    Descriptor {
        prefix: 0,
        layer: 0,
        first: 0,
        stride: 1,
        count: 3,
        first_row: 0,
        last_row: design.placement.segment_tokens - 1,
        stream: 0,
        streams: 2,
        mapping: Mapping::RowAligned,
        sharing: Sharing::KvHead,
        close: true,
        append: false,
        step: true,
    }
}

#[test]
fn any_sequence_of_accesses_does_what_the_tables_say() {
    any_sequence(&small());
}

#[test]
fn so_it_does_where_the_cache_can_be_written() {
    any_sequence(&growing());
}

fn any_sequence(design: &Design) {
    let tensors = tensors(design, 24, 5);
    let job = job(design, &tensors, Mapping::RowAligned);
    for seed in 1..5 {
        let mut host = Host::new(design, &apart(seed), seed);
        for step in 0..400 {
            host.what = format!("seed {seed}, step {step}");
            match host.below(20) {
                0..8 => host.write(),
                8..13 => {
                    let offset = host.offset();
                    host.read(offset);
                }
                13..16 => {
                    let d = host.any_descriptor(&legal(design));
                    host.push(&d, 1);
                }
                16 => {
                    // Whatever waits is not worked off: no descriptor of these has its data.
                    if !host.reference.start_refusals().is_empty() {
                        host.set("WATCHDOG", WATCHDOG);
                        host.set("LIST_COUNT", 0);
                        host.start();
                    }
                }
                17 if step % 4 == 0 => host.soft_reset(),
                _ => host.check(),
            }
            if step % 100 == 99 {
                host.run(&job);
            }
        }
        assert_rules(&host.bench, &host.what);
    }
}

#[test]
fn every_word_of_the_map_can_be_read_and_written() {
    let design = small();
    let mut host = Host::new(&design, &Clocks::IN_STEP, 1);
    for offset in Reference::offsets() {
        host.what = format!("register {offset:#05x}");
        host.read(offset);
        if ACTS.iter().all(|name| named(name).offset != offset) {
            for value in [u32::MAX, 0] {
                host.reference.write(offset, value, 0xf);
                host.bench.driver.device.write(offset, value).unwrap();
                host.read(offset);
            }
        }
        host.check();
        host.reference.write(named("ERROR").offset, u32::MAX, 0xf);
        host.bench.driver.clear().unwrap();
    }
    assert_rules(&host.bench, "all words");
}

#[test]
fn a_full_queue_refuses_and_keeps_what_it_has() {
    let design = small();
    let tensors = tensors(&design, 24, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut host = Host::new(&design, &Clocks::IN_STEP, 2);
    let open = Descriptor { close: false, ..legal(&design) };
    for _ in 0..DESC_QUEUE + 2 {
        host.push(&open, 1);
    }
    host.check();
    host.start();
    assert_eq!(host.bench.driver.read("DESC_FREE").unwrap(), 0);
    host.run(&job);
}

#[test]
fn starting_twice_is_refused_and_the_run_goes_on() {
    let design = small();
    let tensors = tensors(&design, 40, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut host = Host::new(&design, &apart(3), 3);
    for _ in 0..3 {
        host.bench.driver.clear().unwrap();
        host.bench.load(&job).unwrap();
        host.bench.start(&job).unwrap();
        host.bench.driver.write("CTRL", 1).unwrap();
        let outcome = host.bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap();
        device::assert_error(&outcome, "START_BUSY", "a second start");
        let done = host.bench.take(&job, outcome);
        assert_clean(&host.bench, &done, "a second start");
    }
}

#[test]
fn a_watchdog_that_is_too_short_ends_the_run() {
    let design = small();
    let tensors = tensors(&design, 40, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &apart(1));
    for limit in [0, 1, 20] {
        bench.driver.clear().unwrap();
        bench.driver.enable(Notice::Interrupt).unwrap();
        bench.driver.write("WATCHDOG", limit).unwrap();
        bench.load(&job).unwrap();
        bench.start(&job).unwrap();
        let outcome = bench.driver.wait(Notice::Interrupt, MOST, &mut |_| false).unwrap();
        device::assert_error(&outcome, "WATCHDOG", &format!("a limit of {limit}"));
        bench.driver.write("WATCHDOG", WATCHDOG).unwrap();
        bench.driver.settle(MOST).unwrap();
        device::run_clean(&mut bench, &job, Notice::Interrupt, &format!("after a limit of {limit}"));
    }
}

/// Starts what was pushed, with queries of so many streams, and waits for the end.
fn start_with(bench: &mut Bench, streams: u32) -> Outcome {
    bench.driver.clear().unwrap();
    bench.driver.write("QUERY_STREAMS", streams).unwrap();
    bench.driver.start().unwrap();
    bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap()
}

#[test]
fn streams_attend_only_with_queries_that_were_loaded_since_the_reset() {
    let design = small();
    let others = tensors(&design, 40, 6);
    let tensors = tensors(&design, 40, 5);
    let [first, next] = [&tensors, &others].map(|t| job(&design, t, Mapping::RowAligned));
    let mut bench = whole(&design, &Platform::of(&design), &apart(4));
    let refused = |bench: &mut Bench, streams: u32, what: &str| {
        let outcome = start_with(bench, streams);
        assert_eq!(device::assert_error(&outcome, "START_UNLOADED", what), 1, "{what}: not stream 1");
    };
    let clean = |bench: &mut Bench, job: &Job, streams: u32, what: &str| {
        let outcome = start_with(bench, streams);
        assert_eq!(outcome.error, 0, "{what}: {}", outcome.errors());
        let done = bench.take(job, outcome);
        assert_clean(bench, &done, what);
    };
    let prepare = |bench: &mut Bench, job: &Job| {
        bench.load(job).unwrap();
        bench.push(job).unwrap();
    };
    prepare(&mut bench, &first);
    refused(&mut bench, 0, "no queries");
    refused(&mut bench, 1, "those of one stream");
    clean(&mut bench, &first, 2, "those of both");
    prepare(&mut bench, &first);
    clean(&mut bench, &first, 0, "those of the run before");
    // A reset of the core, by itself or after an error, loses them.
    bench.driver.write("SOFT_RESET", 1).unwrap();
    bench.driver.settle(MOST).unwrap();
    prepare(&mut bench, &next);
    refused(&mut bench, 0, "after a reset");
    bench.driver.write("WATCHDOG", 1).unwrap();
    device::assert_error(&start_with(&mut bench, 2), "WATCHDOG", "a run that is cut off");
    bench.driver.write("WATCHDOG", WATCHDOG).unwrap();
    bench.driver.settle(MOST).unwrap();
    prepare(&mut bench, &next);
    refused(&mut bench, 1, "after a run that was cut off");
    clean(&mut bench, &next, 2, "queries of its own");
    assert_rules(&bench, "queries");
}

/// AP_START and AUTO_RESTART of CTRL.
const START: u32 = 0x01;
const AGAIN: u32 = 0x80;

#[test]
fn auto_restart_runs_what_has_been_pushed_until_there_is_no_more_or_it_is_taken_back() {
    let design = small();
    let tensors = tensors(&design, 40, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &apart(2));
    for taken_back in [false, true] {
        let what = format!("taken back: {taken_back}");
        let runs = bench.driver.read("RUNS").unwrap();
        bench.driver.clear().unwrap();
        bench.load(&job).unwrap();
        bench.push(&job).unwrap();
        bench.driver.write("CTRL", START | AGAIN).unwrap();
        // For the second run, while the first is under way.
        bench.push(&job).unwrap();
        let outcome = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap();
        assert_eq!(outcome.error, 0, "{what}");
        let done = bench.take(&job, outcome);
        assert!(done.bit_exact(), "{what}: the first run");
        // Outputs are blanked: the second run writes them again.
        bench.load(&job).unwrap();
        if taken_back {
            bench.driver.write("CTRL", 0).unwrap();
        }
        bench.driver.settle(MOST).unwrap();
        let outcome = bench.driver.outcome().unwrap();
        // A third run finds nothing.
        if taken_back {
            assert_eq!(outcome.error, 0, "{what}");
        } else {
            device::assert_error(&outcome, "START_EMPTY", &what);
        }
        let done = bench.take(&job, outcome);
        assert!(done.bit_exact(), "{what}: the second run");
        let third = u32::from(!taken_back);
        assert_eq!(bench.driver.read("RUNS").unwrap(), runs + 2 + third, "{what}");
        assert_eq!(bench.driver.read("CTRL").unwrap() & AGAIN, 0, "{what}");
    }
    assert_rules(&bench, "AUTO_RESTART");
}

#[test]
fn an_error_ends_auto_restart_and_is_told_once() {
    let design = small();
    let mut bench = whole(&design, &Platform::of(&design), &Clocks::IN_STEP);
    bench.driver.write("CTRL", START | AGAIN).unwrap();
    bench.driver.settle(MOST).unwrap();
    device::assert_error(&bench.driver.outcome().unwrap(), "START_EMPTY", "nothing to run");
    assert_eq!(bench.driver.read("RUNS").unwrap(), 1);
    assert_eq!(bench.driver.read("CTRL").unwrap() & (START | AGAIN), 0);
}

#[test]
fn slices_that_are_named_twice_are_refused_by_the_driver_and_stop_a_simulation() {
    let design = small();
    let tensors = tensors(&design, 40, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let of = |stream| Descriptor { stream, streams: 1, ..legal(&design) };
    let mut bench = whole(&design, &Platform::of(&design), &apart(3));
    let refused = bench.driver.push_all(&[of(0), of(1)]);
    assert_eq!(refused, Err(DeviceError::NamedTwice { prefix: 0, segment: 0 }));
    assert_eq!(bench.driver.read("DESC_FREE").unwrap(), DESC_QUEUE);
    // Interleaved segments, or those of another cache, are others.
    let odd = Descriptor { first: 1, stride: 2, count: 2, close: false, ..of(0) };
    let even = Descriptor { first: 0, stride: 2, count: 3, ..of(0) };
    let other = Descriptor { prefix: 1, ..of(1) };
    assert_eq!(bench.driver.push_all(&[odd, even, other]), Ok(()));
    bench.driver.write("SOFT_RESET", 1).unwrap();
    bench.driver.settle(MOST).unwrap();

    // A driver that does not look.
    bench.load(&job).unwrap();
    for stream in 0..2 {
        bench.driver.push(&of(stream)).unwrap();
    }
    bench.driver.write("QUERY_STREAMS", 2).unwrap();
    bench.driver.start().unwrap();
    let stopped = bench.driver.wait(Notice::Polling, MOST, &mut |_| false);
    let stopped = stopped.expect_err("a check of simulation").to_string();
    assert!(stopped.contains("names a slice again before it was served"), "{stopped}");
}
