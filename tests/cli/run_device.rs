//! `meshkv run --device` gives the same outputs as without it, on either engine, and refuses options that exclude
//! each other.

use crate::support::verilated;
use assert_cmd::Command;
use serde_json::Value;

fn meshkv(arguments: &str) -> Command {
    let mut command = Command::cargo_bin("meshkv").unwrap();
    command.env("MESHKV_CACHE", verilated::cache());
    command.args(arguments.split_whitespace());
    command
}

/// Outputs as written, and the JSON of the run.
fn run(arguments: &str) -> (Vec<u8>, Value) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.safetensors");
    let mut command = meshkv("run configs/tiny.toml --tokens 24 --batch 2 --mapping head-tile --json -q");
    let output = command.args(arguments.split_whitespace()).arg("-o").arg(&file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (std::fs::read(file).unwrap(), serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn a_device_gives_the_outputs_of_the_core() {
    let (core, said) = run("");
    assert!(said["device"].is_null());
    for arguments in ["--device", "--device --engine model", "--device --unruly-memory --stall 60"] {
        let (device, said) = run(arguments);
        assert!(device == core, "{arguments}: outputs differ");
        assert_eq!((&said["bit_exact"], &said["violations"]), (&true.into(), &Value::Array(Vec::new())));
        assert!(said["device"]["register_accesses"].as_u64().unwrap() > 30, "{said}");
        assert!(said["command"].as_str().unwrap().contains("--device"));
    }
}

#[test]
fn what_a_device_cannot_have_is_refused() {
    for (options, words) in [
        ("--lockstep --wave w.fst", "waves of a difference need the core by itself"),
        ("--lockstep --whole", "cannot be compared"),
    ] {
        let output = meshkv(&format!("run configs/tiny.toml --device {options}")).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn the_core_of_a_device_is_compared_with_its_model_in_every_cycle() {
    let (alone, _) = run("--device");
    let (both, said) = run("--device --lockstep --unruly-memory");
    assert!(alone == both, "outputs differ");
    assert_eq!(said["engine"], "lockstep");
    let line = "run configs/tiny.toml --tokens 24 --device --lockstep --upset 1,1@300";
    let output = meshkv(line).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("model and Verilog differ at the ports of the core in cycle "), "{error}");
}

#[test]
fn the_whole_is_verilated_as_it_is_emitted_and_runs_as_its_parts_do() {
    let said = |line: &str| -> Value {
        let output = meshkv(line).args(["--json", "-q"]).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    for (line, key) in [
        ("run configs/tiny.toml --tokens 24", "breakdown"),
        ("decode configs/tiny.toml --tokens 24", "steps"),
        ("run configs/tiny.toml --fit --lengths 0,14 --steps 2", "by_step"),
    ] {
        let (whole, parts) = (said(&format!("{line} --whole")), said(line));
        assert!(!parts[key].is_null(), "{parts}");
        assert_eq!((&whole[key], &whole["cycles"]), (&parts[key], &parts["cycles"]), "{line}");
    }
    let whole = said("run configs/tiny.toml --tokens 24 --device --whole");
    assert_eq!((&whole["bit_exact"], &whole["violations"]), (&true.into(), &Value::Array(Vec::new())));
}

#[test]
fn steps_on_a_device_read_what_it_has_written() {
    let line = "run configs/tiny.toml --fit --lengths 0,14 --steps 4 --json -q";
    let said = |more: &str| -> Value {
        let output = meshkv(line).args(more.split_whitespace()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let (device, core) = (said("--device --unruly-memory"), said(""));
    for (key, value) in [
        ("bit_exact", Value::from(true)),
        ("memory_equal", true.into()),
        ("appended", 8.into()),
        ("lengths", vec![4, 18].into()),
    ] {
        assert_eq!((&device[key], &core[key]), (&value, &value), "{key}");
    }
    assert!(device["command"].as_str().unwrap().contains("--device"), "{device}");
}
