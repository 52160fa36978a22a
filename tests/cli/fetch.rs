//! The command line of `meshkv fetch`: exit codes, messages and the keys of its JSON.

use crate::support::verilated;
use assert_cmd::Command;
use serde_json::Value;

/// Runs `meshkv fetch` on the smallest configuration.
fn fetch(line: &str) -> (Option<i32>, String, String) {
    let output = Command::cargo_bin("meshkv")
        .expect("the binary is built")
        .env("MESHKV_CACHE", verilated::cache())
        .args(["fetch", "configs/tiny.toml"])
        .args(line.split_whitespace())
        .output()
        .expect("the binary runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn json(line: &str) -> Value {
    let (code, out, err) = fetch(&format!("{line} --json"));
    assert_eq!(code, Some(0), "{err}");
    let mut value: Value = serde_json::from_str(&out).expect("one JSON object");
    // What differs from run to run.
    assert!(value.as_object_mut().and_then(|keys| keys.remove("wall")).is_some());
    value
}

#[test]
fn every_pattern_runs_and_says_what_it_counted() {
    for pattern in ["slice --requesters 3", "broadcast", "heads", "trees", "retries", "random --commands 50"]
    {
        let value = json(&format!("--pattern {pattern}"));
        let keys = ["cycles", "commands", "delivered", "merged_share", "data_links", "counters", "command"];
        for key in keys {
            assert!(!value[key].is_null(), "{pattern}: {key}");
        }
        assert_eq!(value["violations"], 0, "{pattern}");
        assert!(value["delivered"].as_u64() > Some(0), "{pattern}");
    }
}

/// The result without the keys that name the engine and the command.
fn figures(mut value: Value) -> Value {
    for key in ["engine", "command", "rare"] {
        value.as_object_mut().expect("an object").remove(key).expect(key);
    }
    value
}

#[test]
fn the_model_gives_the_same_figures_and_needs_no_verilator() {
    for line in ["--pattern random --commands 40 --stall 50", "--pattern retries"] {
        let rtl = json(line);
        let (model, both) = (json(&format!("{line} --engine model")), json(&format!("{line} --lockstep")));
        assert_eq!(
            [&rtl, &model, &both].map(|value| value["engine"].clone()),
            ["rtl", "model", "lockstep"],
            "{line}"
        );
        for (value, option) in [(&model, "--engine model"), (&both, "--lockstep")] {
            let command = value["command"].as_str().expect("a command");
            assert!(command.ends_with(option), "{command}");
        }
        // The model counts rare states, and Verilog alone does not.
        assert!(rtl["rare"].is_null() && model["rare"].is_object(), "{line}");
        assert_eq!(model["rare"], both["rare"], "{line}");
        assert_eq!(figures(model), figures(rtl.clone()), "{line}");
        assert_eq!(figures(both), figures(rtl), "{line}");
    }
    // Neither a cache nor a path to any tool.
    let mut alone = Command::cargo_bin("meshkv").expect("the binary is built");
    alone.env_clear().args(["fetch", "configs/tiny.toml", "--engine", "model"]).assert().success();
    let (code, _, err) = fetch("--lockstep --engine model");
    assert_eq!(code, Some(2));
    assert!(err.contains("--lockstep") && err.contains("--engine"), "{err}");
}

#[test]
fn the_command_of_a_result_gives_it_again() {
    let first = json("--pattern random --commands 40 --gap 3 --seed 9 --stall 50");
    let command = first["command"].as_str().unwrap();
    let line = command.strip_prefix("meshkv fetch configs/tiny.toml ").expect("the same configuration");
    assert_eq!(json(line), first);
}

#[test]
fn prose_names_the_counters() {
    let (code, out, _) = fetch("--pattern trees");
    assert_eq!(code, Some(0));
    for word in ["chunks_trimmed", "requests_merged", "of the fetches joined a request"] {
        assert!(out.contains(word), "{out}");
    }
}

#[test]
fn what_the_fabric_cannot_do_is_refused_with_the_way_out() {
    for (line, words) in [
        ("--pattern slice --requesters 6", ["6 tiles cannot ask one home", "at most 5 others"]),
        ("--pattern broadcast --chunks 99", ["not 99", "ask for 1 to 32"]),
        ("--pattern broadcast --slices 999", ["999 slices", "at most"]),
        ("--pattern sideways", ["invalid value 'sideways'", "broadcast"]),
        ("--stall 255", ["255", "250"]),
    ] {
        let (code, out, err) = fetch(line);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{line}: {err}");
        assert!(words.iter().all(|word| err.contains(word)), "{line}: {err}");
    }
}
