//! Diagnostics for machines: one by one in JSON, in SARIF, as tests of JUnit; and what `-q` leaves.

use crate::support::sandbox::{Sandbox, LEAST};
use serde_json::{json, Value};
use std::fs;

const BAD: &str = "[mesh]\nwidth = 4\n[model]\nkv_heads = 5\n[pad]\nfifo_depth = 24\n";

fn read(sandbox: &Sandbox, name: &str) -> String {
    fs::read_to_string(sandbox.path(name)).unwrap()
}

#[test]
fn errors_of_a_configuration_are_data_one_by_one() {
    let sandbox = Sandbox::new();
    sandbox.file("bad.toml", BAD);
    for line in ["check bad.toml", "sim bad.toml", "generate bad.toml"] {
        let said = sandbox.run(&format!("{line} --json"));
        assert_eq!(said.code, Some(2), "{line}");
        let value: Value = serde_json::from_str(&said.out).unwrap();
        let found = value["diagnostics"].as_array().unwrap();
        let of = |at: usize| {
            let one = &found[at];
            [&one["file"], &one["line"], &one["column"], &one["key"], &one["rule"], &one["severity"]]
                .map(Clone::clone)
        };
        assert_eq!(
            of(0),
            [
                json!("bad.toml"),
                2.into(),
                1.into(),
                "mesh.width".into(),
                "key-is-known".into(),
                "error".into()
            ]
        );
        assert_eq!(of(1)[3..5], [json!("model.kv_heads"), json!("kv-heads-divide-heads")]);
        let first = &found[0]["advice"][0]["set"];
        assert_eq!(
            *first,
            json!([{ "key": "mesh.width", "value": null }, { "key": "mesh.cols", "value": 4 }])
        );
    }
}

#[test]
fn accepted_warnings_are_counted_and_are_data_with_their_reason() {
    let sandbox = Sandbox::new();
    let accept = "[[accept]]\nwarning = \"caches-fit-card\"\nreason = \"for simulation only\"\n";
    let small = read(&sandbox, "small.toml");
    sandbox.file("small.toml", &format!("{small}{accept}"));
    let said = sandbox.run("check small.toml --json");
    assert_eq!(said.err, "small.toml: 1 warning accepted\n");
    let value: Value = serde_json::from_str(&said.out).unwrap();
    let [one] = &value["diagnostics"].as_array().unwrap()[..] else { panic!("{value}") };
    assert_eq!((&one["rule"], &one["accepted"]), (&"caches-fit-card".into(), &"for simulation only".into()));
    assert_eq!(sandbox.run("check small.toml -q").err, "");
}

#[test]
fn check_writes_sarif_of_errors_warnings_and_what_is_accepted() {
    let sandbox = Sandbox::new();
    sandbox.file("bad.toml", BAD);
    let said = sandbox.run("check bad.toml --sarif bad.sarif");
    assert_eq!(said.code, Some(2), "{}", said.err);
    let log: Value = serde_json::from_str(&read(&sandbox, "bad.sarif")).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results[0]["locations"][0]["physicalLocation"]["region"]["startLine"], 2);
    let levels: Vec<_> = results.iter().map(|one| one["level"].as_str().unwrap()).collect();
    assert!(levels.contains(&"error") && levels.contains(&"warning"), "{levels:?}");
    let said = sandbox.run("check bad.toml --sarif bad.toml");
    assert!(said.code == Some(2) && said.err.contains("it is the configuration"), "{}", said.err);
    assert_eq!(read(&sandbox, "bad.toml"), BAD);
}

#[test]
fn runs_and_points_of_sweeps_are_tests_of_junit() {
    let sandbox = Sandbox::new();
    sandbox.file("small.toml", LEAST);
    let grid = "base = \"small.toml\"\n[workload]\nkind = \"traffic\"\nengine = \"model\"\ncycles = 200\n\
                warmup = 0\nload = [0.1, 0.2]\n";
    sandbox.file("grid.toml", grid);
    for (line, name, tests) in [
        ("sim small.toml --cycles 200", "meshkv sim small", 1),
        ("sim run small.toml --tokens 8", "meshkv run small", 3),
        ("sweep grid.toml -o out", "meshkv sweep small", 2),
    ] {
        let said = sandbox.run(&format!("{line} --junit tests.xml"));
        assert_eq!(said.code, Some(0), "{line}: {}", said.err);
        let xml = read(&sandbox, "tests.xml");
        assert!(
            xml.contains(&format!(
                "<testsuite name=\"{name}\" tests=\"{tests}\" failures=\"0\" errors=\"0\""
            )),
            "{xml}"
        );
        assert_eq!(xml.matches("<testcase ").count(), tests, "{xml}");
    }
    let said = sandbox.run("sim nowhere.toml --junit tests.xml");
    assert_eq!(said.code, Some(2));
    assert!(read(&sandbox, "tests.xml").contains("errors=\"1\""));
    let said = sandbox.run("sim small.toml --junit small.toml");
    assert!(said.code == Some(2) && said.err.contains("it is the configuration"), "{}", said.err);
}

#[test]
fn quiet_leaves_warnings_errors_and_the_exit_code() {
    let sandbox = Sandbox::new();
    for line in [
        "check small.toml",
        "generate small.toml -o g",
        "generate small.toml -o g --check",
        "sim small.toml --cycles 200",
    ] {
        let (loud, quiet) = (sandbox.run(line), sandbox.run(&format!("{line} -q")));
        assert_eq!((quiet.code, quiet.out.as_str()), (loud.code, ""), "{line}");
        assert!(quiet.err.len() < loud.err.len() + loud.out.len(), "{line}");
    }
    assert!(!sandbox.run("init - -q").out.is_empty(), "a file that was asked for");
}
