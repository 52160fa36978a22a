//! `meshkv mutate` on the designs of `make mutate`: its checks hold where nothing is planted, and find what is.

use crate::support::sandbox::Sandbox;

/// Plants one fault in the turns of classes, which every check of the network finds. Before that all checks run without one.
fn one_is_found(name: &str) {
    let sandbox = Sandbox::with_fabric();
    let config = format!("{}/configs/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let line =
        format!("mutate {config} --count 1 --drawn-only --module class_turn --prove 0 -o found --json");
    let said = sandbox.run(&line);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let value: serde_json::Value = serde_json::from_str(&said.out).expect("one object");
    assert_eq!((&value["all"]["tried"], &value["all"]["found"]), (&1.into(), &1.into()), "{}", said.out);
}

#[test]
fn its_checks_hold_on_a_design_with_routers_of_two_stages() {
    one_is_found("mutate_two_stages");
}

#[test]
fn its_checks_hold_on_a_design_with_routers_of_three_stages() {
    one_is_found("mutate_three_stages");
}
