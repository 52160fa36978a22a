//! The bench runs without FuseSoC, by its own script.

use crate::support::ecosystem::Output;

#[test]
fn the_script_of_the_bench_builds_and_passes() {
    let output = Output::new("tiny");
    let said = output.run("python3", &["out/bench/run.py", "sim"]);
    assert!(said.contains("TESTS=9 PASS=7 FAIL=0 SKIP=2"), "{said}");
}

#[test]
fn so_it_does_where_the_cache_can_be_written() {
    let output = Output::with("tiny", |c| c.kv.append = true);
    let said = output.run("python3", &["out/bench/run.py", "sim"]);
    assert!(said.contains("TESTS=9 PASS=9 FAIL=0"), "{said}");
}
