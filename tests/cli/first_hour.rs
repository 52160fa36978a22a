//! What a newcomer meets in the first hour: files that make no sense, results for scripts, Ctrl-C.

use crate::support::sandbox::{Running, Sandbox};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::time::{Duration, Instant};

/// A sweep of many points that take milliseconds each.
const SHORT: &str = "base = \"small.toml\"\n[workload]\nkind = \"traffic\"\ncycles = 20\nwarmup = 0\n\
    load = { from = 0.001, to = 0.5, step = 0.001 }\nseed = { from = 1, to = 8, step = 1 }\n";

#[test]
fn ctrl_c_ends_a_sweep_of_short_points_at_once_and_every_row_that_was_told_is_there() {
    let sandbox = Sandbox::new();
    sandbox.file("grid.toml", SHORT);
    let mut running = Running::start(&mut sandbox.meshkv("sweep grid.toml -v -o out"));
    for _ in 0..40 {
        running.hear("row of ");
    }
    let asked = Instant::now();
    running.signal(Signal::INT);
    let said = running.end();
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    assert_eq!(said.code, Some(130), "{}", said.err);
    let rows = fs::read_to_string(sandbox.path("out/rows.jsonl")).unwrap().lines().count();
    assert_eq!(rows, said.err.lines().filter(|line| line.starts_with("row of ")).count());
    let last = said.err.lines().last().unwrap_or_default();
    assert!(last.starts_with(&format!("interrupted with {rows} of 4000 rows in out")), "{last}");
}

#[test]
fn an_output_is_none_of_the_inputs() {
    let sandbox = Sandbox::new();
    sandbox.file("mine.safetensors", "kept");
    for (line, what) in [
        ("run small.toml --tensors mine.safetensors --output mine.safetensors", "the file of --tensors"),
        ("run small.toml --output ./small.toml", "the configuration"),
        ("check small.toml --placement --svg small.toml", "the configuration"),
    ] {
        let before = sandbox.list();
        let said = sandbox.run(line);
        assert_eq!(said.code, Some(2), "{line}: {}", said.err);
        let told = said.err.contains(&format!("it is {what}\n  help: name another file"));
        // Tensors that are none are found first.
        assert!(told || said.err.contains("mine.safetensors"), "{line}: {}", said.err);
        assert_eq!(sandbox.list(), before);
    }
    assert_eq!(fs::read_to_string(sandbox.path("mine.safetensors")).unwrap(), "kept");
}

#[test]
fn an_error_under_json_is_an_object_with_the_exit_code_for_every_subcommand() {
    let sandbox = Sandbox::new();
    sandbox.file("there.toml", "");
    for (line, code) in [
        ("init there.toml", 2),
        ("check gone.toml", 2),
        ("generate gone.toml", 2),
        ("lint gone.toml", 2),
        ("cosim gone.toml", 2),
        ("sim gone.toml", 2),
        ("sim decode gone.toml", 2),
        ("fetch gone.toml", 2),
        ("decode gone.toml", 2),
        ("run gone.toml", 2),
        ("card gone.toml", 2),
        ("soak --seeds 0", 2),
        ("sweep gone.toml", 2),
        ("report gone", 2),
        ("paper --energy gone.toml", 2),
        ("estimate gone.toml", 2),
        ("schema extra", 2),
        ("completions no-shell", 2),
        ("no-subcommand", 2),
        ("check small.toml --no-option", 2),
    ] {
        let said = sandbox.run(&format!("{line} --json"));
        assert_eq!(said.code, Some(code), "{line}: {}", said.err);
        let value: Value =
            serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{line}: {e}: {}", said.out));
        assert_eq!(value["error"]["exit_code"], code, "{line}");
        let message = value["error"]["message"].as_str().unwrap_or_default();
        assert!(!message.is_empty() && !message.contains('\u{1b}'), "{line}: {message:?}");
        assert!(!said.err.is_empty(), "{line}: people read it, too");
    }
}

#[test]
fn a_missing_tool_is_such_an_object_too() {
    let sandbox = Sandbox::new();
    let mut doctor = sandbox.meshkv("lint small.toml --json");
    let output = doctor.env("MESHKV_VERILATOR", "/nowhere/verilator").output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["error"]["exit_code"], 2);
    assert!(value["error"]["message"].as_str().unwrap().contains("verilator at /nowhere"), "{value}");
}

#[test]
fn the_points_of_a_sweep_are_one_object() {
    let sandbox = Sandbox::new();
    sandbox.file("grid.toml", "base = \"small.toml\"\n[workload]\nkind = \"traffic\"\nseed = [1, 2, 3]\n");
    let said = sandbox.run("sweep grid.toml --dry-run --json");
    let value: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((value["points"].as_array().map(Vec::len), &value["done"]), (Some(3), &Value::from(0)));
}

#[test]
fn a_range_with_too_many_values_says_so() {
    let sandbox = Sandbox::new();
    let range = "seed = { from = 1, to = 100000, step = 1 }";
    sandbox.file("grid.toml", &format!("base = \"small.toml\"\n[workload]\nkind = \"traffic\"\n{range}\n"));
    let said = sandbox.run("sweep grid.toml --dry-run");
    assert_eq!(said.code, Some(2));
    assert!(said.err.starts_with("grid.toml:4:8: "), "{}", said.err);
    assert!(said.err.contains("is a range of more than 10000 values"), "{}", said.err);
    assert!(said.err.contains("help: take a larger step"), "{}", said.err);
}

#[test]
fn a_file_without_an_end_is_refused_at_once() {
    let sandbox = Sandbox::new();
    for line in [
        "check /dev/zero",
        "sweep /dev/zero",
        "cosim small.toml --trace /dev/zero",
        "run small.toml --tensors /dev/zero",
        "paper --quick --energy /dev/zero -o out",
    ] {
        let begun = Instant::now();
        let said = sandbox.run(line);
        assert_eq!(said.code, Some(2), "{line}: {}", said.err);
        assert!(said.err.contains("/dev/zero"), "{line}: {}", said.err);
        assert!(begun.elapsed() < Duration::from_secs(10), "{line}: {:?}", begun.elapsed());
    }
}

#[test]
fn a_message_about_a_long_line_fits_a_screen() {
    let sandbox = Sandbox::new();
    let long = "x".repeat(900_000);
    sandbox.file("key.toml", &format!("[mesh]\ncols = 2\n{long} = 1\n"));
    sandbox.file("value.toml", &format!("[takv]\nplacement = \"{long}\"\n"));
    sandbox.file("broken.toml", &format!("[mesh]\ncols = 2 {long}\n"));
    sandbox.file(
        "many.toml",
        &format!("[mesh]\n{}", (0..5000).map(|i| format!("key{i} = 1\n")).collect::<String>()),
    );
    sandbox.file("trace.csv", &format!("0,0,1,{long},1\n"));
    sandbox.file("trace.jsonl", &format!("{{\"cycle\": 0, \"{long}\": 3}}\n"));
    sandbox.file("energy.toml", &format!("[link]\npj_per_bit = \"{long}\"\nsource = \"a\"\n"));
    sandbox.file("base.toml", &format!("base = \"{long}\"\n[workload]\nkind = \"traffic\"\n"));
    for line in [
        "sweep base.toml --dry-run",
        "check key.toml",
        "check value.toml",
        "check broken.toml",
        "check many.toml",
        "cosim small.toml --trace trace.csv",
        "cosim small.toml --trace trace.jsonl",
        "paper --quick --energy energy.toml -o out",
    ] {
        let said = sandbox.run(line);
        assert_eq!(said.code, Some(2), "{line}");
        assert!(said.err.len() < 8000, "{line}: {} bytes", said.err.len());
        assert!(said.err.contains("help: ") || line.contains("energy"), "{line}: {}", said.err);
    }
}

#[test]
fn what_the_system_says_is_said_once() {
    let sandbox = Sandbox::new();
    for line in
        ["run small.toml --tensors gone", "cosim small.toml --trace gone", "paper --energy gone -o out"]
    {
        let said = sandbox.run(line);
        assert_eq!(said.err.matches("No such file or directory").count(), 1, "{line}: {}", said.err);
    }
}

#[test]
fn waves_have_the_name_of_their_form() {
    let sandbox = Sandbox::new();
    for line in ["cosim small.toml --wave waves.vcd", "run small.toml --wave waves", "soak --wave a.txt"] {
        let said = sandbox.run(line);
        assert_eq!(said.code, Some(2), "{line}");
        assert!(said.err.contains("the name ends with .fst, for example waves.fst"), "{line}: {}", said.err);
    }
}

#[test]
fn the_default_fan_out_fits_a_small_mesh() {
    let sandbox = Sandbox::new();
    let said = sandbox.run("sim small.toml --traffic mixed --load 0.3 --cycles 300 --json");
    assert_eq!(said.code, Some(0), "{}", said.err);
}

#[test]
fn every_preset_leads_on_without_a_flag() {
    for preset in ["u280", "shell", "paper", "tiny", "gemma-3-4b", "gpt-oss-20b"] {
        let sandbox = Sandbox::new();
        let said = sandbox.run(&format!("init --preset {preset}"));
        assert_eq!((said.code, said.out.as_str()), (Some(0), "meshkv.toml\n"), "{}", said.err);
        assert_eq!(said.err, "Next: meshkv check meshkv.toml\n");
        let checked = sandbox.run("check meshkv.toml");
        assert_eq!(checked.code, Some(0), "{}", checked.err);
        assert!(checked.err.ends_with("Next: meshkv generate meshkv.toml\n"), "{}", checked.err);
        let made = sandbox.run("generate meshkv.toml");
        assert_eq!(made.code, Some(0), "{}", made.err);
        assert!(made.err.contains("files in out/meshkv\nNext: out/meshkv/doc/meshkv.md"), "{}", made.err);
        assert!(sandbox.path("out/meshkv/doc/meshkv.md").is_file());
    }
}
