//! `meshkv sim` and `meshkv cosim` run the same traffic, fetches, decode steps and attention with equal results.
//! Where a test makes model and Verilog differ, lockstep names the place and writes waves.

use crate::support::sandbox::LEAST;
use crate::support::verilated;
use crate::support::waves::headings;
use assert_cmd::Command;
use meshkv::design::Design;
use meshkv::eval::{SoakCase, SoakFabric};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Runs `meshkv` in a folder.
fn meshkv(folder: &Path, line: &str) -> (Option<i32>, String, String) {
    let output = Command::cargo_bin("meshkv")
        .expect("the binary is built")
        .env("MESHKV_CACHE", verilated::cache())
        .current_dir(folder)
        .args(line.split_whitespace())
        .output()
        .expect("the binary runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The result of a line as JSON without the command and the speed of the machine, and without the engine, which is
/// checked. Rare states are counted by the model alone.
fn figures(line: &str, engine: &str) -> Value {
    let (code, out, err) = meshkv(Path::new("."), &format!("{line} --json"));
    assert_eq!(code, Some(0), "{line}: {err}");
    let mut value: Value = serde_json::from_str(&out).expect("one JSON object");
    let object = value.as_object_mut().expect("an object");
    assert_eq!(object.remove("engine").expect("an engine"), engine, "{line}");
    for key in ["command", "dut", "wall", "rare"] {
        object.remove(key);
    }
    value
}

const WORK: [&str; 3] = [
    "fetch configs/tiny.toml --pattern random --commands 20",
    "decode configs/tiny.toml --tokens 40 --batch 2",
    "run configs/tiny.toml --tokens 9",
];

#[test]
fn everything_runs_on_both_engines_with_equal_results() {
    for work in WORK {
        let model = figures(&format!("sim {work}"), "model");
        assert_eq!(model, figures(&format!("cosim {work}"), "rtl"), "{work}");
        assert_eq!(model, figures(work, "rtl"), "{work}");
        assert_eq!(model, figures(&format!("sim {work} --lockstep"), "lockstep"), "{work}");
        assert_eq!(model, figures(&format!("cosim {work} --engine model"), "model"), "{work}");
    }
    let traffic = "configs/tiny.toml --cycles 500";
    assert_eq!(figures(&format!("sim {traffic}"), "model"), figures(&format!("cosim {traffic}"), "rtl"));
}

#[test]
fn the_same_pictures_are_drawn_on_both_engines() {
    let dir = tempfile::tempdir().unwrap();
    for (work, picture) in [(WORK[1], "link-utilisation"), (WORK[2], "timeline")] {
        let [model, rtl] = ["sim", "cosim"].map(|parent| {
            let folder = dir.path().join(parent);
            figures(
                &format!("{parent} {work} --plot {}", folder.display()),
                if parent == "sim" { "model" } else { "rtl" },
            );
            ["svg", "png"].map(|kind| fs::read(folder.join(format!("{picture}.{kind}"))).expect("a picture"))
        });
        assert_eq!(model, rtl, "{work}");
    }
}

#[test]
fn what_has_no_configuration_or_two_kinds_of_work_is_refused() {
    for (line, words) in [
        ("sim", "<CONFIG>"),
        ("sim decode", "<CONFIG>"),
        ("cosim --load 0.2 fetch configs/tiny.toml", "before `fetch` apply only to traffic: --load <LOAD>"),
        ("sim configs/tiny.toml decode configs/tiny.toml", "before `decode` apply only to traffic: <CONFIG>"),
        ("sim fetch configs/tiny.toml --load 0.2", "--load"),
        ("sim fetch configs/tiny.toml --wave x.fst", "add --engine rtl"),
        ("cosim decode configs/tiny.toml --upset 0,0@9", "--lockstep"),
        ("cosim decode configs/tiny.toml --lockstep --upset 9,0@9", "3x2 mesh"),
    ] {
        let (code, out, err) = meshkv(Path::new("."), line);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{line}: {err}");
        assert!(err.contains(words), "{line}: {err}");
    }
}

#[test]
fn options_of_every_command_may_stand_before_what_is_run() {
    let (code, out, err) = meshkv(Path::new("."), &format!("sim --json {}", WORK[0]));
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(serde_json::from_str::<Value>(&out).expect("one JSON object")["engine"], "model");
}

#[test]
fn a_difference_at_a_port_is_named_and_waves_around_it_are_written() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("least.toml"), LEAST).unwrap();
    for (work, at) in [
        ("fetch least.toml --pattern random --commands 20", "1,1@300"),
        ("decode least.toml --tokens 40 --mapping row-aligned", "1,1@300"),
        ("run least.toml --tokens 9 --mapping row-aligned", "1,1@200"),
    ] {
        let (code, out, err) = meshkv(dir.path(), &format!("cosim {work} --lockstep --upset {at}"));
        assert_eq!((code, out.as_str()), (Some(1), ""), "{work}: {err}");
        let (_, named) = err.split_once("model and Verilog differ in cycle ").expect("a difference");
        let (cycle, rest) = named.split_once(": ").expect("a cycle");
        let (cycle, upset): (u64, u64) =
            (cycle.parse().unwrap(), at.rsplit('@').next().unwrap().parse().unwrap());
        assert!(cycle >= upset, "{work}: {err}");
        for word in ["tile (", "the Verilog has 0x", "the model has 0x", "least-lockstep.fst"] {
            assert!(rest.contains(word), "{work}, {word}: {err}");
        }
        // FST: a header of 330 bytes, in which times stand from byte 9 on.
        let wave = fs::read(dir.path().join("least-lockstep.fst")).expect("waves");
        assert_eq!((wave[0], wave.len() > 3000), (0, true), "{work}: {} bytes", wave.len());
        let time = |at: usize| u64::from_be_bytes(wave[at..at + 8].try_into().unwrap()) / 4000;
        let (first, last) = (time(9), time(17));
        // The eight periods of the reset are before those that are counted.
        let from = cycle.saturating_sub(64) + 8;
        assert!(first >= from && first <= from + 1, "{work}: {first} for {cycle}");
        assert!(last >= cycle + 16 && last <= cycle + 16 + 9, "{work}: {last} for {cycle}");
        let headings = headings(&dir.path().join("least-lockstep.fst"));
        for part in ["hop 1: router (0, 0)", "home agent", "requester", "port from the router"] {
            assert!(headings.iter().any(|heading| heading.contains(part)), "{work}, {part}: {headings:?}");
        }
    }
}

#[test]
fn soak_finds_an_upset_in_a_network_and_in_a_fabric_and_writes_waves_of_it() {
    let dir = tempfile::tempdir().unwrap();
    // What is built soonest.
    let size = |design: &Design| {
        let (router, rows) = (&design.router, design.pe.array_rows);
        design.mesh.tiles() as u32 * design.flit.data_width * router.vc_depth * router.vcs() * rows
    };
    let network = (1..400).step_by(2).min_by_key(|&seed| size(&SoakCase::of(seed).design));
    let fabric = (2..400).step_by(4).min_by_key(|&seed| size(&SoakFabric::of(seed).design));
    for (seed, place) in [(network, "router ("), (fabric, "tile (")] {
        let seed: u64 = seed.expect("seeds");
        let (code, out, err) =
            meshkv(dir.path(), &format!("soak --seed {seed} --count 1 --upset 1,0@200 --json"));
        assert_eq!(code, Some(1), "{err}");
        let report: Value = serde_json::from_str(&out).expect("one JSON object");
        assert_eq!((&report["failed"]["seed"], &report["seeds"]), (&seed.into(), &0.into()), "{out}");
        assert!(report["failed"]["message"].as_str().unwrap().contains(place), "{out}");
        assert!(report["command"].as_str().unwrap().ends_with("--upset 1,0@200"), "{out}");
        let wave = fs::metadata(dir.path().join(format!("soak-{seed}.fst"))).expect("waves");
        assert!(wave.len() > 3000 && err.contains("waves of the cycles around it"), "{err}");
        assert!(headings(&dir.path().join(format!("soak-{seed}.fst")))
            .iter()
            .any(|h| h.starts_with("hop 1")));
    }
}
