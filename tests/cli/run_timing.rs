//! Parts of a run, which add up to its cycles: on the core and on the device, after a common prefix, and over steps, on
//! the Verilog as on the model; and its distance from the bound of its bytes.

use super::run::{json, typed};
use serde_json::Value;

/// Cycles of the parts, by name.
fn parts(value: &Value) -> Vec<(String, u64)> {
    let parts = value["breakdown"].as_array().unwrap_or_else(|| panic!("no breakdown: {value}"));
    parts.iter().map(|part| (part["name"].as_str().unwrap().to_owned(), number(&part["cycles"]))).collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn sum(parts: &[(String, u64)]) -> u64 {
    parts.iter().map(|part| part.1).sum()
}

fn names(parts: &[(String, u64)]) -> Vec<&str> {
    parts.iter().map(|part| part.0.as_str()).collect()
}

/// Runs a line on the model without numbers and on the Verilog; both have the same parts.
fn both(line: &str) -> Value {
    let timing = json(&format!("configs/tiny.toml {line} --engine model --timing"));
    let rtl = json(&format!("configs/tiny.toml {line}"));
    assert_eq!(timing["breakdown"], rtl["breakdown"], "{line}");
    assert_eq!((&timing["bit_exact"], &rtl["bit_exact"]), (&Value::Null, &true.into()), "{line}");
    timing
}

const IN_ARRAYS: [&str; 7] = ["address", "memory", "filling", "kv", "closing", "results", "parts"];

#[test]
fn parts_of_a_run_add_up_from_the_first_query_to_the_last_output() {
    for line in ["--tokens 30 --batch 2", "--lengths 17,64", "--lengths 20,25 --prefix 16"] {
        let value = both(line);
        let parts = parts(&value);
        assert_eq!(sum(&parts), number(&value["total_cycles"]), "{line}: {parts:?}");
        let expected = [&["queries", "descriptor"][..], &IN_ARRAYS, &["root", "output"]].concat();
        assert_eq!(names(&parts), expected, "{line}");
        assert_eq!(parts[0].1, number(&value["query_cycles"]), "{line}");
        let to_kv = 1 + parts.iter().position(|part| part.0 == "kv").unwrap();
        let until = number(&value["query_cycles"]) + number(&value["kv_cycles"]);
        assert_eq!(sum(&parts[..to_kv]), until, "{line}");
    }
}

#[test]
fn parts_of_a_run_on_a_device_add_up_from_ap_start_to_ap_done() {
    for line in ["--device --tokens 24 --batch 2", "--device --lengths 20,25 --prefix 16"] {
        let value = both(line);
        let parts = parts(&value);
        assert_eq!(sum(&parts), number(&value["cycles"]), "{line}: {parts:?}");
        // Queries go in beside the first KV, and have no part of their own.
        let expected = [&["start"][..], &IN_ARRAYS, &["outputs", "done"]].concat();
        assert_eq!(names(&parts), expected, "{line}");
        for name in ["start", "address", "kv", "outputs"] {
            assert!(parts.iter().any(|part| part.0 == name && part.1 > 0), "{line}: {name}: {parts:?}");
        }
    }
}

#[test]
fn parts_of_steps_add_up_in_each_step_and_over_all() {
    for line in [
        "--fit --lengths 0,14 --steps 3",
        "--fit --lengths 17,20 --prefix 16 --steps 2",
        "--fit --lengths 0,14 --steps 3 --device",
    ] {
        let value = both(line);
        assert_eq!(sum(&parts(&value)), number(&value["cycles"]), "{line}");
        for step in value["by_step"].as_array().unwrap() {
            let cycles = number(&step["cycles"]) + number(&step["settle_cycles"]);
            assert_eq!(sum(&parts(step)), cycles, "{line}: {step}");
        }
        let last = if line.contains("--device") { "done" } else { "output" };
        assert!(names(&parts(&value)).contains(&last), "{line}");
    }
}

#[test]
fn the_parts_are_told_in_words_and_the_command_repeats_them() {
    let line = "configs/tiny.toml --lengths 20,25 --prefix 16 --engine model --timing";
    let (code, out, err) = typed(line);
    assert_eq!(code, Some(0), "{err}");
    for words in [
        "Parts of the run, one behind the other, in cycles of the network:",
        "to the last flit of KV that passes an array; all bytes take ",
        "Cycles only: no number was computed.",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
    let command = json(line)["command"].as_str().unwrap().to_owned();
    assert!(command.contains("--lengths 20,25 --prefix 16") && command.contains("--timing"), "{command}");
    let steps = "configs/tiny.toml --fit --lengths 0,5 --steps 2 --engine model --timing";
    let (code, out, err) = typed(steps);
    assert_eq!(code, Some(0), "{err}");
    for words in ["Cycles only: no number was computed.", "Parts of the steps, one behind the other"] {
        assert!(out.contains(words), "{words}: {out}");
    }
    let command = json(steps)["command"].as_str().unwrap().to_owned();
    assert!(command.contains("--timing") && !command.contains("--logits"), "{command}");
}

#[test]
fn a_common_prefix_is_read_once_and_must_leave_each_stream_a_token() {
    let lengths = "configs/tiny.toml --lengths 20,25 --engine model";
    let beats = |value: &Value| number(&value["bounds"]["bytes"]);
    let (shared, apart) = (json(&format!("{lengths} --prefix 16")), json(lengths));
    assert_eq!((&shared["bit_exact"], &shared["violations"]), (&true.into(), &Value::Array(Vec::new())));
    assert!(beats(&shared) < beats(&apart), "{shared} {apart}");
    for (line, words) in [
        ("--lengths 20,25 --prefix 12", "streams share whole segments of 8\n  help: give --prefix 8"),
        ("--lengths 20,16 --prefix 16", "stream 1 of --lengths has 16 tokens, and shares a prefix of 16"),
        ("--tokens 20 --prefix 16", "--prefix has no effect without --lengths"),
        ("--lengths 20,25 --prefix 16 --tensors x", "cannot be used with"),
    ] {
        let (code, out, err) = typed(&format!("configs/tiny.toml --engine model {line}"));
        assert_eq!((code, out.as_str()), (Some(2), ""), "{line}");
        assert!(err.contains(words), "{line}: {err}");
    }
}

#[test]
fn a_run_that_leaves_most_of_the_memory_idle_says_so() {
    // A segment has one home, so one of six ports reads all of it.
    let value = json("configs/tiny.toml --tokens 8 --engine model --timing");
    let (bounds, over) = (&value["bounds"], value["over_bound"].as_f64().unwrap());
    let bound = number(&bounds["bytes"]).max(number(&bounds["array"]));
    assert_eq!(value["imbalance"], 6.0);
    assert!((over - number(&value["total_cycles"]) as f64 / bound as f64).abs() < 1e-9, "{value}");
    assert!(number(&bounds["memory"]) > number(&bounds["bytes"]), "{bounds}");
    let (_, out, _) = typed("configs/tiny.toml --tokens 8 --engine model --timing");
    for words in [
        "times its bound: ",
        "The fullest memory port reads 6.00 times the mean of all that have a home",
        "bytes  memory  injection",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
}
