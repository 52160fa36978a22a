//! The points of a large sweep are listed one by one.

use crate::support::sandbox::Sandbox;
use std::process::Command;

/// A sweep of 100 000 points that differ in the workload alone.
const LARGE: &str = r#"base = "small.toml"
[workload]
kind = "traffic"
packet = { from = 1, to = 20, step = 1 }
seed = { from = 1, to = 5000, step = 1 }
"#;

#[test]
fn a_hundred_thousand_points_are_listed_in_little_memory() {
    let sandbox = Sandbox::new();
    sandbox.file("large.toml", LARGE);
    for (json, id) in [("", ""), ("--json", "\"id\": ")] {
        // In KiB. A list of all texts takes 195 MB and more beside the program.
        let line = format!("ulimit -v 196608; exec \"$0\" sweep large.toml --dry-run {json}");
        let mut command = Command::new("sh");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_meshkv")]).current_dir(sandbox.path("."));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let listed = String::from_utf8(output.stdout).unwrap();
        let points = listed.lines().filter(|line| line.contains(id)).count();
        // Prose has a heading and a sum.
        assert_eq!(points, if json.is_empty() { 100_002 } else { 100_000 });
    }
}
