//! `meshkv run` as it is typed: clocks, waves, and what is said of them.

use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Runs `meshkv run`; exit code, standard output, standard error.
fn run(line: &str) -> (Option<i32>, String, String) {
    let output = Command::cargo_bin("meshkv")
        .expect("the binary is built")
        .env("MESHKV_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("run_clocks_cli"))
        .arg("run")
        .args(line.split_whitespace())
        .output()
        .expect("the binary runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn json(line: &str) -> Value {
    let (code, out, err) = run(&format!("{line} --json"));
    assert_eq!(code, Some(0), "{err}");
    serde_json::from_str(&out).expect("one JSON object")
}

/// The tiny configuration with other clocks.
fn config(dir: &TempDir, clock: &str) -> String {
    let path = dir.path().join("clocks.toml");
    fs::write(&path, fs::read_to_string("configs/tiny.toml").unwrap() + "\n[clock]\n" + clock).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn waves_are_of_the_same_run() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("x.fst");
    let waved = json(&format!("configs/tiny.toml --tokens 8 --wave {} --wave-depth 2", file.display()));
    assert_eq!(waved, json("configs/tiny.toml --tokens 8"));
    let bytes = fs::read(&file).unwrap();
    // The first block is the header, of 329 bytes; the last of it holds the exponent of the unit of time.
    assert_eq!((bytes[0], &bytes[1..9]), (0, &329_u64.to_be_bytes()[..]));
    let end = u64::from_be_bytes(bytes[17..25].try_into().unwrap());
    assert!(end > waved["cycles"].as_u64().unwrap() * 4000, "{end} ps");
    assert!(bytes.len() > 10_000, "{} bytes", bytes.len());
}

#[test]
fn clocks_of_the_configuration_are_run_and_named() {
    let dir = TempDir::new().unwrap();
    let file = config(&dir, "noc_mhz = 250.0\npe_mhz = 300.0\n");
    let (code, out, err) = run(&format!("{file} --tokens 8 --jitter 5"));
    assert_eq!(code, Some(0), "{err}");
    for says in ["Two clocks: network 250 MHz, PEs 300 MHz", "up to 5 %", "PE cycles in which K flits pass"] {
        assert!(out.contains(says), "no `{says}` in\n{out}");
    }
    let value = json(&format!("{file} --tokens 8 --jitter 5"));
    assert_eq!(
        (&value["bit_exact"], &value["pe_mhz"], &value["jitter_percent"]),
        (&true.into(), &300.0.into(), &5.into())
    );
    assert!(value["command"].as_str().unwrap().ends_with("--jitter 5"));
    let (_, out, _) = run("configs/tiny.toml --tokens 8");
    assert!(out.contains("One clock of 250 MHz") && !out.contains("PE cycles in"), "{out}");
}

#[test]
fn waves_that_cannot_be_written_are_refused_at_once() {
    let (code, _, err) = run("configs/tiny.toml --wave /proc/x.fst");
    assert_eq!(code, Some(2));
    assert!(err.contains("--wave needs a file that can be written"), "{err}");
}
