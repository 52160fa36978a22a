//! The paper's evaluation runs every row once, and writes a page, tables, figures and claims.

use crate::support::sandbox::{said, Running, Said, Sandbox};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;

/// Rows of the section that the quick tests run: some seconds.
const ROWS: usize = 12;

fn summary(said: &Said) -> Value {
    assert_eq!(said.code, Some(0), "{}", said.err);
    serde_json::from_str(&said.out).expect("one JSON object")
}

fn read(sandbox: &Sandbox, name: &str) -> String {
    fs::read_to_string(sandbox.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn a_section_that_was_interrupted_goes_on_and_runs_nothing_twice() {
    let sandbox = Sandbox::new();
    let line = "paper --quick --section card -o out";
    let mut running = Running::start(&mut sandbox.meshkv(&format!("{line} -v --jobs 1")));
    running.hear("row of ");
    running.signal(Signal::INT);
    let cut = running.end();
    assert_eq!(cut.code, Some(130), "{}", cut.err);
    assert!(cut.err.contains("rows in out/rows; the same command goes on from there"), "{}", cut.err);
    let there = read(&sandbox, "out/rows/rows.jsonl").lines().count();
    assert!(there > 0 && there < ROWS, "{there}");
    assert!(!sandbox.path("out/index.html").exists(), "a page without its rows");

    let first = summary(&said(&mut sandbox.meshkv(&format!("{line} --json"))));
    assert_eq!((&first["run"], &first["rows"]), (&Value::from(ROWS - there), &Value::from(ROWS)));
    let names = ["index.html", "claims.json", "card.csv", "card.svg", "rows/rows.parquet"];
    let files = names.map(|name| fs::read(sandbox.path(&format!("out/{name}"))).expect(name));
    let again = summary(&said(&mut sandbox.meshkv(&format!("{line} --json"))));
    assert_eq!(again["run"], 0);
    for (name, bytes) in names.iter().zip(&files) {
        assert!(fs::read(sandbox.path(&format!("out/{name}"))).unwrap() == *bytes, "{name} has changed");
    }
    let table = read(&sandbox, "out/card.csv");
    assert!(table.starts_with("fabric,model,batch,tokens,mapping,sharing,us,share,"), "{table}");
    assert_eq!(table.lines().count(), 1 + 6, "{table}");
    let page = read(&sandbox, "out/index.html");
    assert!(
        page.contains("<h1>The paper beside meshkv</h1>") && !page.contains("src=\""),
        "a page needs no file"
    );
}

#[test]
fn a_wrong_file_of_energies_is_refused_before_anything_runs() {
    let sandbox = Sandbox::new();
    sandbox.file("energy.toml", "[link]\npj_per_bit = 1\nsource = 3\n");
    for line in ["paper --quick --energy energy.toml -o out", "sim decode small.toml --energy energy.toml"] {
        let said = sandbox.run(line);
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}", said.err);
        assert!(said.err.contains("energy.toml: TOML parse error at line 3"), "{}", said.err);
        assert!(!sandbox.path("out").exists());
    }
    let said = sandbox.run("sim decode small.toml --tier dram");
    assert!(said.err.contains("no tier of memory has the name dram"), "{}", said.err);
}

#[test]
fn memory_of_another_tier_is_slower_and_costs_more() {
    let sandbox = Sandbox::with_fabric();
    let run = |tier: &str| summary(&sandbox.run(&format!("sim decode small.toml --tier {tier} --json")));
    let (hbm, ddr) = (run("hbm"), run("ddr"));
    assert_eq!(ddr["platform"]["bandwidth_gbs"], 38.4);
    let energy = |row: &Value| row["energy_nj"]["external_memory"].as_f64().unwrap();
    assert!((energy(&ddr) / energy(&hbm) - 20.3 / 3.92).abs() < 1e-6);
    assert!(ddr["energy_sources"].as_str().unwrap().contains("DDR4"), "{}", ddr["energy_sources"]);
}

#[test]
fn every_number_of_the_paper_has_a_verdict() {
    let sandbox = Sandbox::new();
    let told = summary(&said(&mut sandbox.meshkv("paper --quick --json -o out")));
    assert_eq!((&told["rows"], &told["violations"]), (&told["points"], &Value::from(0)));
    let claims: Value = serde_json::from_str(&read(&sandbox, "out/claims.json")).unwrap();
    let claims = claims["claims"].as_array().unwrap();
    assert!(claims.len() >= 60, "{}", claims.len());
    for claim in claims {
        for key in ["id", "paper", "ours", "verdict", "why", "command"] {
            assert!(!claim[key].is_null(), "{key} of {claim}");
        }
        assert_ne!(claim["verdict"], "not-measured", "{claim}");
    }
    for name in [
        "traffic",
        "bisection",
        "throughput",
        "latency",
        "energy",
        "ablation",
        "coalescing",
        "card",
        "steps",
        "intervals",
        "accuracy",
    ] {
        assert!(read(&sandbox, &format!("out/{name}.csv")).lines().count() > 4, "{name}");
    }
}
