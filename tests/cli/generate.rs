//! `generate --check` and `lint` on a folder that was generated.

use crate::support::sandbox::{Sandbox, LEAST};
use serde_json::Value;
use std::fs;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn a_check_writes_nothing_and_lists_what_differs() {
    let sandbox = Sandbox::new();
    sandbox.file("small.toml", LEAST);
    let before = sandbox.list();
    let said = sandbox.run("generate small.toml -o g --check");
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.out.lines().all(|line| line.starts_with("missing  ")), "{}", said.out);
    assert_eq!(sandbox.list(), before);

    assert_eq!(sandbox.run("generate small.toml -o g").code, Some(0));
    let clean = sandbox.run("generate small.toml -o g --check");
    assert_eq!((clean.code, clean.out.as_str()), (Some(0), ""), "{}", clean.err);
    assert!(clean.err.contains("\nUp to date: "), "{}", clean.err);

    fs::write(sandbox.path("g/rtl/network/meshkv_router.v"), "// edit\n").unwrap();
    fs::remove_file(sandbox.path("g/small.f")).unwrap();
    fs::write(sandbox.path("g/rtl/network/more.v"), "// more\n").unwrap();
    let before = sandbox.list();
    let said = sandbox.run("generate small.toml -o g --check");
    let listed =
        "edited   rtl/network/meshkv_router.v\nextra    rtl/network/more.v\nmissing  small.f\n".to_owned();
    assert_eq!((said.code, said.out), (Some(1), listed), "{}", said.err);
    let last = "3 files of g are not what small.toml gives\nNext: meshkv generate small.toml -o g\n";
    assert!(said.err.ends_with(last), "{}", said.err);
    let value = json(&sandbox.run("generate small.toml -o g --check --json").out);
    assert_eq!((&value["unchanged"], &value["check"]["missing"][0]), (&false.into(), &"small.f".into()));
    assert_eq!(value["check"]["different"][0]["edited"], true);
    assert_eq!(sandbox.list(), before);
}

#[test]
fn lint_reads_a_folder_and_says_what_was_edited() {
    let sandbox = Sandbox::new();
    sandbox.file("small.toml", LEAST);
    assert_eq!(sandbox.run("generate small.toml -o g").code, Some(0));
    let clean = sandbox.run("lint g --json");
    assert_eq!(clean.code, Some(0), "{}", clean.err);
    let value = json(&clean.out);
    assert_eq!((&value["name"], &value["meshkv"]["config"]), (&"small".into(), &"small".into()));
    assert_eq!((&value["clean"], &value["folder"]["edited"]), (&true.into(), &Value::Array(vec![])));

    let path = sandbox.path("g/rtl/common/meshkv_fifo.v");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("endmodule", "    wire spare_edit;\nendmodule")).unwrap();
    let said = sandbox.run("lint g --json");
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(
        said.err.contains("g/rtl/common/meshkv_fifo.v was edited since it was generated"),
        "{}",
        said.err
    );
    let value = json(&said.out);
    assert_eq!(value["folder"]["edited"][0], "rtl/common/meshkv_fifo.v");
    assert!(said.out.contains("spare_edit"), "{}", said.out);
}

#[test]
fn lint_refuses_a_folder_that_was_not_generated() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("mine")).unwrap();
    let said = sandbox.run("lint mine");
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(
        said.err.contains("mine has no meshkv-manifest.json, so meshkv did not write it"),
        "{}",
        said.err
    );
}
