//! The command line of `meshkv decode`: exit codes, messages and the keys of its JSON.

use crate::support::verilated;
use assert_cmd::Command;
use serde_json::Value;

/// Runs `meshkv decode` on the smallest configuration.
fn decode(line: &str) -> (Option<i32>, String, String) {
    let output = Command::cargo_bin("meshkv")
        .expect("the binary is built")
        .env("MESHKV_CACHE", verilated::cache())
        .args(["decode", "configs/tiny.toml"])
        .args(line.split_whitespace())
        .output()
        .expect("the binary runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn json(line: &str) -> Value {
    let (code, out, err) = decode(&format!("{line} --json"));
    assert_eq!(code, Some(0), "{err}");
    let mut value: Value = serde_json::from_str(&out).expect("one JSON object");
    // What differs from run to run.
    assert!(value.as_object_mut().and_then(|keys| keys.remove("wall")).is_some());
    value
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn every_mapping_and_sharing_runs_and_says_what_it_counted() {
    for mapping in ["head-tile", "row-aligned", "stream-striped"] {
        for sharing in ["kv-head", "segment"] {
            let value =
                json(&format!("--mapping {mapping} --sharing {sharing} --tokens 61 --batch 2 --prefix 16"));
            let keys = ["traffic", "cycles", "bound_by", "run_us", "whole", "command", "platform"];
            for key in keys {
                assert!(!value[key].is_null(), "{mapping} {sharing}: {key}");
            }
            let of_classes: u64 = ["PART", "KV_FETCH", "KV_DATA"]
                .iter()
                .map(|c| value["flits_by_class"][c].as_u64().unwrap())
                .sum();
            assert_eq!(value["traffic"], of_classes, "{mapping} {sharing}");
            let shares: f64 = ["useful", "stall", "other"].iter().map(|key| number(&value[key])).sum();
            assert!((shares - 1.0).abs() < 1e-9, "{mapping} {sharing}: {shares}");
            let all = value["bounds"].as_object().unwrap();
            let near: Vec<_> = value["bound_by"].as_str().unwrap().split('+').collect();
            let tightest = number(&all[near[0]]);
            assert!(near.iter().all(|part| number(&all[*part]) >= 0.9 * tightest), "{near:?}: {all:?}");
            let over = number(&value["cycles"]) / number(&all["bytes"]).max(number(&all["array"]));
            assert!((number(&value["over_bound"]) - over).abs() < 1e-9, "{value}");
            assert_eq!(all.len(), 7);
            assert!(number(&value["imbalance"]) >= 1.0 && number(&all["bytes"]) <= number(&all["memory"]));
            assert!(all.values().all(|bound| number(bound) <= tightest), "{all:?}");
            assert!(tightest <= number(&value["cycles"]), "{all:?}");
            let kv = &value["kv_phase"];
            assert!(
                number(&kv["share"]) > number(&value["share"]) && number(&value["kv_gbs"]) > 0.0,
                "{value}"
            );
            assert!(number(&kv["cycles"]) < number(&value["cycles"]));
            for (part, bound) in kv["bounds"].as_object().unwrap() {
                assert!(number(bound) <= number(&kv["cycles"]), "{part}: {kv}");
            }
            assert_eq!(value["violations"], 0, "{mapping} {sharing}");
            let energy = value["energy_nj"].as_object().unwrap();
            let parts: f64 = energy.iter().filter(|(key, _)| *key != "total").map(|(_, e)| number(e)).sum();
            assert!((parts - number(&energy["total"])).abs() < 1e-6 * parts, "{energy:?}");
        }
    }
}

/// The result without the keys that name the engine and the command, and without rare states, which the model counts.
fn figures(mut value: Value) -> Value {
    for key in ["engine", "command", "rare"] {
        value.as_object_mut().expect("an object").remove(key).expect(key);
    }
    value
}

#[test]
fn the_model_gives_the_same_figures_and_needs_no_verilator() {
    for line in ["--tokens 61 --batch 2 --prefix 16", "--steps 2 --stall 30 --unruly-memory"] {
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
        assert_eq!(figures(model), figures(rtl.clone()), "{line}");
        assert_eq!(figures(both), figures(rtl), "{line}");
    }
    // Neither a cache nor a path to any tool.
    let mut alone = Command::cargo_bin("meshkv").expect("the binary is built");
    alone.env_clear().args(["decode", "configs/tiny.toml", "--engine", "model"]).assert().success();
    let (code, _, err) = decode("--lockstep --engine model");
    assert_eq!(code, Some(2));
    assert!(err.contains("--lockstep") && err.contains("--engine"), "{err}");
}

#[test]
fn the_command_of_a_result_gives_it_again() {
    let first =
        json("--tokens 200 --segments 5 --layers 2 --steps 2 --stall 30 --unruly-memory --seed 9 --stride 3");
    let command = first["command"].as_str().unwrap();
    let line = command.strip_prefix("meshkv decode configs/tiny.toml ").expect("the same configuration");
    assert_eq!(json(line), first);
    assert_eq!(first["steps"].as_array().unwrap().len(), 2);
}

#[test]
fn a_sample_says_how_much_it_is_and_what_the_whole_would_take() {
    let part = json("--segments 8");
    assert_eq!((&part["sample"]["segments"], &part["sample"]["of_segments"]), (&8.into(), &32.into()));
    assert!(number(&part["whole"]["traffic"]) > number(&part["traffic"]));
    let whole = json("--segments all --layers all --tokens 64");
    assert_eq!(whole["sample"]["layers"], whole["sample"]["of_layers"]);
    assert_eq!(number(&whole["whole"]["traffic"]), number(&whole["traffic"]));
    assert_eq!(number(&whole["whole"]["cycles"]), number(&whole["cycles"]));
}

#[test]
fn prose_says_what_bounds_the_run_and_that_it_is_a_sample() {
    let (code, out, _) = decode("--steps 2");
    assert_eq!(code, Some(0));
    for words in [
        "by forecast",
        "Bisection while KV traffic flows: useful",
        "Bound by ",
        "2 steps, 0 swaps",
        "The whole step, extrapolated from",
        "KV_DATA",
        "460 GB/s",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
    let (_, out, _) = decode("--tokens 64 --layers all");
    assert!(out.contains("The whole step was run"), "{out}");
}

#[test]
fn the_end_of_a_run_advises_nothing_that_was_done() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("six.toml");
    // Six homes, 40 segments: whole rounds load the homes more evenly than the layer does.
    let text =
        "[mesh]\ncols = 3\nrows = 2\n[noc]\nflit_width = 64\n[pe]\nhead_dim = 32\n[kv]\nsegment_tokens = 8\n\
                [takv]\ncolumn_stride = 1\n[model]\nlayers = 2\nheads = 3\nkv_heads = 3\nmax_tokens = 320\n";
    std::fs::write(&config, text).unwrap();
    let end = |options: &str| {
        let mut command = Command::cargo_bin("meshkv").expect("the binary is built");
        command.args(["sim", "decode"]).arg(&config).args(options.split_whitespace());
        let said = String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap();
        assert!(said.contains("times the share of the sample"), "{said}");
        said.lines().last().unwrap_or_default().trim().to_owned()
    };
    let all = "--segments all runs every segment of a layer.";
    assert_eq!(end(""), all);
    assert_eq!(end("--segments 18"), all);
    assert!(end("--segments 4").starts_with("Leave --segments out"));
}

#[test]
fn a_picture_of_the_links_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let (code, _, err) = decode(&format!("--tokens 16 --plot {}", folder.path().join("new").display()));
    assert_eq!(code, Some(0), "{err}");
    let svg = std::fs::read_to_string(folder.path().join("new/link-utilisation.svg")).unwrap();
    assert!(svg.contains("row-aligned"), "the title says what was run");
    assert!(folder.path().join("new/link-utilisation.png").exists());
}

#[test]
fn the_mapping_picks_itself_and_says_by_what() {
    let line = "--tokens 61 --batch 2 --prefix 16 --engine model";
    let value = json(line);
    assert_eq!(value["auto"]["chosen"], value["mapping"], "{value}");
    let mappings = value["auto"]["mappings"].as_array().unwrap();
    let names: Vec<_> = mappings.iter().map(|of| of["mapping"].as_str().unwrap()).collect();
    assert_eq!(names, ["head-tile", "row-aligned", "stream-striped"]);
    for of in mappings {
        let bounds = of["bounds"].as_object().unwrap();
        assert_eq!(bounds.len(), 7, "{of}");
        assert!(bounds.values().all(|bound| number(bound) <= number(&of["cycles"])), "{of}");
    }
    // Whoever names a mapping gets it: nothing is chosen, and the figures are the same.
    let name = value["mapping"].as_str().unwrap();
    let explicit = json(&format!("{line} --mapping {name}"));
    assert_eq!((&explicit["auto"], &explicit["mapping"]), (&Value::Null, &value["mapping"]));
    assert_eq!(explicit["cycles"], value["cycles"]);

    let alone = json("--tokens 61 --engine model");
    let striped = &alone["auto"]["mappings"][2];
    assert!(striped["left_out"].as_str().unwrap().contains("the same as row-aligned"), "{striped}");
    let (_, out, _) = decode("--tokens 61 --engine model");
    let chosen = alone["mapping"].as_str().unwrap();
    for words in
        [&format!("Mapping {chosen}, by forecast"), "head-tile", "stream-striped is left out: one stream"]
    {
        assert!(out.contains(words), "{words}: {out}");
    }
    let (_, out, _) = decode("--tokens 61 --engine model --mapping head-tile");
    assert!(!out.contains("by forecast"), "{out}");
}

/// 8 streams of 16 GiB each, on a memory of 40 GiB.
#[test]
fn caches_beyond_the_memory_are_warned_of_and_a_common_prefix_counts_once() {
    let run = |more: &str| {
        let mut command = Command::cargo_bin("meshkv").expect("the binary is built");
        command.args([
            "decode",
            "configs/meshkv.toml",
            "--engine",
            "model",
            "--segments",
            "1",
            "--batch",
            "8",
        ]);
        let output =
            command.args(["--mapping", "row-aligned", "--json"]).args(more.split_whitespace()).output();
        let output = output.expect("the binary runs");
        assert!(output.status.success(), "{output:?}");
        let value: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        let gib = number(&value["cache_bytes"]) / f64::from(1 << 30);
        (gib, String::from_utf8(output.stderr).expect("UTF-8"))
    };
    let (gib, err) = run("");
    assert_eq!(gib, 128.0);
    for words in ["8 streams of 32768 tokens take 128.0 GiB", "memory.capacity_gib = 40", "--prefix"] {
        assert!(err.contains(words), "{words}: {err}");
    }
    let (gib, err) = run("--prefix 32768");
    assert!(gib == 16.0 && !err.contains("GiB"), "{gib}: {err}");
    // 8192 tokens in common, and 24576 of each.
    assert_eq!(run("--prefix 8192").0, 4.0 + 8.0 * 12.0);
}

#[test]
fn what_the_design_cannot_hold_is_refused_with_the_way_out() {
    for (line, words) in [
        ("--tokens 999", ["the context in tokens is 999", "model.max_tokens"]),
        ("--batch 3", ["the batch is 3", "model.max_streams"]),
        ("--append", ["read only", "kv.append = true"]),
        ("--segments 0", ["the number of segments is 0", "1 to 32"]),
        ("--segments 33", ["the number of segments is 33", "leave it out"]),
        ("--segments some", ["some", "`all`"]),
        ("--layers 99", ["the number of layers is 99", "model.layers"]),
        ("--prefix 300", ["the common prefix", "part of the context"]),
        ("--stride 0", ["the segment stride is 0", "every segment"]),
        ("--steps 0", ["0", "--steps"]),
        ("--mapping sideways", ["invalid value 'sideways'", "row-aligned"]),
        ("--stall 255", ["255", "250"]),
    ] {
        let (code, out, err) = decode(line);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{line}: {err}");
        assert!(words.iter().all(|word| err.contains(word)), "{line}: {err}");
    }
}
