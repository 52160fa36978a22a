//! The subcommands, run as by a user or a script: output, messages and exit code.

use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

fn meshkv(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("meshkv").unwrap();
    command.args(args).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

/// Exit code, standard output, standard error.
fn run(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn json(args: &[&str]) -> Value {
    let (code, stdout, stderr) = run(&mut meshkv(args));
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&stdout).unwrap_or_else(|e| panic!("not one JSON object: {e}\n{stdout}"))
}

/// A path in `dir`, as an argument.
fn path(dir: &TempDir, name: &str) -> String {
    dir.path().join(name).to_str().unwrap().to_owned()
}

#[test]
fn init_writes_a_configuration_that_check_accepts() {
    let dir = TempDir::new().unwrap();
    let file = path(&dir, "wide.toml");
    assert_eq!(run(&mut meshkv(&["init", &file])).0, 0);
    assert_eq!(json(&["check", &file, "--json"])["name"], "wide");
    // No temporary file is left beside it.
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn init_writes_to_standard_output_when_asked_and_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let (code, stdout, stderr) = run(meshkv(&["init", "-"]).current_dir(dir.path()));
    assert_eq!(code, 0, "{stderr}");
    assert!(toml::from_str::<toml::Table>(&stdout).is_ok_and(|table| table.contains_key("mesh")));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "a file named `-`");
}

#[test]
fn init_replaces_a_file_only_when_forced() {
    let dir = TempDir::new().unwrap();
    let file = path(&dir, "mine.toml");
    fs::write(&file, "# mine\n").unwrap();
    let (code, _, stderr) = run(&mut meshkv(&["init", &file]));
    assert_eq!(code, 2);
    assert!(stderr.contains("exists; name another file, or replace it with --force"), "{stderr}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "# mine\n");

    assert_eq!(run(&mut meshkv(&["init", &file, "--force"])).0, 0);
    assert!(fs::read_to_string(&file).unwrap().contains("flit_width = 512"));
}

#[test]
fn init_into_a_missing_folder_says_so() {
    let dir = TempDir::new().unwrap();
    let (code, _, stderr) = run(&mut meshkv(&["init", &path(&dir, "no/such/x.toml")]));
    assert_eq!(code, 2);
    assert!(stderr.contains("cannot write") && stderr.contains("No such file or directory"), "{stderr}");
}

#[test]
fn check_gives_the_derived_numbers_as_json() {
    let value = json(&["check", "configs/meshkv.toml", "--json"]);
    for (key, number) in [("tiles", 64), ("links", 224), ("takv_a", 9), ("blocks_per_tile", 256)] {
        assert_eq!(value[key], number, "{key}");
    }
    let flit = value["flit"].as_array().unwrap();
    let field = |class: &str, name: &str| {
        let found = flit.iter().find(|f| f["class"] == class && f["name"] == name);
        found.map(|f| (f["bundle"].clone(), f["offset"].as_u64().unwrap(), f["width"].as_u64().unwrap()))
    };
    assert_eq!(field("all", "data"), Some(("data".into(), 0, 512)));
    assert_eq!(field("all", "dest"), Some(("dest".into(), 0, 64)));
    assert_eq!(field("PART", "last"), Some(("head".into(), 0, 1)));
    assert!(field("KV_DATA", "flit_index").is_some() && field("KV_FETCH", "head_mask").is_some());
}

#[test]
fn check_tells_people_the_same() {
    let (code, stdout, stderr) = run(&mut meshkv(&["check", "configs/tiny.toml"]));
    assert_eq!((code, stderr.as_str()), (0, "Next: meshkv generate configs/tiny.toml\n"));
    assert!(stdout.starts_with("tiny: 3 x 2 tiles, 64-bit flits\n"), "{stdout}");
    assert!(stdout.contains("blocks_per_tile") && stdout.contains("KV_FETCH"), "{stdout}");
}

#[test]
fn check_shows_where_macro_blocks_land() {
    let dir = TempDir::new().unwrap();
    let svg = path(&dir, "placement.svg");
    let args = ["check", "configs/meshkv.toml", "--placement", "--svg", &svg];
    let (code, stdout, stderr) = run(&mut meshkv(&args));
    assert_eq!(code, 0);
    let last = format!("wrote {svg}\nNext: meshkv generate configs/meshkv.toml\n");
    assert!(stderr.ends_with(&last), "{stderr}");
    assert!(stdout.contains("Placement takv, a = 9, column_stride = 0:"), "{stdout}");
    assert!(fs::read_to_string(&svg).unwrap().starts_with("<svg "));

    let value = &json(&[&args[..], &["--json", "-q"]].concat())["placement"];
    assert_eq!(value["blocks"], Value::from(vec![256; 64]));
    assert_eq!((&value["n_max"], &value["fullest"]), (&256.into(), &256.into()));
    // Layer 1 begins in column 1, a = 9 rows above layer 0.
    assert_eq!(value["homes"][1]["first_segment"][8 + 1], 0);
    assert!(json(&["check", "configs/tiny.toml", "--json"])["placement"].is_null());
}

#[test]
fn a_picture_of_the_placement_needs_a_place_and_the_placement() {
    let dir = TempDir::new().unwrap();
    let svg = path(&dir, "no/such/placement.svg");
    let (code, stdout, stderr) =
        run(&mut meshkv(&["check", "configs/tiny.toml", "--placement", "--svg", &svg]));
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("cannot write"), "{stderr}");
    assert_eq!(run(&mut meshkv(&["check", "configs/tiny.toml", "--svg", &svg])).0, 2);
}

#[test]
fn bad_input_ends_with_code_2_and_says_everything_on_standard_error() {
    let file = "tests/config/rejected/many_problems.toml";
    for command in ["check", "lint"] {
        let (code, stdout, stderr) = run(&mut meshkv(&[command, file, "--json"]));
        assert_eq!(code, 2, "{command}");
        let said = fs::read_to_string("tests/config/rejected/many_problems.txt").unwrap();
        assert_eq!(stderr, said, "{command}");
        let value: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(value["error"]["message"].as_str().unwrap(), said.trim_end(), "{command}");
    }
}

#[test]
fn warnings_go_to_standard_error_and_into_the_json() {
    let file = "tests/config/warned/fifo_below_the_round_trip.toml";
    let (code, stdout, stderr) = run(&mut meshkv(&["check", file, "--json", "-q"]));
    assert_eq!(code, 0);
    let golden = fs::read_to_string("tests/config/warned/fifo_below_the_round_trip.txt").unwrap();
    let (first, card) = stderr.split_at(golden.len().min(stderr.len()));
    assert_eq!(first, golden);
    let value: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(value["diagnostics"][0]["line"], 2);
    // The default model is larger than the card: told by those who make files for it.
    assert!(card.contains("makes caches of 128.00 GiB, more than the 8.00 GiB of HBM of the card"), "{card}");
    assert!(value["diagnostics"].to_string().contains("128.00 GiB"));
}

#[test]
fn caches_beyond_the_card_are_told_where_files_are_made_for_it() {
    let dir = TempDir::new().unwrap();
    let out = path(&dir, "rtl");
    let (_, _, made) = run(&mut meshkv(&["generate", "configs/meshkv.toml", "-o", &out, "-q"]));
    assert!(made.contains("warning[caches-fit-card]: model.max_tokens is 32768 by default"), "{made}");
    assert!(made.contains("try max_tokens = 2048, or max_streams = 1 and max_tokens = 16384"), "{made}");
    for name in [
        "minilm",
        "u280_4x8",
        "u280_4x8_b8",
        "u280_4x8_fp8",
        "u280_4x8_int8",
        "u280_shell",
        "u280_8x8",
        "u280_16x4",
        "u55c_4x8",
        "u55c_4x8_fp8",
    ] {
        let (_, _, fits) = run(&mut meshkv(&["check", &format!("configs/{name}.toml"), "-q"]));
        assert_eq!(fits.matches("warning").count(), 0, "{name}: {fits}");
    }
}

#[test]
fn generate_lists_every_file_with_its_hash() {
    let dir = TempDir::new().unwrap();
    let out = path(&dir, "out");
    let value = json(&["generate", "configs/tiny.toml", "-o", &out, "--json"]);
    assert_eq!(value["top"], "meshkv_top");
    let files = value["files"].as_array().unwrap();
    assert!(files.iter().any(|f| f["path"] == "rtl/network/meshkv_mesh.v"));
    for file in files {
        assert_eq!(file["sha256"].as_str().unwrap().len(), 64);
        assert!(Path::new(&out).join(file["path"].as_str().unwrap()).is_file());
    }
    assert_eq!(json(&["generate", "configs/tiny.toml", "-o", &out, "--json"])["files"], value["files"]);
}

#[test]
fn generate_replaces_an_edited_file_only_when_forced() {
    let dir = TempDir::new().unwrap();
    let out = path(&dir, "out");
    let generate = ["generate", "configs/tiny.toml", "-o", &out];
    assert_eq!(run(&mut meshkv(&generate)).0, 0);
    let edited = dir.path().join("out/rtl/network/meshkv_mesh.v");
    fs::write(&edited, "// mine\n").unwrap();

    let (code, stdout, stderr) = run(&mut meshkv(&generate));
    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("meshkv_mesh.v") && stderr.contains("--force"), "{stderr}");
    assert_eq!(fs::read_to_string(&edited).unwrap(), "// mine\n");

    let (code, _, stderr) = run(&mut meshkv(&[&generate[..], &["--force"]].concat()));
    assert_eq!(code, 0);
    assert!(stderr.contains("warning:"), "the kept copy is told: {stderr}");
}

#[test]
fn generate_of_a_bad_configuration_writes_nothing() {
    let dir = TempDir::new().unwrap();
    let file = "tests/config/rejected/not_a_power_of_two.toml";
    assert_eq!(run(&mut meshkv(&["generate", file, "-o", &path(&dir, "out")])).0, 2);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_missing_subcommand_or_option_is_bad_input() {
    for args in [&["check"][..], &["frobnicate"], &["check", "x.toml", "--frob"], &["doctor", "-q", "-v"]] {
        assert_eq!(run(&mut meshkv(args)).0, 2, "{args:?}");
    }
}

#[test]
fn the_schema_names_every_table() {
    let (code, stdout, _) = run(&mut meshkv(&["schema"]));
    let schema: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &schema["title"]), (0, &Value::from("meshkv configuration")));
    let names: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "version",
            "mesh",
            "noc",
            "mare",
            "takv",
            "pad",
            "kv",
            "memory",
            "pe",
            "model",
            "clock",
            "floorplan",
            "board",
            "accept"
        ]
    );
    assert_eq!(schema["additionalProperties"], false);
}

#[test]
fn every_shell_has_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, stdout, stderr) = run(&mut meshkv(&["completions", shell]));
        assert_eq!((code, stderr.as_str()), (0, ""), "{shell}");
        assert!(stdout.contains("generate"), "{shell}");
    }
}

#[test]
fn every_subcommand_has_a_manual_page() {
    let dir = TempDir::new().unwrap();
    let (code, _, stderr) = run(&mut meshkv(&["man", &path(&dir, "man1")]));
    assert_eq!((code, stderr.as_str()), (0, ""));
    for name in ["meshkv", "meshkv-run", "meshkv-sweep", "meshkv-paper", "meshkv-sim-decode"] {
        let page = fs::read_to_string(path(&dir, &format!("man1/{name}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS") && page.contains(".SH OPTIONS"), "{name}: {page}");
    }
}

#[test]
fn every_subcommand_has_help_with_examples() {
    let (_, help, _) = run(&mut meshkv(&["--help"]));
    let commands = help.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| !l.is_empty());
    let names: Vec<_> =
        commands.filter_map(|l| l.split_whitespace().next()).filter(|n| *n != "help").collect();
    assert!(names.len() >= 7, "{names:?}");
    for name in names {
        let (code, help, _) = run(&mut meshkv(&[name, "--help"]));
        assert_eq!(code, 0);
        assert!(help.contains(&format!("Examples:\n  meshkv {name}")), "{name}: {help}");
    }
}

#[test]
fn colour_is_only_used_when_asked_for_or_on_a_terminal() {
    let bad = ["check", "tests/config/rejected/unknown_key.toml"];
    let coloured = |extra: &[&str]| run(&mut meshkv(&[&bad[..], extra].concat())).2.contains('\u{1b}');
    assert!(!coloured(&[]));
    assert!(!coloured(&["--color", "never"]));
    assert!(coloured(&["--color", "always"]));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("meshkv"))
        .args(["check", "configs/tiny.toml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // As `| head` does once it has seen enough, only earlier.
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
