//! Warnings that a file accepts, and keys of all versions.

use meshkv::config::{self, Config, Report};
use meshkv::design::Design;
use std::fs;

/// Warnings of a text as a file, with and without those of the card.
fn warnings(text: &str) -> [Report; 2] {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("design.toml");
    fs::write(&path, text).unwrap();
    let load = [Design::load, Design::load_for_the_card];
    load.map(|load| load(&path).unwrap_or_else(|report| panic!("{report}")).1)
}

fn rules(report: &Report) -> Vec<&str> {
    report.problems.iter().map(|problem| problem.rule).collect()
}

#[test]
fn an_accepted_warning_is_counted_with_its_reason_and_not_shown() {
    let text = "[pad]\nfifo_depth = 24\n";
    let [plain, _] = warnings(text);
    assert_eq!((rules(&plain), plain.accepted.len()), (vec!["fifo-covers-round-trip"], 0));
    let accept = "[[accept]]\nwarning = \"fifo-covers-round-trip\"\nreason = \"as measured\"\n";
    let [accepted, _] = warnings(&format!("{text}{accept}"));
    assert!(accepted.is_empty(), "{accepted}");
    let [only] = &accepted.accepted[..] else { panic!("{:?}", accepted.accepted) };
    assert_eq!((only.reason.as_str(), only.problem.place), ("as measured", Some((2, 14))));
}

#[test]
fn a_warning_of_the_card_may_be_accepted_where_the_card_is_not_judged() {
    let text = "[takv]\ncolumn_stride = 1\n\
        [[accept]]\nwarning = \"caches-fit-card\"\nreason = \"for simulation only\"\n";
    let [others, card] = warnings(text);
    assert!(others.is_empty() && others.accepted.is_empty(), "{others}");
    assert!(card.is_empty() && card.accepted.len() == 1, "{card}");
}

#[test]
fn an_acceptance_of_one_key_leaves_the_others() {
    let text = "[takv]\nplacement = \"round_robin\"\ncolumn_stride = 1\nhub_y = 2\n\
        [[accept]]\nwarning = \"key-has-effect\"\nkey = \"takv.hub_y\"\nreason = \"compared\"\n";
    let [found, _] = warnings(text);
    assert_eq!((found.problems[0].key.as_str(), found.problems.len()), ("takv.column_stride", 1));
}

#[test]
fn an_acceptance_is_no_part_of_the_design() {
    let text = "[[accept]]\nwarning = \"caches-fit-card\"\nreason = \"for simulation only\"\n";
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("design.toml");
    fs::write(&path, format!("version = 2\n{text}")).unwrap();
    let (design, _) = Design::load(&path).unwrap();
    assert_eq!(*design.configuration(), Config::default());
}

#[test]
fn every_key_of_any_version_is_a_key_or_leads_to_one() {
    let known = fs::read_to_string("tests/config/keys.txt").unwrap();
    let keys: Vec<_> = config::tables().iter().flat_map(|table| &table.keys).map(|key| &key.path).collect();
    for key in &keys {
        assert!(known.lines().any(|line| line == *key), "add {key} to tests/config/keys.txt");
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("design.toml");
    for old in known.lines().filter(|line| !keys.iter().any(|key| key == line)) {
        fs::write(&path, format!("{old} = 1\n")).unwrap();
        let report = Design::load(&path).unwrap_err();
        let help = &report.problems[0].help;
        assert!(
            help.contains("did you mean"),
            "{old} was a key, and `src/config/reading/meant.rs` has no line: {help}"
        );
    }
}

#[test]
fn every_warning_has_a_row_in_the_documentation() {
    let page = fs::read_to_string("docs/ci.md").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("design.toml");
    fs::write(&path, "[[accept]]\nwarning = \"x\"\nreason = \"x\"\n").unwrap();
    let help = Design::load(&path).unwrap_err().problems[0].help.clone();
    let names: Vec<_> = help.rsplit(": ").next().unwrap().split(", ").collect();
    assert!(names.len() > 8, "{help}");
    for name in names {
        assert!(page.contains(&format!("| `{name}` |")), "docs/ci.md has no row for {name}");
    }
}
