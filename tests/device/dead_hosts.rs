//! A driver starts on a device that another host left in any state: at work, at its end, refused, reset, or silent.

use crate::support::device::card::Card;
use crate::support::device::host_build::{roomy, HostBuild};
use crate::support::device::TIMEOUT;
use meshkv::cosim::memory::{Fault, FaultKind};
use meshkv::cosim::workloads::device::Faults;
use std::path::Path;

/// The program of both hosts, with changes of the driver.
fn built(changes: &[(&str, &str)]) -> HostBuild {
    let build = HostBuild::new(roomy(false));
    let driver = build.path("host/meshkv_driver.hpp");
    let mut text = std::fs::read_to_string(&driver).unwrap();
    for (from, to) in changes {
        assert_eq!(text.matches(from).count(), 1, "the driver has not one `{from}`");
        text = text.replace(from, to);
    }
    std::fs::write(driver, text).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device/dead_host.cpp");
    build.compile(&source, "dead_host", &[]);
    build
}

/// Runs a host on a card to its end and returns what it said.
fn host(build: &HostBuild, card: &mut Card, state: &str) -> String {
    let ran = card.serve(build.command("dead_host").arg(state));
    String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned()
}

#[test]
fn a_driver_starts_after_a_host_that_died_in_any_state() {
    let build = built(&[]);
    let states = build.command("dead_host").output().unwrap().stdout;
    let states: Vec<_> = std::str::from_utf8(&states).unwrap().lines().collect();
    assert_eq!(states.len(), 18);
    // One card for all: a state may last beyond the next host.
    let mut card = Card::new(&build.design);
    for state in states {
        assert_eq!(host(&build, &mut card, state), "", "{state}");
        assert_eq!(host(&build, &mut card, "next"), "all outputs are right\n", "{state}");
    }
}

/// A host that comes after one that died while memory was late: what it says, and buffers that it had too early.
fn after_late_memory(build: &HostBuild) -> (String, usize) {
    let mut card = Card::new(&build.design);
    let late = |port| Fault::of_port(port, FaultKind::Late(3 * TIMEOUT));
    let hbm = (0..build.design.memory.ports as usize).map(late).collect();
    card.break_memory(Faults { hbm, ..Faults::default() });
    assert_eq!(host(build, &mut card, "a run under way"), "");
    card.break_memory(Faults::default());
    let said = host(build, &mut card, "next");
    (said, card.freed().1)
}

#[test]
fn a_driver_starts_while_memory_owes_answers_to_a_host_that_died() {
    assert_eq!(after_late_memory(&built(&[])), ("all outputs are right\n".to_owned(), 0));
    let (_, early) = after_late_memory(&built(&[("if (!quiet())", "if (false)")]));
    assert!(early > 0, "a driver that waits for nothing has buffers in time");
}

#[test]
fn a_driver_that_trusts_what_it_finds_is_found() {
    let reset = "io_.write(MESHKV_WATCHDOG, MESHKV_WATCHDOG_RESET);\n        reset();\n";
    let careless = "if (runs() || queued()) reset();\n        else clear();\n";
    let impatient = "reset();\n";
    for (to, state, says) in [
        (careless, "a run that has ended", "a run on queries of the host before has ended\n"),
        (impatient, "little patience", "WATCHDOG"),
    ] {
        let build = built(&[(reset, to)]);
        let mut card = Card::new(&build.design);
        assert_eq!(host(&build, &mut card, state), "", "{state}");
        let said = host(&build, &mut card, "next");
        assert!(said.contains(says), "{state}: {said}");
    }
}
