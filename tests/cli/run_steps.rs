//! `meshkv run --steps`: caches grow step by step on either engine, and what cannot be is refused.

use super::run::{json, said, typed};
use serde_json::Value;
use std::fs;

#[test]
fn caches_grow_on_the_verilog_as_on_its_model() {
    let line = "configs/tiny.toml --fit --lengths 0,15,17 --steps 9 --seed 3";
    let model = said(&format!("{line} --engine model"));
    let rtl = said(line);
    for (key, value) in [
        ("steps", Value::from(9)),
        ("bit_exact", true.into()),
        ("memory_equal", true.into()),
        ("within_bound", true.into()),
        ("memory_differing", 0.into()),
        ("appended", 27.into()),
        ("prompts", vec![0, 15, 17].into()),
        ("lengths", vec![9, 24, 26].into()),
    ] {
        assert_eq!((&model[key], &rtl[key]), (&value, &value), "{key}");
    }
    let steps = model["by_step"].as_array().unwrap();
    assert_eq!(steps.len(), 9);
    let cycles = |key: &str| steps.iter().map(|step| step[key].as_u64().unwrap()).collect::<Vec<_>>();
    let (run, settle) = (cycles("cycles"), cycles("settle_cycles"));
    assert_eq!(model["cycles"], run.iter().chain(&settle).sum::<u64>());
    assert_eq!(model["step_cycles"]["min"], *run.iter().min().unwrap());
    assert_eq!(steps[3]["tokens"], Value::from(vec![4, 19, 21]));
    assert_eq!(model, rtl, "the engines differ in nothing but their name");
}

#[test]
fn homes_swap_on_the_configuration_for_growing_caches() {
    let line = "configs/grow_4x4.toml --fit --engine model --lengths 17,64,200 --steps 96";
    let value = json(line);
    assert_eq!((&value["bit_exact"], &value["memory_equal"]), (&true.into(), &true.into()));
    assert!(value["swaps"].as_u64() > Some(0), "{value:#}");
    let swaps = |step: &Value| step["swaps"].as_array().unwrap().len() as u64;
    let by_step = value["by_step"].as_array().unwrap();
    assert_eq!(by_step.iter().map(swaps).sum::<u64>(), value["swaps"]);
    // An epoch has eight steps.
    assert!(by_step.iter().enumerate().all(|(at, step)| at % 8 == 7 || swaps(step) == 0));
}

#[test]
fn five_hundred_steps_on_four_by_four_tiles_of_verilog_lose_nothing() {
    let value = json("configs/grow_4x4.toml --fit --lengths 17,64,200 --steps 512");
    assert_eq!((&value["bit_exact"], &value["memory_equal"]), (&true.into(), &true.into()));
    assert_eq!((&value["within_bound"], &value["appended"]), (&true.into(), &1536.into()));
    assert!(value["swaps"].as_u64() > Some(0));
}

#[test]
fn steps_are_told_in_words_and_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let line =
        "configs/tiny.toml --fit --engine model --lengths 3,30 --steps 20 --begin 4,0 --end 20,12 --plot";
    let (code, out, err) = typed(&format!("{line} {}", dir.path().display()));
    assert_eq!(code, Some(0), "{err}");
    for words in [
        "20 decode steps of 6 heads of 32 on 3 x 2 tiles: 3 + 30 tokens in the caches, 28 appended, 19 + 42 in the end",
        "Every output of every step equals the model of the datapath in every bit.",
        "External memory is what a host would have written, byte for byte: ",
        "Largest error against attention in f64: ",
        " swaps of homes between steps",
        "12 of 20 steps:",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
    assert!(err.contains("--fit: this run has kv.append = true; configs/tiny.toml has not"), "{err}");
    for file in ["steps.svg", "steps.png", "report.html"] {
        assert!(fs::metadata(dir.path().join(file)).unwrap().len() > 1000, "{file}");
    }
}

#[test]
fn a_prefix_that_ends_within_a_segment_is_copied_there() {
    let line = "configs/tiny.toml --fit --engine model --lengths 21,30,19 --steps 6 --prefix";
    for prefix in ["19", "3", "16"] {
        let value = json(&format!("{line} {prefix}"));
        assert_eq!((&value["bit_exact"], &value["memory_equal"]), (&true.into(), &true.into()), "{prefix}");
    }
}

#[test]
fn steps_that_cannot_be_are_refused_before_anything_runs() {
    for (line, words) in [
        ("--lengths 17 --steps 3", "kv.append is false"),
        ("--steps 3", "--steps has no effect without --lengths"),
        ("--lengths 1,2 --begin 3,4", "add --steps"),
        ("--lengths 1 --fit", "add --tensors or --steps"),
        ("--lengths 1,2 --steps 3 --fit --end 3", "--end has 1 numbers, and --lengths has 2 streams"),
        (
            "--lengths 1,2 --steps 3 --fit --begin 0,2 --end 3,2",
            "stream 1 begins with step 2 and is gone from step 2 on",
        ),
        ("--lengths 1,2 --steps 3 --fit --end 3,4", "--end is above it and at most 3"),
        ("--lengths 1,2 --steps 3 --fit --begin 2,1", "no stream is in the batch of step 0"),
        ("--lengths 9,7 --steps 3 --fit --prefix 8", "stream 1 has 7 tokens, and shares a prefix of 8"),
        ("--lengths 1 --steps 3 --fit --batch 2", "cannot be used with"),
        ("--lengths 1 --steps 3 --fit --device", "needs the Verilog of the core"),
        ("--lengths 1 --steps 0 --fit", "0 is not in 1..=65536"),
    ] {
        let (code, out, err) = typed(&format!("configs/tiny.toml --engine model {line}"));
        assert_eq!((code, out.as_str()), (Some(2), ""), "{line}");
        assert!(err.contains(words), "{line}: {err}");
    }
}
