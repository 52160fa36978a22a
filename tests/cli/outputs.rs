//! What each subcommand prints under `--json`, held against `meshkv schema --output`.

use crate::support::sandbox::{Sandbox, LEAST};
use crate::support::schema::{faults, numbers_as_text};
use meshkv::config::Config;
use meshkv::eval::SoakCase;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// A grid of traffic, and one of decode steps, on the model.
const TRAFFIC: &str =
    "base = \"small.toml\"\n[grid]\nnoc.vc_depth = [4, 8]\n[workload]\nkind = \"traffic\"\n\
                       load = [0.1, 0.2]\nseed = [1, 2]\ncycles = 500\nwarmup = 100\nengine = \"model\"\n";
const DECODE: &str =
    "base = \"small.toml\"\n[workload]\nkind = \"decode\"\ntokens = [64]\nseed = [5]\nengine = \"model\"\n";

fn schema(of: &str) -> Value {
    let said = Sandbox::new().run(&format!("schema --output {of}"));
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{of}");
    serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{of}: {e}"))
}

/// Words of the list that `text` has between `before` and the next bracket.
fn listed(text: &str, before: &str) -> BTreeSet<String> {
    let text = text.split_once(before).expect(before).1.split(']').next().unwrap_or_default();
    text.split([',', ' ', '\n']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn described() -> BTreeSet<String> {
    listed(&Sandbox::new().run("schema --help").out, "[possible values:")
}

/// Runs a subcommand in a folder that has `small.toml`, and holds what it prints against its schema.
fn held(sandbox: &Sandbox, line: &str, exit_code: i32, seed: Option<u64>) -> Value {
    let said = sandbox.run(&format!("{line} --json -q"));
    assert_eq!(said.code, Some(exit_code), "{line}: {}", said.err);
    let value: Value =
        serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{line}: {e}: {}", said.out));
    let mut words = line.split_whitespace().filter(|word| !["cosim", "sim"].contains(word));
    let of = words.next().filter(|word| described().contains(*word)).unwrap_or("sim");
    let found = faults(&schema(of), &value);
    assert!(found.is_empty(), "{line}:\n{}\n{value:#}", found.join("\n"));
    assert_eq!(numbers_as_text(&value), [""; 0], "{line}");

    let origin = &value["meshkv"];
    let first: Vec<_> = value.as_object().unwrap().keys().take(2).collect();
    assert_eq!(first, ["meshkv", "wall"], "{line}");
    assert!(value["wall"]["seconds"].as_f64() > Some(0.0), "{line}");
    assert_eq!(origin["program"], "meshkv", "{line}");
    assert_eq!(origin["version"], env!("CARGO_PKG_VERSION"), "{line}");
    assert_eq!(origin["seed"], seed.map_or(Value::Null, Value::from), "{line}");
    value
}

/// The same of a subcommand that reads `small.toml`.
fn held_of_small(sandbox: &Sandbox, line: &str, seed: Option<u64>) -> Value {
    let value = held(sandbox, line, 0, seed);
    let config: Config = toml::from_str(&fs::read_to_string(sandbox.path("small.toml")).unwrap()).unwrap();
    assert_eq!(value["meshkv"]["config"], "small", "{line}");
    assert_eq!(value["meshkv"]["config_sha256"], config.sha256(), "{line}");
    value
}

#[test]
fn every_subcommand_has_a_schema() {
    let help = Sandbox::new().run("--help").out;
    let commands = help.split_once("Commands:\n").unwrap().1.split("\n\n").next().unwrap();
    let names = commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
    // A schema is JSON with and without `--json`, and help is text.
    let mut names: BTreeSet<String> =
        names.filter(|name| !["schema", "help"].contains(&name.as_str())).collect();
    assert!(names.len() > 15, "{help}");
    names.insert("sweep-row".to_owned());
    assert_eq!(names, described());
}

/// Keys of a schema without a meaning, and meanings in the words of the source.
fn unexplained(schema: &Value, place: &str, found: &mut Vec<String>) {
    let Value::Object(words) = schema else {
        schema.as_array().into_iter().flatten().for_each(|one| unexplained(one, place, found));
        return;
    };
    if schema["type"] == "object" {
        for (key, of) in schema["properties"].as_object().into_iter().flatten() {
            let doc = of["description"].as_str().unwrap_or_default();
            if doc.is_empty() || doc.contains("[`") || doc.contains("`None`") {
                found.push(format!("{place}/{key}: {doc:?}"));
            }
        }
    }
    words.iter().for_each(|(word, of)| unexplained(of, &format!("{place}/{word}"), found));
}

#[test]
fn every_key_of_a_schema_has_a_meaning() {
    for of in described() {
        let schema = schema(&of);
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(schema["$comment"], concat!("meshkv ", env!("CARGO_PKG_VERSION")));
        let mut found = Vec::new();
        unexplained(&schema, &of, &mut found);
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}

#[test]
fn what_runs_nothing_keeps_to_its_schema() {
    let sandbox = Sandbox::new();
    for line in ["init new.toml", "init -", "examples there", "completions fish", "man pages"] {
        let origin = &held(&sandbox, line, 0, None)["meshkv"];
        assert!(origin["config"].is_null() && origin["config_sha256"].is_null(), "{line}");
    }
    for line in ["check small.toml", "check small.toml --deadlock --placement", "generate small.toml -o out"]
    {
        held_of_small(&sandbox, line, None);
    }
    for (line, code) in [("plan small.toml --cards 32", 0), ("plan small.toml --cards 513", 1)] {
        let plan = held(&sandbox, line, code, None);
        assert_eq!(plan["best"].is_null(), code == 1, "{line}");
    }
    // A comment and the name change nothing, a value does.
    let hash = |name: &str, more: &str| {
        let text = fs::read_to_string(sandbox.path("small.toml")).unwrap();
        sandbox.file(name, &format!("# A remark.\n{text}{more}"));
        held(&sandbox, &format!("check {name}"), 0, None)["meshkv"]["config_sha256"].clone()
    };
    let small = held_of_small(&sandbox, "check small.toml", None)["meshkv"]["config_sha256"].clone();
    assert_eq!(hash("other.toml", ""), small);
    assert_ne!(hash("deeper.toml", "vc_depth = 4\n"), small);
}

#[test]
fn what_differs_from_run_to_run_is_in_one_key() {
    let sandbox = Sandbox::new();
    for line in [
        "check small.toml --deadlock --placement",
        "plan small.toml --cards 32",
        "sim small.toml --cycles 300",
        "sim small.toml --cycles 200 --warmup 100 --sweep-load 0.2:0.9",
        "sim decode small.toml --tokens 64",
        "sim run small.toml --tokens 8 --fit",
        "check nowhere.toml",
    ] {
        let repeated = || {
            let said = sandbox.run(&format!("{line} --json"));
            let mut value: Value = serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{line}: {e}"));
            let wall = value.as_object_mut().unwrap().shift_remove("wall");
            assert!(wall.is_some_and(|wall| wall["seconds"].is_number()), "{line}");
            value
        };
        assert_eq!(repeated(), repeated(), "{line}");
    }
}

#[test]
fn tools_are_listed_as_the_schema_has_them() {
    held(&Sandbox::new(), "doctor", 0, None);
}

#[test]
fn an_error_keeps_to_the_schema_and_names_the_seed_and_the_configuration_if_they_are_known() {
    let sandbox = Sandbox::new();
    sandbox.file("bad.toml", "[mesh]\ncols = 1\n");
    for line in ["check bad.toml", "check nowhere.toml", "check", "decode small.toml --steps none"] {
        assert!(held(&sandbox, line, 2, None)["meshkv"]["config"].is_null(), "{line}");
    }
    let value = held(&sandbox, "sim fetch small.toml --pattern slice --requesters 99 --seed 4", 2, Some(4));
    assert_eq!(value["meshkv"]["config"], "small");
    assert_eq!(value["error"]["exit_code"], 2);
}

#[test]
fn simulations_on_the_model_keep_to_their_schemas() {
    let sandbox = Sandbox::new();
    sandbox.file("small.toml", LEAST);
    sandbox.file("trace.csv", "cycle,source,destinations,class,flits,tag\n3,0,1,PART,2,7\n");
    for (line, seed) in [
        ("sim small.toml --cycles 500 --seed 9", Some(9)),
        ("sim small.toml --cycles 300 --warmup 100 --sweep-load 0.2:0.9", Some(1)),
        ("sim small.toml --trace trace.csv", None),
        ("sim fetch small.toml --seed 2", Some(2)),
        ("sim decode small.toml --tokens 64 --seed 3", Some(3)),
        ("sim decode small.toml --tokens 64 --steps 2 --mapping head-tile", Some(1)),
        ("sim run small.toml --tokens 8 --seed 5", Some(5)),
        ("sim run small.toml --tokens 8 --timing", Some(1)),
        ("sim run small.toml --lengths 20 --prefix 16 --timing", Some(1)),
        ("sim run small.toml --tokens 8 --partials 3", Some(1)),
        ("sim run small.toml --lengths 7", Some(1)),
    ] {
        held_of_small(&sandbox, line, seed);
    }
    // A cache that grows is another configuration.
    let steps = held(&sandbox, "sim run small.toml --lengths 0,5 --steps 3 --fit", 0, Some(1));
    assert_eq!((&steps["steps"], &steps["memory_equal"]), (&3.into(), &true.into()));
    held(&sandbox, "sim run small.toml --lengths 0,5 --steps 3 --fit --timing", 0, Some(1));
    // Another memory is another configuration.
    let tier = held(&sandbox, "sim decode small.toml --tokens 64 --tier ddr", 0, Some(1));
    let plain = held(&sandbox, "sim decode small.toml --tokens 64", 0, Some(1));
    assert_ne!(tier["meshkv"]["config_sha256"], plain["meshkv"]["config_sha256"]);
}

#[test]
fn the_verilog_prints_what_the_model_does() {
    let sandbox = Sandbox::with_fabric();
    held_of_small(&sandbox, "cosim small.toml --cycles 500", Some(1));
    let both = held_of_small(&sandbox, "cosim small.toml --cycles 500 --lockstep", Some(1));
    assert!(both["router_cycles_compared"].as_u64() > Some(0));
}

#[test]
fn sweeps_their_rows_and_reports_keep_to_their_schemas() {
    let sandbox = Sandbox::new();
    let of_row = schema("sweep-row");
    for (name, text, points, seed) in [("traffic", TRAFFIC, 8, 1), ("decode", DECODE, 1, 5)] {
        sandbox.file(&format!("{name}.toml"), text);
        let list = held_of_small(&sandbox, &format!("sweep {name}.toml --dry-run"), None);
        assert_eq!(list["points"].as_array().map(Vec::len), Some(points));
        let id = list["points"][0]["id"].as_str().unwrap();
        let row = held(&sandbox, &format!("sweep {name}.toml --only {id}"), 0, Some(seed));
        assert_eq!((&row["id"], &row["seed"]), (&Value::from(id), &Value::from(seed)));
        assert_eq!(row["config_sha256"], row["meshkv"]["config_sha256"]);
        held_of_small(&sandbox, &format!("sweep {name}.toml -o out/{name}"), None);
        for line in fs::read_to_string(sandbox.path(&format!("out/{name}/rows.jsonl"))).unwrap().lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            assert_eq!(faults(&of_row, &row), [""; 0], "{line}");
            assert_eq!(numbers_as_text(&row), [""; 0], "{line}");
        }
    }
    let report = held(&sandbox, "report out/traffic --x load", 0, None);
    let point = &report["points"][0];
    assert_eq!((&point["x"], &point["seeds"]), (&Value::from(0.1), &Value::from(vec![1, 2])));
    held(&sandbox, "report out/traffic --baseline noc.vc_depth=4", 0, None);
    held(&sandbox, "report out/decode", 0, None);
}

#[test]
fn a_section_of_the_paper_keeps_to_its_schema() {
    held(&Sandbox::new(), "paper --quick --section card -o out", 0, None);
}

#[test]
fn an_estimate_keeps_to_its_schema() {
    let sandbox = Sandbox::with_fabric();
    sandbox.file("small.toml", LEAST);
    held_of_small(&sandbox, "estimate small.toml", None);
}

#[test]
fn linters_are_reported_as_the_schema_has_them() {
    let sandbox = Sandbox::new();
    sandbox.file("small.toml", LEAST);
    held_of_small(&sandbox, "lint small.toml", None);
}

#[test]
fn attention_through_a_device_keeps_to_its_schema() {
    let sandbox = Sandbox::with_fabric();
    sandbox.file("small.toml", LEAST);
    held_of_small(&sandbox, "sim run small.toml --tokens 8 --device", Some(1));
}

#[test]
fn a_card_keeps_to_its_schema() {
    let sandbox = Sandbox::with_fabric();
    sandbox.file("small.toml", LEAST);
    held_of_small(&sandbox, "card small.toml --library-only", None);
    assert!(held_of_small(&sandbox, "card small.toml", Some(1))["ran"].is_null());
}

#[test]
fn a_soak_keeps_to_its_schema_with_and_without_a_difference() {
    let sandbox = Sandbox::new();
    // What is built soonest.
    let tiles = |seed: &u64| SoakCase::of(*seed).design.mesh.tiles();
    let seed = (1..40).step_by(2).min_by_key(tiles).unwrap();
    let whole = held(&sandbox, &format!("soak --seed {seed} --count 1"), 0, Some(seed));
    assert_eq!((&whole["networks"], &whole["failed"]), (&1.into(), &Value::Null));
    let cut = held(&sandbox, &format!("soak --seed {seed} --count 1 --upset 1,0@200"), 1, Some(seed));
    assert_eq!(cut["failed"]["seed"], seed);
}
