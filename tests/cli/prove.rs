//! `meshkv prove`: proofs with the real tools, of a design and of an edited folder.

use crate::support::sandbox::{Sandbox, LEAST, OTHER};
use meshkv::synth::prove::catalogue;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// The ways of proofs.
const METHODS: [&str; 3] = ["induction", "pdr", "sat"];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn properties_are_proved_and_fall_on_their_mutants() {
    let sandbox = Sandbox::new();
    sandbox.file("small.toml", LEAST);
    let said = sandbox.run("prove small.toml --module async_register --json");
    assert_eq!(said.code, Some(0), "{}", said.err);
    let value = json(&said.out);
    assert_eq!(value["proved"], true);
    let properties = value["properties"].as_array().unwrap();
    assert_eq!(properties.len(), 4, "three of its own, and its reset");
    for property in properties {
        assert_eq!(property["verdict"], "proved", "{property}");
        let methods = property["methods"].as_array().unwrap();
        assert!(
            !methods.is_empty() && methods.iter().all(|method| METHODS.contains(&method.as_str().unwrap()))
        );
        assert_eq!(property["refuted"], true, "{property}");
        assert!(property["registers"].as_u64().unwrap() > 9);
    }
    // The verdicts are kept: without tools there are the same.
    let table = sandbox.run("prove small.toml --module async_register --why");
    assert!(table.out.contains("  common  async_register  nothing_invented     proved"), "{}", table.out);
    assert!(table.out.contains("\n4 of 4 properties proved; 4 refuted on their mutants\n"), "{}", table.out);
    assert!(table.out.contains("  assumed: both resets begin together"), "{}", table.out);
}

#[test]
fn every_property_of_both_routers_is_proved_and_falls_on_its_mutant() {
    // Verdicts are kept, so a run that was stopped goes on.
    let sandbox = Sandbox::with_fabric();
    let root = env!("CARGO_MANIFEST_DIR");
    let makefile = fs::read_to_string(format!("{root}/Makefile")).unwrap();
    let proved = makefile.lines().find_map(|line| line.strip_prefix("PROVED "));
    let (_, proved) = proved.and_then(|rest| rest.split_once(":=")).expect("the designs of `make prove`");
    let names: Vec<_> = proved.split_whitespace().collect();
    let configs: Vec<_> = names.iter().map(|name| format!("{root}/configs/{name}.toml")).collect();
    let said = sandbox.run(&format!("prove {} --json", configs.join(" ")));
    let value = json(&said.out);
    let designs: Vec<_> =
        value["designs"].as_array().unwrap().iter().map(|design| design["name"].clone()).collect();
    assert_eq!(designs, names);
    let mut seen = BTreeSet::new();
    for property in value["properties"].as_array().unwrap() {
        let name = format!("{}.{}", property["module"], property["property"]);
        assert_eq!(property["verdict"], "proved", "{name}: {property}");
        assert_ne!(property["refuted"], false, "{name}: {property}");
        if property["refuted"] == true {
            assert!(seen.insert(name), "refuted once: {property}");
        }
    }
    assert_eq!(said.code, Some(0), "{}", said.err);
    let listed = catalogue::all().unwrap();
    let listed: usize = listed.iter().map(|proof| proof.properties.len()).sum();
    assert_eq!(seen.len(), listed, "these designs have every module with properties");
}

#[test]
fn a_property_that_falls_is_shown_as_waves_with_views() {
    let sandbox = Sandbox::new();
    sandbox.file("small.toml", LEAST);
    assert_eq!(sandbox.run("generate small.toml -o g").code, Some(0));
    for (module, from, to, property) in [
        ("async_register", "s_ready = sent_q == taken_seen", "s_ready = 1'b1", "nothing_overwritten"),
        ("arbiter2", "ptr_q <= g0;", "ptr_q <= g1;", "served_within_two"),
    ] {
        let path = sandbox.path(&format!("g/rtl/common/meshkv_{module}.v"));
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{module}");
        fs::write(&path, text.replace(from, to)).unwrap();
        let said = sandbox.run(&format!("prove g --module {module} --no-mutants --waves w"));
        assert_eq!(said.code, Some(1), "{}", said.err);
        let broken: Vec<_> = said.out.lines().filter(|line| line.contains("FALLS")).collect();
        assert!(broken.iter().any(|line| line.contains(property)), "{}", said.out);
        assert!(said.err.contains("was edited since it was generated"), "{}", said.err);
        let waves = fs::read_dir(sandbox.path("w")).unwrap().map(|entry| entry.unwrap().path());
        let mut kinds: Vec<_> = waves
            .filter(|path| path.to_string_lossy().contains(module))
            .filter_map(|path| Some(path.extension()?.to_str()?.to_owned()))
            .collect();
        kinds.sort();
        kinds.dedup();
        assert_eq!(kinds, ["fst", "gtkw", "sucl"], "{module}");
        let view = fs::read_dir(sandbox.path("w")).unwrap().map(|entry| entry.unwrap().path());
        let view = view.filter(|path| path.extension().is_some_and(|e| e == "gtkw")).last().unwrap();
        assert!(fs::read_to_string(view).unwrap().contains("_q\n"), "registers are shown");
    }
}

#[test]
fn what_is_not_decided_in_time_is_open_and_fails() {
    let sandbox = Sandbox::new();
    sandbox.file("small.toml", LEAST);
    let said = sandbox.run("prove small.toml --module async_fifo --no-mutants --limit 1");
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.out.contains("OPEN"), "{}", said.out);
}

#[test]
fn of_several_designs_each_property_is_refuted_once() {
    let sandbox = Sandbox::new();
    sandbox.file("small.toml", LEAST);
    sandbox.file("other.toml", OTHER);
    let said = sandbox.run("prove small.toml other.toml --module async_register --json --junit j.xml");
    assert_eq!(said.code, Some(0), "{}", said.err);
    let value = json(&said.out);
    assert_eq!(value["designs"].as_array().unwrap().len(), 2);
    for property in value["properties"].as_array().unwrap() {
        let first = property["design"] == 0;
        assert_eq!(property["refuted"], if first { Value::Bool(true) } else { Value::Null }, "{property}");
    }
    let tests = fs::read_to_string(sandbox.path("j.xml")).unwrap();
    assert_eq!(tests.matches("other: meshkv_async_register: ").count(), 4, "{tests}");
    let table = sandbox.run("prove small.toml other.toml --module async_register --why");
    assert!(table.out.contains("\nother\n"), "{}", table.out);
    assert!(table.out.contains("\n8 of 8 properties proved; 4 refuted on their mutants\n"), "{}", table.out);
    assert_eq!(
        table.out.matches("meshkv_async_register at").count(),
        2,
        "its own and its reset: {}",
        table.out
    );
}

#[test]
fn a_name_that_no_module_has_lists_those_with_properties() {
    let sandbox = Sandbox::new();
    sandbox.file("small.toml", LEAST);
    let said = sandbox.run("prove small.toml --module fofi");
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(
        said.err.contains("--module fofi: no module with properties has this in its name"),
        "{}",
        said.err
    );
    assert!(said.err.contains("meshkv_fifo, meshkv_block_fifo, meshkv_arbiter2"), "{}", said.err);
}
