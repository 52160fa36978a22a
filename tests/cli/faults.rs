//! `--fault`: each kind is injected where it is asked for and reported as it must be; one that is not reached, not reported
//! or not legal is an error.

use crate::support::verilated;
use assert_cmd::Command;
use serde_json::Value;

/// Exit code, standard error, and the JSON of a line.
fn said(line: &str) -> (i32, String, Value) {
    let mut command = Command::cargo_bin("meshkv").unwrap();
    command.env("MESHKV_CACHE", verilated::cache());
    let output = command.args(line.split_whitespace()).args(["--json", "-q"]).output().unwrap();
    let json = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap(), json)
}

/// Asserts that all faults of a line take effect and are reported by these words.
fn assert_reported(line: &str, words: &str) -> Value {
    let (code, error, json) = said(line);
    assert_eq!(code, 0, "{line}: {error}\n{json:#}");
    assert_eq!(json["as_expected"], true, "{line}: {json:#}");
    for fault in json["faults"].as_array().unwrap() {
        assert!(fault["reached_cycle"].is_u64(), "{line}: {fault}");
    }
    let reported = json["reported"].as_str().unwrap();
    assert!(reported.contains(words), "{line}: {reported}");
    json
}

const CORE: &str = "sim run configs/tiny.toml --tokens 24";
const DECODE: &str = "sim decode configs/tiny.toml --tokens 48";
const DEVICE: &str = "run configs/tiny.toml --tokens 24 --mapping head-tile --device";

#[test]
fn a_memory_that_fails_is_reported_by_its_tiles_on_the_core_and_on_the_fabric() {
    for line in [CORE, DECODE] {
        for (fault, words) in [
            ("slverr@0:3", "MEMORY at"),
            ("decerr@hbm0:0", "MEMORY at"),
            ("stall@0:200+900", "outputs right"),
            ("late@0:2+700", "outputs right"),
        ] {
            assert_reported(&format!("{line} --fault {fault}"), words);
        }
    }
    let (silent, quiet) = (format!("{CORE} --fault mute@0:9"), format!("{CORE} --fault refuse@0:9"));
    for line in [silent, quiet] {
        assert_reported(&line, "MEMORY_TIMEOUT at");
    }
    assert_reported(&format!("{DECODE} --fault clock@pe:180"), "outputs right");
    let json =
        assert_reported(&format!("{CORE} --fault stall@0:200+900 --fault clock@pe:180"), "outputs right");
    assert!(
        json["result"]["bit_exact"] == true
            && json["command"].as_str().unwrap().contains(" --fault clock@pe:180")
    );
}

#[test]
fn a_fault_that_is_not_reached_says_how_far_the_run_came() {
    for line in [CORE, DECODE] {
        let (code, error, json) = said(&format!("{line} --fault slverr@0:100000"));
        assert_eq!(
            (code, &json["as_expected"], &json["faults"][0]["reached_cycle"]),
            (1, &false.into(), &Value::Null)
        );
        let cycles = json["cycles"].as_u64().unwrap();
        assert!(error.contains(&format!("did not come to it in its {cycles} cycles")), "{error}");
        assert!(error.contains("help: "), "{error}");
    }
}

#[test]
fn a_fault_that_a_run_cannot_have_is_refused_with_a_way_out() {
    for (line, words) in [
        (format!("{CORE} --fault slverr@99:1"), "this design has memory ports 0 to"),
        (format!("{CORE} --fault reset@soft:10"), "help: add --device"),
        (format!("{DECODE} --fault slverr@queries:1"), "help: add --device"),
        (format!("{DEVICE} --fault slverr@tokens0:1"), "kv.append = true"),
        (format!("{CORE} --fault help"), "slverr@PORT:N"),
        (format!("{CORE} --fault double@0:1"), "help: run the Verilog alone"),
        (format!("{DEVICE} --lockstep --fault flip@0:1.1"), "help: run the Verilog alone"),
        (format!("{DEVICE} --fault flip@link:0,0.west:1.1"), "has no such link"),
        (format!("{DEVICE} --fault flip@0:1.9999"), "a flit has bits 0 to"),
        (format!("{CORE} --fault slverr@0:1 --output o.safetensors"), "--fault has no effect with --output"),
    ] {
        let (code, error, _) = said(&line);
        assert!(code == 2 && error.contains(words), "{line}: {code}: {error}");
    }
}

#[test]
fn a_device_names_each_fault_and_the_next_run_is_right() {
    for (fault, words) in [
        ("slverr@hbm0:3", "MEMORY at"),
        ("decerr@queries:1", "QUERY_READ at 0"),
        ("slverr@outputs:0", "OUTPUT_WRITE at 0"),
        ("reset@soft:300", "RESET at 0"),
        ("reset@ap_rst_n_2:300", "RESET at 2"),
        ("reset@ap_rst_n:300", "as after power-up"),
        ("cut@list:0", "START_LIST at 0"),
        ("stall@queries:50+400", "outputs right"),
    ] {
        let json = assert_reported(&format!("{DEVICE} --engine model --fault {fault}"), words);
        assert_eq!(json["recovered"], true, "{fault}: {json:#}");
    }
    let (code, error, _) = said(&format!("{DEVICE} --engine model --fault reset@soft:1000000"));
    assert!(code == 1 && error.contains("did not come to it"), "{error}");
}

#[test]
fn what_no_design_notices_is_found_by_rules_and_by_comparison() {
    let [core, decode] = ["run configs/tiny.toml --tokens 24", "decode configs/tiny.toml --tokens 48"];
    for line in [core, decode, DEVICE] {
        for (fault, words) in [
            ("double@0:1", "a broken rule: cycle"),
            ("early-last@0:1", "RLAST is too early"),
            ("no-last@0:1", "RLAST is missing"),
            ("flip@0:1.14", "differ"),
            ("flip@link:1,0.west:9.14", "outputs"),
        ] {
            assert_reported(&format!("{line} --fault {fault}"), words);
        }
    }
    // The check in the Verilog stops the simulation, so no run follows.
    let json = assert_reported(&format!("{DEVICE} --fault double@outputs:0"), "a broken rule: cycle");
    assert!(json["reported"].as_str().unwrap().contains("an answer to no write"), "{json:#}");
    assert_eq!(json["recovered"], Value::Null, "{json:#}");
}

/// Each waits for 2^16 cycles once or twice.
#[test]
fn a_device_gives_a_silent_memory_up() {
    for (fault, words) in [
        ("mute@hbm0:3", "MEMORY_TIMEOUT at"),
        ("refuse@hbm0:3", "MEMORY_TIMEOUT at"),
        ("late@hbm0:3+140000", "MEMORY_TIMEOUT at"),
        ("mute@queries:0", "IO_TIMEOUT at 0"),
        ("refuse@outputs:0", "IO_TIMEOUT at 1"),
    ] {
        let json = assert_reported(&format!("{DEVICE} --fault {fault}"), words);
        assert_eq!(json["recovered"], true, "{fault}: {json:#}");
    }
}

#[test]
fn a_flit_that_flips_is_named_where_it_comes_if_flits_carry_parity() {
    for line in [
        "run configs/parity_3x3.toml --tokens 24 --device --fault flip@link:1,1.west:3.7",
        "decode configs/parity_3x3.toml --tokens 40 --mapping head-tile --fault flip@link:1,1.west:3.40",
    ] {
        assert_reported(line, "PARITY at tile 4, from the west");
    }
}
