//! Calls by the doorbell: one write starts a run, a record in memory ends it, and no register is read between them.

use crate::support::attention;
use crate::support::device::{
    apart, assert_clean, assert_error, assert_rules, job, run_clean, small, tensors, whole,
};
use crate::support::device::{growing, MOST, MOST_WITH_TIMEOUT};
use meshkv::config::Config;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::memory::{Fault, FaultKind};
use meshkv::cosim::workloads::attention::Job;
use meshkv::cosim::workloads::device::{
    Bench, Doorbell, Driver, Faults, HostModel, Notice, Platform, Record,
};
use meshkv::design::device::registers;
use meshkv::design::{Descriptor, Mapping, Sharing};

/// Number of the next run.
fn next(bench: &mut Bench) -> u32 {
    bench.driver.read("RUNS").unwrap() + 1
}

/// Rings and waits for the record.
fn ring(bench: &mut Bench, bell: &Doorbell) -> Record {
    let number = next(bench);
    bench.ring(bell, number, MOST_WITH_TIMEOUT, &mut |_| false).unwrap()
}

/// A call whose outputs are right.
fn call_clean(bench: &mut Bench, job: &Job, what: &str) -> u64 {
    let (done, times, accesses) =
        bench.call(job, MOST, &mut |_| false).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_clean(bench, &done, what);
    assert_eq!(accesses, [1, 0], "{what}: writes and reads of registers");
    let [first, last, end] = [times.first_read, times.last_read, times.last_write].map(Option::unwrap);
    assert!(times.rung < first && first < last && last < end, "{what}: {times:?}");
    done.outcome.cycles
}

#[test]
fn one_write_is_a_call_and_the_record_has_what_registers_have() {
    let design = small();
    let tensors = tensors(&design, 61, 5);
    for clocks in [Clocks::IN_STEP, apart(3)] {
        let mut bench = whole(&design, &Platform::of(&design).unruly(4), &clocks);
        for (run, mapping) in
            [Mapping::RowAligned, Mapping::HeadTile, Mapping::RowAligned].into_iter().enumerate()
        {
            let job = job(&design, &tensors, mapping);
            let cycles = call_clean(&mut bench, &job, &format!("call {run}"));
            bench.driver.settle(MOST).unwrap();
            assert_eq!(bench.driver.outcome().unwrap().cycles, cycles);
            assert_eq!(bench.driver.read("RUNS").unwrap(), run as u32 + 1);
        }
        // Both ways are possible on one device, and partial results by either.
        let job = job(&design, &tensors, Mapping::HeadTile);
        bench.driver.write("LIST_COUNT", 0).unwrap();
        run_clean(&mut bench, &job, Notice::Polling, "by registers");
        call_clean(&mut bench, &job.part(0..30), "partial results");
    }
}

fn calls_are_right(change: impl Fn(&mut Config)) {
    let design = attention::small(|c| {
        c.takv.column_stride = 1;
        change(c);
    });
    let tensors = tensors(&design, 61, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &apart(2));
    for call in 0..2 {
        call_clean(&mut bench, &job, &format!("call {call}"));
    }
}

#[test]
fn a_beat_is_a_record() {
    calls_are_right(|c| (c.noc.flit_width, c.kv.uram_per_tile, c.pe.head_dim) = (256, 4, 32));
}

#[test]
fn a_beat_is_wider_than_a_record_and_than_an_output() {
    calls_are_right(|c| (c.noc.flit_width, c.kv.uram_per_tile, c.pe.head_dim) = (1024, 15, 32));
}

#[test]
fn new_tokens_come_with_a_call_and_are_in_memory_before_its_record() {
    let design = growing();
    let tensors = tensors(&design, 61, 5);
    let lengths = [40, 21];
    let job = Job::ragged(&design, &tensors, 0, &lengths, Mapping::RowAligned, Sharing::KvHead)
        .unwrap()
        .appending();
    let mut bench = whole(&design, &Platform::of(&design), &apart(5));
    call_clean(&mut bench, &job, "with new tokens");
}

#[test]
fn a_doorbell_waits_for_the_run_before_and_a_third_is_refused() {
    let design = small();
    let tensors = tensors(&design, 61, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &apart(1));
    let first = bench.lay_out(&job, 0).unwrap();
    let second = Doorbell { slot: 5, ..first };
    let descriptors = job.descriptors().unwrap();
    bench.put_slot(5, Driver::list(&descriptors, false).unwrap()).unwrap();
    let number = next(&mut bench);
    for bell in [first, second, first] {
        bench.driver.write("DOORBELL", bell.word()).unwrap();
    }
    let until = |bench: &mut Bench, run: u32| {
        while bench.record().run != run {
            bench.driver.device.tick().unwrap();
            assert!(bench.driver.device.cycle() < 2 * MOST, "run {run} has no record");
        }
    };
    until(&mut bench, number);
    let busy = 1 << registers::error("START_BUSY").bit;
    assert_eq!(bench.record().error, busy, "the third is refused, the runs go on");
    bench.driver.clear().unwrap();
    bench.driver.device.take_merged();
    until(&mut bench, number + 1);
    let record = bench.record();
    let done = bench.take(&job, record.outcome());
    assert_clean(&bench, &done, "the one that waited");
    bench.driver.settle(MOST).unwrap();
    assert_eq!(bench.driver.read("RUNS").unwrap(), number + 1, "no third run");
}

#[test]
fn a_run_that_is_refused_has_a_record_and_drops_the_doorbell_that_waits() {
    let design = small();
    let tensors = tensors(&design, 61, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &apart(2));
    let good = bench.lay_out(&job, 0).unwrap();
    let descriptors = job.descriptors().unwrap();
    let wrong = Descriptor { layer: 999, ..descriptors[0] };
    bench.put_slot(1, Driver::list(&[wrong], false).unwrap()).unwrap();
    let bad = Doorbell { slot: 1, count: 1, ..good };
    let number = next(&mut bench);
    bench.driver.write("DOORBELL", bad.word()).unwrap();
    bench.driver.write("DOORBELL", good.word()).unwrap();
    while bench.record().run != number {
        bench.driver.device.tick().unwrap();
        assert!(bench.driver.device.cycle() < MOST, "a refused run has no record");
    }
    let outcome = bench.record().outcome();
    assert_eq!(outcome.first, Some(("START_LIST", 0)), "{}", outcome.errors());
    bench.driver.settle(MOST).unwrap();
    assert_eq!(bench.driver.read("RUNS").unwrap(), number, "what waited is dropped");
    bench.driver.clear().unwrap();
    call_clean(&mut bench, &job, "after it");
}

#[test]
fn a_run_that_memory_fails_has_a_record_and_the_next_call_works() {
    let design = small();
    let tensors = tensors(&design, 61, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &apart(4));
    let ports = design.memory.ports as usize;
    let hbm = |kind: FaultKind| (0..ports).map(|port| Fault::of_port(port, kind).after(3)).collect();
    for name in ["MEMORY", "MEMORY_TIMEOUT", "QUERY_READ", "LIST_READ"] {
        let bell = bench.lay_out(&job, 0).unwrap();
        // The first read is that of the list, the next one is of queries.
        let read = |skips| {
            let fault = Fault::of_port(0, FaultKind::SlaveError);
            vec![fault.after(bench.driver.device.requests().1 + skips)]
        };
        let faults = match name {
            "MEMORY" => Faults { hbm: hbm(FaultKind::SlaveError), ..Faults::default() },
            "MEMORY_TIMEOUT" => Faults { hbm: hbm(FaultKind::Mute), ..Faults::default() },
            "QUERY_READ" => Faults { reads: read(1), ..Faults::default() },
            _ => Faults { reads: read(0), ..Faults::default() },
        };
        bench.driver.device.set_faults(faults);
        let outcome = ring(&mut bench, &bell).outcome();
        assert_error(&outcome, name, name);
        bench.driver.device.set_faults(Faults::default());
        bench.driver.settle(MOST_WITH_TIMEOUT).unwrap();
        bench.driver.clear().unwrap();
        bench.driver.device.take_merged();
        call_clean(&mut bench, &job, name);
    }
}

#[test]
fn a_record_that_memory_does_not_take_ends_the_run_by_name() {
    let design = small();
    let tensors = tensors(&design, 61, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    // All writes of outputs are answered, and that of the record, the last of the run, is not.
    let mut bench = whole(&design, &Platform::of(&design), &apart(6));
    let before = bench.driver.device.requests().2;
    call_clean(&mut bench, &job, "before");
    let writes = bench.driver.device.requests().2 - before;
    for kind in [FaultKind::SlaveError, FaultKind::Mute, FaultKind::Deaf, FaultKind::Shut] {
        let bell = bench.lay_out(&job, 0).unwrap();
        let fault = Fault::of_port(0, kind).after(bench.driver.device.requests().2 + writes - 1);
        bench.driver.device.set_faults(Faults { writes: vec![fault], ..Faults::default() });
        let number = next(&mut bench);
        bench.driver.write("DOORBELL", bell.word()).unwrap();
        bench.driver.settle(MOST_WITH_TIMEOUT).unwrap();
        assert_eq!(bench.driver.read("RUNS").unwrap(), number, "{kind:?}");
        let outcome = bench.driver.outcome().unwrap();
        let name = if kind == FaultKind::SlaveError { "OUTPUT_WRITE" } else { "IO_TIMEOUT" };
        assert_error(&outcome, name, &format!("{kind:?}"));
        bench.driver.device.set_faults(Faults::default());
        bench.driver.clear().unwrap();
        bench.driver.device.take_merged();
        assert_rules(&bench, "a record without an answer");
    }
}

#[test]
fn no_record_goes_to_an_address_that_is_misaligned() {
    let design = small();
    let tensors = tensors(&design, 61, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &apart(7));
    let bell = bench.lay_out(&job, 0).unwrap();
    let (_, _, writes) = bench.driver.device.requests();
    bench.driver.argument(1, 0x9_ffff_e040).unwrap();
    bench.driver.write("DOORBELL", bell.word()).unwrap();
    bench.driver.settle(MOST).unwrap();
    assert_eq!(assert_error(&bench.driver.outcome().unwrap(), "ARGUMENT", "misaligned"), 1);
    assert_eq!(bench.driver.device.requests().2, writes, "nothing was written");
}

#[test]
fn a_reset_ends_a_call_with_a_record() {
    let design = small();
    let tensors = tensors(&design, 61, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &apart(8));
    // The list, queries, keys and values, and the outputs are under way.
    for wait in [30, 120, 600, 1200] {
        let bell = bench.lay_out(&job, 0).unwrap();
        let number = next(&mut bench);
        bench.driver.write("DOORBELL", bell.word()).unwrap();
        for _ in 0..wait {
            bench.driver.device.tick().unwrap();
        }
        bench.driver.write("SOFT_RESET", 1).unwrap();
        bench.driver.settle(MOST_WITH_TIMEOUT).unwrap();
        let record = bench.record();
        let over = bench.driver.read("RUNS").unwrap();
        assert_eq!((record.run, over), (number, number), "reset after {wait}: {}", record.outcome().errors());
        bench.driver.clear().unwrap();
        bench.driver.device.take_merged();
    }
    call_clean(&mut bench, &job, "after resets");
}

#[test]
fn a_host_behind_its_link_waits_for_it_and_outputs_are_the_same() {
    let design = small();
    let tensors = tensors(&design, 61, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let near = Platform::of(&design);
    let (io, writes) = HostModel::default().memory(&design, &near.io);
    let late = u64::from(io.latency - near.io.latency);
    let far = Platform { io, io_writes: Some(writes), ..near.clone() };
    let cycles = [near, far]
        .map(|platform| call_clean(&mut whole(&design, &platform, &Clocks::IN_STEP), &job, "a call"));
    // A list and queries come one after the other, each as late as a read.
    assert!(cycles[1] >= cycles[0] + 2 * late, "{cycles:?}, {late}");
}
