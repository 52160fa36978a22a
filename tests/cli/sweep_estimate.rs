//! Areas beside the rows of a sweep: found once a configuration, kept, and taken from the cache.

use crate::support::sandbox::{said, Said, Sandbox, LEAST};
use crate::support::slurm::Slurm;
use meshkv::tools;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Two configurations of the same parts, and two workloads of each.
const GRID: &str =
    "base = \"least.toml\"\n[grid]\nmemory.latency_ns = [100.0, 120.0]\n[workload]\nkind = \"decode\"\n\
                    tokens = [32, 64]\nmapping = \"row-aligned\"\n";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_fabric();
    sandbox.file("least.toml", LEAST);
    sandbox.file("grid.toml", GRID);
    sandbox
}

/// A Yosys that says its version and does nothing else.
fn idle(sandbox: &Sandbox) -> std::path::PathBuf {
    let yosys = tools::find(&tools::SYNTHESIS).expect("this test needs Yosys; run `meshkv doctor`").path;
    sandbox.impostor("idle", &yosys, "exit 1")
}

fn run(sandbox: &Sandbox, line: &str, yosys: Option<&Path>) -> Said {
    let mut command = sandbox.meshkv(line);
    if let Some(yosys) = yosys {
        command.env("MESHKV_SYNTH_YOSYS", yosys);
    }
    let done = said(&mut command);
    assert_eq!(done.code, Some(0), "{line}: {}", done.err);
    done
}

fn rows(sandbox: &Sandbox, dir: &str) -> Vec<Value> {
    let text = fs::read_to_string(sandbox.path(dir).join("rows.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn areas_join_rows_that_are_there_and_parts_come_from_the_cache() {
    let sandbox = sandbox();
    run(&sandbox, "sweep grid.toml -o out", None);
    assert!(rows(&sandbox, "out").iter().all(|row| row.get("lut").is_none()));
    // Rows that are there are not run again.
    let done = run(&sandbox, "sweep grid.toml -o out --estimate --json", None);
    let summary: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!((&summary["run"], &summary["kept"]), (&0.into(), &4.into()));
    assert!(done.err.contains("areas of 2 configurations: "), "{}", done.err);
    let estimate: Value =
        serde_json::from_str(&run(&sandbox, "estimate least.toml --json", None).out).unwrap();
    let found = rows(&sandbox, "out");
    // The front has the digest of its configuration, a constant that takes some LUTs more or less.
    let lut = |of: &Value| of["lut"].as_f64().unwrap();
    assert!(found.iter().all(|row| (lut(row) / lut(&estimate) - 1.0).abs() < 0.01), "{found:?}");
    for key in ["ff", "bram36", "uram", "dsp", "fits"] {
        assert!(found.iter().all(|row| row[key] == estimate[key] && !row[key].is_null()), "{key}: {found:?}");
    }
    let period = estimate["clocks"][0]["period_ns"].as_f64().unwrap();
    assert!((found[0]["noc_ns"].as_f64().unwrap() - period).abs() < 0.006, "{found:?}");
    // A new folder needs the cache alone, and says so; an area that is there needs no Yosys at all.
    let idle = idle(&sandbox);
    let done = run(&sandbox, "sweep grid.toml -o other --estimate", Some(&idle));
    assert!(done.err.contains("all parts are in the cache"), "{}", done.err);
    assert_eq!(rows(&sandbox, "other"), found);
    run(&sandbox, "sweep grid.toml -o other --estimate", Some(Path::new("/nowhere/yosys")));
}

#[test]
fn a_report_of_areas_names_the_fastest_that_fits() {
    let sandbox = sandbox();
    run(&sandbox, "sweep grid.toml -o out --estimate", None);
    let done = run(&sandbox, "report out --json", None);
    let found: Value = serde_json::from_str(&done.out).unwrap();
    let best = found["best"].as_array().unwrap();
    assert_eq!(best.len(), 2, "one a workload: {found}");
    assert_eq!(best[0]["workload"], "tokens 32");
    assert_eq!(best[0]["configuration"], "memory.latency_ns 100.0");
    assert!(sandbox.path("out/report/pareto-tokens-32.png").exists());
    let said = run(&sandbox, "report out", None);
    assert!(said.out.contains("Best of 2 that fit, of 2 (tokens 64): memory.latency_ns"), "{}", said.out);
    let page = fs::read_to_string(sandbox.path("out/report/report.html")).unwrap();
    assert!(page.contains("Best of 2 that fit"));
}

#[test]
fn what_is_not_cached_is_announced_with_its_time() {
    let sandbox = Sandbox::new();
    sandbox.file("least.toml", LEAST);
    sandbox.file("grid.toml", GRID);
    let idle = idle(&sandbox);
    let mut command = sandbox.meshkv("sweep grid.toml -o out --estimate");
    command.env("MESHKV_SYNTH_YOSYS", idle);
    let done = said(&mut command);
    // Parts that both configurations have count once.
    assert!(
        done.err.contains("areas of 2 configurations: ")
            && done.err.contains("not in the cache and take about"),
        "{}",
        done.err
    );
    assert_eq!(done.code, Some(2));
}

#[test]
fn areas_on_a_cluster_are_those_of_one_machine() {
    let slurm = Slurm::start();
    let sandbox = sandbox();
    run(&sandbox, "sweep grid.toml -o local --estimate", None);
    // The rows first; then tasks that bring areas alone.
    for line in ["sweep grid.toml -o cluster --slurm", "sweep grid.toml -o cluster --slurm --estimate"] {
        let mut command = sandbox.meshkv(&format!("{line} --partition p"));
        command.env("SLURM_CONF", slurm.conf());
        let done = said(&mut command);
        assert_eq!(done.code, Some(0), "{line}: {}", done.err);
    }
    assert_eq!(rows(&sandbox, "cluster"), rows(&sandbox, "local"));
}
