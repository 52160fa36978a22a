//! Failing memory on every port and channel: the run ends, ERROR names the cause, the interrupt rises, the next run
//! works.

use crate::support::device::{
    apart, assert_clean, assert_error, assert_rules, job, run_clean, small, tensors, whole,
};
use crate::support::device::{MOST, MOST_WITH_TIMEOUT, TIMEOUT};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::memory::{Fault, FaultKind};
use meshkv::cosim::workloads::attention::Job;
use meshkv::cosim::workloads::device::{Bench, DeviceError, Faults, Notice, Outcome, Platform};
use meshkv::design::{Design, Mapping};

/// Runs a job that fails, and then one that does not.
pub(super) fn fail_and_recover(
    bench: &mut Bench,
    job: &Job,
    faults: Faults,
    notice: Notice,
    what: &str,
) -> Outcome {
    bench.driver.device.set_faults(faults);
    bench.driver.clear().unwrap();
    bench.driver.enable(notice).unwrap();
    bench.load(job).unwrap();
    bench.start(job).unwrap();
    let outcome = bench.driver.wait(notice, MOST_WITH_TIMEOUT, &mut |_| false);
    let outcome = outcome.unwrap_or_else(|e| panic!("{what}: {e}"));
    bench.driver.device.set_faults(Faults::default());
    assert_ne!(outcome.error, 0, "{what}: nothing was noticed");
    bench.driver.settle(MOST_WITH_TIMEOUT).unwrap();
    // Answers that never come are owed for ever: only the next run is looked at.
    assert_rules(bench, what);
    let done = bench.run(job, notice, MOST, &mut |_| false).unwrap_or_else(|e| panic!("after {what}: {e}"));
    assert_rules(bench, what);
    assert!(done.bit_exact(), "after {what}: outputs differ");
    outcome
}

/// The number of the request at which a fault begins: one of this run, after all earlier ones.
fn from_now(taken: u64) -> u64 {
    taken + 1
}

/// Tiles that read through a port.
fn tiles_of(design: &Design, port: usize) -> Vec<u32> {
    let (cols, tiles) = (design.mesh.cols(), design.mesh.tiles() as u32);
    (0..tiles).filter(|t| design.memory.port(t % cols, t / cols) as usize == port).collect()
}

#[test]
fn errors_of_external_memory_are_named_by_their_tile() {
    let design = small();
    let tensors = tensors(&design, 61, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design), &apart(1));
    for port in 0..design.memory.ports as usize {
        for kind in [FaultKind::SlaveError, FaultKind::DecodeError] {
            let what = format!("{kind:?} at port {port}");
            let taken = bench.driver.device.requests().0[port];
            let fault = Fault::of_port(port, kind).after(from_now(taken));
            let faults = Faults { hbm: vec![fault], ..Faults::default() };
            let notice = if port % 2 == 0 { Notice::Interrupt } else { Notice::Polling };
            let outcome = fail_and_recover(&mut bench, &job, faults, notice, &what);
            let tile = assert_error(&outcome, "MEMORY", &what);
            assert!(tiles_of(&design, port).contains(&tile), "{what}: tile {tile}");
        }
    }
}

#[test]
fn external_memory_that_does_not_answer_is_named_by_its_tile() {
    let design = small();
    let tensors = tensors(&design, 61, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    for port in 0..design.memory.ports as usize {
        let mut bench = whole(&design, &Platform::of(&design), &Clocks::IN_STEP);
        let kind = if port % 2 == 0 { FaultKind::Mute } else { FaultKind::Deaf };
        let what = format!("{kind:?} at port {port}");
        let faults = Faults { hbm: vec![Fault::of_port(port, kind).after(1)], ..Faults::default() };
        let outcome = fail_and_recover(&mut bench, &job, faults, Notice::Interrupt, &what);
        let tile = assert_error(&outcome, "MEMORY_TIMEOUT", &what);
        assert!(tiles_of(&design, port).contains(&tile), "{what}: tile {tile}");
    }
}

#[test]
fn errors_of_the_hosts_memory_are_named() {
    let design = small();
    let tensors = tensors(&design, 33, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let mut bench = whole(&design, &Platform::of(&design).unruly(5), &apart(2));
    for kind in [FaultKind::SlaveError, FaultKind::DecodeError] {
        for from in 0..3 {
            let what = format!("{kind:?} of reads from {from} on");
            let (_, reads, writes) = bench.driver.device.requests();
            let reads = vec![Fault::of_port(0, kind).after(reads + from)];
            let faults = Faults { reads, ..Faults::default() };
            let outcome = fail_and_recover(&mut bench, &job, faults, Notice::Interrupt, &what);
            assert_error(&outcome, "QUERY_READ", &what);
            let what = format!("{kind:?} of writes from {from} on");
            let now = bench.driver.device.requests().2;
            assert!(now > writes);
            let writes = vec![Fault::of_port(0, kind).after(now + 4 * from)];
            let faults = Faults { writes, ..Faults::default() };
            let outcome = fail_and_recover(&mut bench, &job, faults, Notice::Interrupt, &what);
            assert_error(&outcome, "OUTPUT_WRITE", &what);
        }
    }
}

#[test]
fn a_hosts_memory_that_does_not_answer_is_named() {
    let design = small();
    let tensors = tensors(&design, 33, 5);
    let job = job(&design, &tensors, Mapping::RowAligned);
    let silent = |kind| vec![Fault::of_port(0, kind).after(2)];
    for (place, kind) in [
        (0, FaultKind::Mute),
        (0, FaultKind::Deaf),
        (1, FaultKind::Mute),
        (1, FaultKind::Deaf),
        (1, FaultKind::Shut),
    ] {
        let what = format!("{kind:?} of {}", ["reads", "writes"][place]);
        let faults = match place {
            0 => Faults { reads: silent(kind), ..Faults::default() },
            _ => Faults { writes: silent(kind), ..Faults::default() },
        };
        let mut bench = whole(&design, &Platform::of(&design), &Clocks::IN_STEP);
        let outcome = fail_and_recover(&mut bench, &job, faults, Notice::Interrupt, &what);
        assert_eq!(assert_error(&outcome, "IO_TIMEOUT", &what), place as u32, "{what}");
    }
}

#[test]
fn answers_of_a_run_that_was_given_up_are_not_taken_for_those_of_the_next() {
    let design = small();
    let others = tensors(&design, 61, 6);
    let tensors = tensors(&design, 61, 5);
    let [first, next] = [&tensors, &others].map(|t| job(&design, t, Mapping::HeadTile));
    let mut bench = whole(&design, &Platform::of(&design), &apart(4));
    // Later than the device waits, twice: the answers come while the next run is under way.
    let late = |port: usize| Fault::of_port(port, FaultKind::Late(2 * TIMEOUT + 2_000)).after(1);
    let hbm = (0..design.memory.ports as usize).map(late).collect();
    bench.driver.device.set_faults(Faults { hbm, ..Faults::default() });
    let failed = bench.run(&first, Notice::Interrupt, MOST_WITH_TIMEOUT, &mut |_| false);
    assert!(
        matches!(&failed, Err(DeviceError::Failed(what)) if what.contains("MEMORY_TIMEOUT")),
        "{failed:?}"
    );
    bench.driver.device.set_faults(Faults::default());
    bench.driver.settle(MOST_WITH_TIMEOUT).unwrap();
    assert!(bench.driver.device.waiting() > 0, "the answers are still to come");
    let mut runs = 0;
    while bench.driver.device.waiting() > 0 || runs == 0 {
        let job = if runs % 2 == 0 { &next } else { &first };
        let done = bench.run(job, Notice::Interrupt, MOST, &mut |_| false).unwrap();
        assert!(done.bit_exact(), "run {runs} after late answers");
        runs += 1;
        assert!(runs < 20);
    }
    let done = run_clean(&mut bench, &first, Notice::Interrupt, "after all of them");
    assert_clean(&bench, &done, "after all of them");
}
