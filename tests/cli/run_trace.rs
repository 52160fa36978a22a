//! `meshkv run --trace`: requests join and leave the batch over the pages of the cache, on either engine; and layers of
//! several kinds, with what a call has in their place.

use super::run::{json, said, typed};
use serde_json::Value;
use std::fs;

/// Requests of pages_3x3: five with a prefix that ends within a page, and two without.
const REQUESTS: &str = "\
{\"arrival\": 0, \"prompt\": 30, \"output\": 5, \"prefix\": {\"name\": \"a\", \"tokens\": 20}}
{\"arrival\": 0, \"prompt\": 61, \"output\": 3}
{\"arrival\": 0, \"prompt\": 24, \"output\": 4, \"prefix\": {\"name\": \"a\", \"tokens\": 20}}
{\"arrival\": 1e-5, \"prompt\": 20, \"output\": 6, \"prefix\": {\"name\": \"a\", \"tokens\": 20}}
{\"arrival\": 1e-5, \"prompt\": 90, \"output\": 2, \"prefix\": {\"name\": \"a\", \"tokens\": 20}}
{\"arrival\": 2e-5, \"prompt\": 8, \"output\": 1}
{\"arrival\": 0.5, \"prompt\": 41, \"output\": 2, \"prefix\": {\"name\": \"a\", \"tokens\": 20}}
";

/// The words of a command on a file with these requests, which lives as long as the folder.
fn line(dir: &tempfile::TempDir, config: &str, requests: &str) -> String {
    let path = dir.path().join("requests.jsonl");
    fs::write(&path, requests).unwrap();
    format!("{config} --trace {}", path.display())
}

#[test]
fn requests_are_decoded_over_pages_on_the_verilog_as_on_its_model() {
    let dir = tempfile::tempdir().unwrap();
    let line = line(&dir, "configs/pages_3x3.toml", REQUESTS);
    let model = said(&format!("{line} --engine model"));
    let rtl = said(&line);
    for value in [&model, &rtl] {
        for (key, wanted) in [("requests", 7), ("finished", 7), ("decoded", 23), ("preempted", 0)] {
            assert_eq!(value[key], wanted, "{key}");
        }
        // Each prefix of 20 tokens ends in the midst of its third page.
        assert_eq!((&value["copied"], &value["simulated"]), (&5.into(), &value["steps"]));
        assert_eq!(
            (&value["runs"]["bit_exact"], &value["runs"]["memory_equal"]),
            (&true.into(), &true.into())
        );
        assert_eq!(value["runs"]["within_bound"], true);
    }
    // The last one comes when all others are over.
    assert!(model["seconds"].as_f64().unwrap() > 0.5);
    // Layers of two kinds, and more requests than a run has streams.
    let runs = model["runs"]["steps"].as_u64().unwrap();
    assert!(runs > 2 * model["steps"].as_u64().unwrap(), "{runs}");
    assert_eq!(model, rtl, "the engines differ in nothing but their name");
}

#[test]
fn a_full_pool_lets_requests_wait_and_takes_pages_from_the_last() {
    let dir = tempfile::tempdir().unwrap();
    let text =
        fs::read_to_string("configs/pages_3x3.toml").unwrap().replace("page_count = 270", "page_count = 36");
    let config = dir.path().join("few.toml");
    fs::write(&config, text).unwrap();
    let requests = "{\"arrival\": 0, \"prompt\": 60, \"output\": 80}\n".repeat(5);
    let line = line(&dir, config.to_str().unwrap(), &requests);
    let value = said(&format!("{line} --engine model --timing --every 10"));
    assert_eq!(
        (&value["finished"], &value["decoded"], &value["reserved"]),
        (&5.into(), &400.into(), &1.into())
    );
    assert!(value["preempted"].as_u64() > Some(0) && value["again"].as_u64() > Some(0), "{value:#}");
    assert!(value["full"].as_u64() > Some(0) && value["live"].as_f64() > Some(0.9));
    let (steps, simulated) = (value["steps"].as_u64().unwrap(), value["simulated"].as_u64().unwrap());
    assert_eq!(simulated, steps.div_ceil(10));
    assert_eq!(value["runs"]["bit_exact"], Value::Null);
    let pages = |step: &Value| step["pages"].as_u64().unwrap();
    assert!(value["by_step"].as_array().unwrap().iter().all(|step| pages(step) <= 36));
}

#[test]
fn a_trace_is_told_in_words_and_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let line = line(&dir, "configs/pages_3x3.toml", REQUESTS);
    let (code, out, err) = typed(&format!("{line} --engine model --plot {}", dir.path().join("p").display()));
    assert_eq!(code, Some(0), "{err}");
    for words in [
        "7 of 7 requests have all their tokens",
        "tokens a second",
        "pages were copied",
        "of the memory's rate",
    ] {
        assert!(out.contains(words), "{out}");
    }
    for file in ["memory.svg", "requests.svg", "report.html"] {
        assert!(dir.path().join("p").join(file).is_file(), "{file}");
    }
}

#[test]
fn what_is_no_trace_is_refused_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    for (config, requests, words) in [
        ("configs/tiny.toml", REQUESTS, "--trace needs a cache in pages"),
        ("configs/pages_3x3.toml", "{\"arrival\": 0}\n", "line 1: missing field `prompt`"),
        (
            "configs/pages_3x3.toml",
            "{\"arrival\": 0, \"prompt\": 8, \"output\": 1}\n{\"arrival\": 0, \"prompt\": 250, \"output\": 7}\n",
            "request 2 of",
        ),
    ] {
        let (code, _, err) = typed(&format!("{} --engine model", line(&dir, config, requests)));
        assert!(code == Some(2) || code == Some(1), "{err}");
        assert!(err.contains(words) && err.contains("help: "), "{err}");
    }
    let (code, _, err) = typed("configs/pages_3x3.toml --trace none.jsonl --engine model");
    assert!(code != Some(0) && err.contains("none.jsonl"), "{err}");
}

#[test]
fn a_layer_attends_as_its_kind_says_unless_the_call_says_otherwise() {
    let of = |line: &str| {
        let value = said(&format!("configs/pages_3x3.toml --tokens 100 {line}"));
        assert_eq!(
            (&value["bit_exact"], &value["violations"]),
            (&true.into(), &Value::Array(Vec::new())),
            "{line}"
        );
        (value["kv_cycles"].as_u64().unwrap(), value["max_abs_error"].as_f64().unwrap())
    };
    // Layer 0 looks 40 tokens back and has sinks; layer 1 sees all.
    let (near, full) = (of("--engine model"), of("--engine model --layer 1"));
    assert!(2 * near.0 < 2 * full.0 && near.0 * 3 < full.0 * 2, "{near:?}, {full:?}");
    assert_eq!(of(""), near, "the Verilog has sinks as its model has them");
    assert_eq!(of("--layer 1"), full);
    let window = of("--window 96 --sm-scale 0.3 --engine model");
    assert!(window.0 > near.0, "{window:?}");
    assert_eq!(of("--window 96 --sm-scale 0.3"), window);
    json("configs/pages_3x3.toml --tokens 100 --partials 3 --engine model");
    let (code, _, err) = typed("configs/tiny.toml --tokens 8 --engine model --layer 1");
    assert!(code != Some(0) && err.contains("--layer has no effect"), "{err}");
    let (code, _, err) = typed("configs/tiny.toml --tokens 8 --engine model --sm-scale 0.3");
    assert!(code != Some(0) && err.contains("kv.scales = \"head\""), "{err}");
}
