//! Descriptors by a list in memory: a write of CTRL starts all of them, beside those of the registers. A list that is
//! wrong, or cannot be read, ends the run by name, and the core has seen nothing of a run that was refused.

use crate::support::device::{
    apart, assert_clean, assert_error, assert_rules, hasty, job, modelled_of, run_clean, small, tensors,
    whole,
};
use crate::support::device::{MOST, MOST_WITH_TIMEOUT, TIMEOUT};
use crate::support::{attention, device};
use meshkv::config::Config;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::memory::{Fault, FaultKind};
use meshkv::cosim::workloads::attention::Job;
use meshkv::cosim::workloads::device::{Bench, DeviceError, Driver, Faults, Notice, Outcome, Platform};
use meshkv::design::device::registers::{self, DESC_QUEUE};
use meshkv::design::{Descriptor, Design, Mapping, Sharing};

/// Starts by one write and waits for the end.
fn start(bench: &mut Bench) -> Outcome {
    bench.driver.clear().unwrap();
    bench.driver.start().unwrap();
    bench.driver.wait(Notice::Polling, MOST_WITH_TIMEOUT, &mut |_| false).unwrap()
}

fn start_clean(bench: &mut Bench, job: &Job, what: &str) {
    let outcome = start(bench);
    assert_eq!(outcome.error, 0, "{what}: {}", outcome.errors());
    let done = bench.take(job, outcome);
    assert_clean(bench, &done, what);
}

/// Asserts that a descriptor of the list was refused for this cause, and by this number.
fn assert_refused(outcome: &Outcome, name: &str, index: u32, what: &str) {
    let bits = [name, "START_LIST"].map(|name| 1 << registers::error(name).bit);
    assert_eq!(outcome.error, bits[0] | bits[1], "{what}: {}", outcome.errors());
    assert_eq!(outcome.first, Some(("START_LIST", index)), "{what}");
}

/// The job in eight descriptors, which hold a segment or some each.
fn in_parts<'a>(job: Job<'a>) -> (Job<'a>, Vec<Descriptor>) {
    let job = job.mapped(&[Mapping::RowAligned; 8]);
    let descriptors = job.descriptors().unwrap();
    (job, descriptors)
}

#[test]
fn one_write_starts_the_descriptors_of_a_list_again_and_again() {
    let design = small();
    let tensors = tensors(&design, 61, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design).unruly(4), &apart(3));
    bench.load(&job).unwrap();
    bench.list(&job).unwrap();
    for run in 0..3 {
        start_clean(&mut bench, &job, &format!("run {run}"));
        bench.load(&job).unwrap();
    }
    // A list may ask for partial results.
    let part = job.part(0..30);
    bench.load(&part).unwrap();
    bench.list(&part).unwrap();
    start_clean(&mut bench, &part, "partial results");
    bench.load(&job).unwrap();
    // The registers work as before, beside it and without it.
    let (job, descriptors) = in_parts(job);
    let (pushed, listed) = descriptors.split_at(3);
    bench.put_list(Driver::list(listed, false).unwrap(), listed.len() as u32).unwrap();
    bench.driver.push_all(pushed).unwrap();
    start_clean(&mut bench, &job, "some pushed, some listed");
    bench.driver.write("LIST_COUNT", 0).unwrap();
    assert_error(&start(&mut bench), "START_EMPTY", "no list");
    run_clean(&mut bench, &job, Notice::Interrupt, "registers");
}

#[test]
fn auto_restart_takes_the_list_of_each_run_and_interrupts_at_each_end() {
    let design = small();
    let tensors = tensors(&design, 40, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &apart(1));
    bench.driver.enable(Notice::Interrupt).unwrap();
    bench.load(&job).unwrap();
    bench.list(&job).unwrap();
    let runs = bench.driver.read("RUNS").unwrap();
    bench.driver.write("CTRL", 0x81).unwrap();
    for run in 0..4 {
        let outcome = bench.driver.wait(Notice::Interrupt, MOST, &mut |_| false).unwrap();
        assert_eq!(outcome.error, 0, "run {run}: {}", outcome.errors());
        let done = bench.take(&job, outcome);
        assert!(done.bit_exact(), "run {run}");
        bench.load(&job).unwrap();
        if run == 2 {
            bench.driver.write("CTRL", 0).unwrap();
        }
    }
    bench.driver.settle(MOST).unwrap();
    assert_eq!(bench.driver.read("RUNS").unwrap(), runs + 4);
    assert_rules(&bench, "a chain");
}

#[test]
fn a_descriptor_that_is_wrong_is_named_by_its_number_and_nothing_runs() {
    let design = small();
    let tensors = tensors(&design, 61, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &apart(2));
    run_clean(&mut bench, &job, Notice::Polling, "before");
    let (job, good) = in_parts(job);
    let read = bench.driver.device.requests();
    type Wrong = fn(&mut Descriptor);
    let wrongs: [(&str, Wrong); 5] = [
        ("DESC_LAYER", |d| d.layer = 999),
        ("DESC_PREFIX", |d| d.prefix = 999),
        ("DESC_SEGMENTS", |d| d.stride = 0),
        ("DESC_ROWS", |d| d.first_row = 999),
        ("DESC_STREAMS", |d| d.streams = 0),
    ];
    for (at, (name, wrong)) in wrongs.into_iter().enumerate() {
        let at = at * (good.len() - 1) / 4;
        let what = format!("{name} of {at}");
        let mut list = good.clone();
        wrong(&mut list[at]);
        let bytes: Vec<u8> = list.iter().flat_map(|d| Driver::list(&[*d], false).unwrap()).collect();
        bench.load(&job).unwrap();
        bench.put_list(bytes, list.len() as u32).unwrap();
        bench.driver.write("QUERY_STREAMS", job.streams).unwrap();
        // What was pushed before is dropped with it.
        bench.driver.push(&Descriptor { close: false, ..good[good.len() - 1] }).unwrap();
        assert_refused(&start(&mut bench), name, at as u32, &what);
        assert_eq!(bench.driver.read("DESC_FREE").unwrap(), DESC_QUEUE, "{what}");
    }
    // More than the queue takes, and a list that leaves a stream open.
    let open = Descriptor { close: false, ..good[0] };
    let many: Vec<u8> = (0..DESC_QUEUE + 8).flat_map(|_| Driver::list(&[open], false).unwrap()).collect();
    bench.put_list(many.clone(), DESC_QUEUE + 8).unwrap();
    assert_refused(&start(&mut bench), "DESC_FULL", DESC_QUEUE, "too many");
    bench.put_list(many, u32::MAX).unwrap();
    assert_refused(&start(&mut bench), "DESC_FULL", DESC_QUEUE, "far too many");
    bench.driver.write("LIST_COUNT", 1).unwrap();
    assert_error(&start(&mut bench), "START_OPEN", "a stream is open");
    assert_eq!(bench.driver.read("DESC_FREE").unwrap(), DESC_QUEUE, "the list's are dropped");
    let list = bench.driver.design().list_argument();
    bench.driver.argument(list, 0x6_ffff_f040).unwrap();
    assert_eq!(assert_error(&start(&mut bench), "ARGUMENT", "misaligned"), list);
    // The core has seen nothing: neither queries nor cache were read, and its queries are still there.
    let (hbm, _, writes) = bench.driver.device.requests();
    assert_eq!((&hbm, writes), (&read.0, read.2));
    bench.load(&job).unwrap();
    bench.list(&job).unwrap();
    bench.driver.write("QUERY_STREAMS", 0).unwrap();
    start_clean(&mut bench, &job, "after all of them");
}

#[test]
fn a_list_that_memory_does_not_give_is_named_and_the_next_run_works() {
    let design = small();
    let tensors = tensors(&design, 40, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &apart(4));
    for kind in [
        FaultKind::SlaveError,
        FaultKind::DecodeError,
        FaultKind::Mute,
        FaultKind::Deaf,
        FaultKind::Late(2 * TIMEOUT),
    ] {
        let what = format!("{kind:?}");
        if matches!(kind, FaultKind::Mute | FaultKind::Deaf) {
            // Answers that never come are owed for ever.
            bench = whole(&design, &Platform::of(&design), &Clocks::IN_STEP);
        }
        bench.load(&job).unwrap();
        bench.list(&job).unwrap();
        let (_, reads, _) = bench.driver.device.requests();
        let faults = vec![Fault::of_port(0, kind).after(reads)];
        bench.driver.device.set_faults(Faults { reads: faults, ..Faults::default() });
        let outcome = start(&mut bench);
        match kind {
            FaultKind::SlaveError | FaultKind::DecodeError => {
                assert_error(&outcome, "LIST_READ", &what);
            }
            _ => assert_eq!(assert_error(&outcome, "IO_TIMEOUT", &what), 2, "{what}"),
        }
        bench.driver.device.set_faults(Faults::default());
        bench.driver.settle(MOST_WITH_TIMEOUT).unwrap();
        assert_rules(&bench, &what);
        bench.load(&job).unwrap();
        let outcome = start(&mut bench);
        assert_eq!(outcome.error, 0, "after {what}: {}", outcome.errors());
        let done = bench.take(&job, outcome);
        assert!(done.bit_exact(), "after {what}");
    }
}

#[test]
fn a_reset_while_the_list_is_read_is_told_and_the_next_run_works() {
    let design = small();
    let tensors = tensors(&design, 61, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design).unruly(2), &apart(5));
    let (job, list) = in_parts(job);
    bench.load(&job).unwrap();
    bench.put_list(Driver::list(&list, false).unwrap(), list.len() as u32).unwrap();
    bench.driver.write("QUERY_STREAMS", job.streams).unwrap();
    start_clean(&mut bench, &job, "whole");
    let mut in_list = 0;
    for after in (0..200).step_by(17) {
        let what = format!("a soft reset after {after} cycles");
        bench.load(&job).unwrap();
        bench.driver.clear().unwrap();
        bench.driver.start().unwrap();
        for _ in 0..after {
            bench.driver.device.tick().unwrap();
        }
        in_list += u32::from(bench.driver.read("STATUS").unwrap() & 0xf == 9);
        bench.driver.write("SOFT_RESET", 1).unwrap();
        let outcome = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap();
        assert_eq!(assert_error(&outcome, "RESET", &what), 0, "{what}");
        bench.driver.settle(MOST).unwrap();
        bench.load(&job).unwrap();
        start_clean(&mut bench, &job, &format!("after {what}"));
    }
    assert!(in_list > 2, "{in_list} resets while the list was read");
}

#[test]
fn a_host_that_pushes_while_the_list_is_read_is_answered() {
    let design = small();
    let tensors = tensors(&design, 61, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &Clocks::IN_STEP);
    let (job, list) = in_parts(job);
    // The first of the list is pushed by the registers instead, at any time from before the start on. Its run is this
    // one, or the next, which is then refused: the list of this one has closed its streams without it.
    let (first, listed) = list.split_first().unwrap();
    let open = Descriptor { layer: 999, ..*first };
    bench.load(&job).unwrap();
    bench.put_list(Driver::list(&list, false).unwrap(), list.len() as u32).unwrap();
    bench.driver.write("QUERY_STREAMS", job.streams).unwrap();
    for after in (0..120).step_by(13) {
        let what = format!("a push after {after} cycles");
        bench.load(&job).unwrap();
        bench.driver.clear().unwrap();
        bench.driver.start().unwrap();
        for _ in 0..after {
            bench.driver.device.tick().unwrap();
        }
        // One that is refused: it is the host's, not the list's, and the run goes on.
        bench.driver.push(&open).unwrap();
        let outcome = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap();
        assert_eq!(assert_error(&outcome, "DESC_LAYER", &what), 999, "{what}");
        let done = bench.take(&job, outcome);
        assert!(done.bit_exact(), "{what}");
    }
    // A legal one between the start and the end of the list belongs to the run.
    bench.put_list(Driver::list(listed, false).unwrap(), listed.len() as u32).unwrap();
    bench.load(&job).unwrap();
    bench.driver.clear().unwrap();
    bench.driver.start().unwrap();
    bench.driver.push(first).unwrap();
    let outcome = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).unwrap();
    assert_eq!(outcome.error, 0, "{}", outcome.errors());
    assert!(bench.take(&job, outcome).bit_exact(), "a push during the list");
}

/// Two runs by lists of a design with small attention, on the front with the model of the core.
fn lists_are_right(change: impl FnOnce(&mut Config)) {
    let design = attention::small(change);
    let tensors = device::tensors(&design, 40, 5);
    let job = Job::new(&design, &tensors, (0, 2), Mapping::RowAligned, Sharing::KvHead).unwrap();
    let platform = Platform::of(&design).unruly(1);
    let mut bench = modelled_of(&hasty(&design), &job, &platform, &Clocks::IN_STEP).unwrap();
    let (job, list) = in_parts(job);
    bench.load(&job).unwrap();
    bench.put_list(Driver::list(&list, false).unwrap(), list.len() as u32).unwrap();
    bench.driver.write("QUERY_STREAMS", job.streams).unwrap();
    for run in 0..2 {
        start_clean(&mut bench, &job, &format!("run {run}"));
        bench.load(&job).unwrap();
    }
}

#[test]
fn a_beat_has_four_descriptors() {
    lists_are_right(|c| (c.noc.flit_width, c.kv.uram_per_tile, c.pe.head_dim) = (1024, 15, 32));
}

#[test]
fn a_beat_has_one_descriptor() {
    lists_are_right(|c| (c.noc.flit_width, c.kv.uram_per_tile, c.pe.head_dim) = (256, 4, 32));
}

#[test]
fn a_list_that_names_a_slice_twice_is_refused_by_the_driver() {
    let design: Design = small();
    let tensors = tensors(&design, 40, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let first = job.descriptors().unwrap()[0];
    assert_eq!(Driver::list(&[first, first], false), Err(DeviceError::NamedTwice { prefix: 0, segment: 0 }));
}
