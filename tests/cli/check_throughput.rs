//! `meshkv check` says before anything runs which part holds a decode step, in GB/s, and the key that moves it.

use crate::support::sandbox::Sandbox;
use serde_json::Value;

/// A model with four heads to a KV head on a mesh of this shape.
fn checked(cols: u32, rows: u32, more: &str) -> Value {
    let sandbox = Sandbox::new();
    let text = format!(
        "{more}\n[mesh]\ncols = {cols}\nrows = {rows}\n[noc]\nflit_width = 512\n[pe]\nhead_dim = 128\n[kv]\nsegment_tokens = 64\n\
         [model]\nlayers = 2\nheads = 32\nkv_heads = 8\nmax_tokens = 4096\nmax_streams = 4\n"
    );
    sandbox.file("gqa.toml", &text);
    let said = sandbox.run("check gqa.toml --json");
    assert_eq!(said.code, Some(0), "{}", said.err);
    serde_json::from_str(&said.out).expect("one JSON object")
}

/// The warning of a rule.
fn warning<'a>(checked: &'a Value, rule: &str) -> Option<&'a str> {
    let all = checked["diagnostics"].as_array().expect("a list");
    all.iter().find(|one| one["rule"] == rule).and_then(|one| one["message"].as_str())
}

fn near(value: &Value, wanted: f64) -> bool {
    value.as_f64().is_some_and(|found| (found / wanted - 1.0).abs() < 0.01)
}

#[test]
fn a_layer_in_one_column_is_held_by_its_ports_and_homes_by_slice_move_it() {
    let found = checked(4, 4, "");
    let said = warning(&found, "layer-reaches-ports").expect("a warning");
    assert!(said.contains("4 of 16 memory ports read it, at 53.7 of 460 GB/s"), "{said}");
    for row in found["throughput"].as_array().unwrap() {
        assert_eq!((&row["held_by"], &row["change"]["key"]), (&"ports".into(), &"takv.spread".into()));
        // Four channels of 14.375 GB/s, less their refresh.
        assert!(near(&row["most_gbs"]["ports"], 53.7) && near(&row["most_gbs"]["memory"], 429.3), "{row}");
    }
    assert_eq!(warning(&checked(4, 4, "[takv]\ncolumn_stride = 1"), "layer-reaches-ports"), None);
    let spread = checked(4, 4, "[takv]\nspread = \"slice\"");
    assert_eq!(warning(&spread, "layer-reaches-ports"), None);
    // What the advice promises is what a check of it says.
    let (now, then) = (&found["throughput"][1]["change"], &spread["throughput"][1]);
    assert_eq!(now["held_by"], then["held_by"]);
    assert!(near(&now["gbs"], then["most_gbs"][then["held_by"].as_str().unwrap()].as_f64().unwrap()));
    // Where columns compute different numbers of KV heads, a stride remains.
    let uneven = checked(6, 4, "");
    assert_eq!(uneven["throughput"][0]["change"]["key"], "takv.column_stride");
}

#[test]
fn a_bandwidth_that_the_ports_do_not_carry_is_said() {
    let found = checked(6, 5, "[takv]\ncolumn_stride = 1\n[memory]\nbandwidth_gbs = 819.0");
    let said = warning(&found, "ports-carry-bandwidth").expect("a warning");
    assert!(said.contains("more than 30 memory ports carry: 480.0 GB/s"), "{said}");
    let followed = checked(6, 5, "[takv]\ncolumn_stride = 1\n[memory]\nbandwidth_gbs = 480.0");
    assert_eq!(warning(&followed, "ports-carry-bandwidth"), None);
}

#[test]
fn an_array_of_one_row_is_held_by_its_heads_and_rows_move_it() {
    let found = checked(4, 4, "[takv]\ncolumn_stride = 1\n[memory]\nrefresh = false");
    let batch = &found["throughput"][1];
    assert_eq!((&batch["streams"], &batch["held_by"]), (&4.into(), &"array".into()), "{batch}");
    assert_eq!(batch["change"]["key"], "pe.array_rows");
    assert!(batch["change"]["gbs"].as_f64() > batch["most_gbs"]["array"].as_f64());
}

#[test]
fn prose_marks_the_part_that_holds() {
    let sandbox = Sandbox::new();
    let said = sandbox.run("check small.toml");
    assert!(said.out.contains("GB/s of KV that each part lets through at most"), "{}", said.out);
    assert!(said.out.contains("  one stream: held by "), "{}", said.out);
}
