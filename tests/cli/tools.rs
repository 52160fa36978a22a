//! `lint` and `doctor`: the subcommands that need Verilator, Icarus Verilog, Yosys, slang and Tcl.
//!
//! The tools are required: where one is missing these tests fail and name the package to install.

use assert_cmd::Command;
use serde_json::Value;

fn meshkv(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("meshkv").unwrap();
    command.args(args);
    command
}

fn run(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_tiny_configuration_lints_clean() {
    let (code, stdout, stderr) = run(&mut meshkv(&["lint", "configs/tiny.toml", "--json"]));
    assert_eq!((code, stderr.as_str()), (0, ""));
    let value: Value = serde_json::from_str(&stdout).unwrap();
    let tools = value["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|t| t["name"].as_str().unwrap()).collect();
    let read = ["verilator", "verilator", "iverilog", "yosys", "verilator", "slang"];
    assert_eq!(names, [&read[..], &["tclsh", "tclsh"]].concat());
    for tool in tools {
        assert_eq!((&tool["warnings"], &tool["errors"]), (&0.into(), &0.into()), "{tool}");
        assert!(tool["version"].as_str().unwrap().contains('.'));
    }
}

#[test]
fn doctor_finds_every_tool() {
    let (code, stdout, stderr) = run(&mut meshkv(&["doctor", "--json"]));
    let value: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &value["ok"]), (0, &Value::Bool(true)), "{stderr}");
    for tool in value["tools"].as_array().unwrap() {
        assert!(tool["path"].is_string() && tool["version"].is_string(), "{tool}");
    }
}

#[test]
fn doctor_names_each_tool_that_is_missing_and_what_to_install() {
    let mut doctor = meshkv(&["doctor"]);
    let nowhere = "/nowhere/tool";
    let (code, stdout, stderr) = run(doctor.env("MESHKV_VERILATOR", nowhere).env("MESHKV_YOSYS", nowhere));
    assert_eq!(code, 2);
    assert!(stdout.contains("not usable, see below"), "{stdout}");
    assert!(stderr.contains("verilator at /nowhere/tool does not work"), "{stderr}");
    assert!(
        stderr.contains("apt-get install verilator") && stderr.contains("apt-get install yosys"),
        "{stderr}"
    );
}

#[test]
fn lint_without_its_tools_names_all_of_them_and_ends_with_code_2() {
    let mut lint = meshkv(&["lint", "configs/tiny.toml"]);
    let lint = lint.env("MESHKV_VERILATOR", "/nowhere/verilator").env("MESHKV_TCLSH", "/nowhere/tclsh");
    let (code, stdout, stderr) = run(lint);
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("verilator at") && stderr.contains("tclsh at"), "{stderr}");
}

#[cfg(unix)]
#[test]
fn a_linter_that_complains_ends_with_code_1() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::TempDir::new().unwrap();
    let fake = dir.path().join("yosys");
    let script =
        "#!/bin/sh\n[ \"$1\" = --version ] && echo 'Yosys 0.70' && exit\necho 'Warning: a wire' >&2\n";
    std::fs::write(&fake, script).unwrap();
    std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (code, stdout, stderr) = run(meshkv(&["lint", "configs/tiny.toml"]).env("MESHKV_YOSYS", &fake));
    assert_eq!((code, stderr.as_str()), (1, "Warning: a wire\n"));
    assert!(stdout.contains("yosys 0.70") && stdout.contains("1 warning "), "{stdout}");
}
