//! Every pair of options of every command: none is accepted that has no effect beside the other.
//!
//! `options.toml` has a value of each option that shows its effect. Whether an option has one is seen: the run is made with
//! and without it, and result, exit code or files must differ. Commands that take long are parsed alone, and the table
//! says which pairs they refuse.

use crate::cli::options_line::{Line, Options, Table};
use clap::Command;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::sync::Mutex;

const TABLE: &str = include_str!("options.toml");

/// A trace of requests, of which a second comes into the batch.
const REQUESTS: &str = "\
{\"arrival\": 0, \"prompt\": 60, \"output\": 4}
{\"arrival\": 0, \"prompt\": 20, \"output\": 8}
{\"arrival\": 0, \"prompt\": 9, \"output\": 2}
";

fn tables() -> BTreeMap<String, Table> {
    toml::from_str(TABLE).expect("options.toml is a table of commands")
}

/// True if the command line is accepted, before anything is read.
fn accepted(line: &Line) -> bool {
    let words = std::iter::once("meshkv".to_owned()).chain(line.words());
    meshkv::cli::parsed(words).is_ok()
}

/// The options of a command, but for those of every command.
fn options_of(command: &Command) -> BTreeSet<String> {
    let own = command.get_arguments().filter(|arg| !arg.is_global_set());
    let long = own.filter_map(|arg| arg.get_long()).filter(|long| !["help", "version"].contains(long));
    long.map(str::to_owned).collect()
}

#[test]
fn the_table_has_every_option_of_every_command() {
    let mut named: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for table in tables().values() {
        let options = table.options.keys().cloned();
        named.entry(table.command().to_owned()).or_default().extend(options);
    }
    let mut cli = meshkv::cli::command();
    cli.build();
    for command in cli.get_subcommands().filter(|command| command.get_name() != "help") {
        let name = command.get_name();
        let there = named.get(name).cloned().unwrap_or_default();
        assert_eq!(there, options_of(command), "{name}: give tests/cli/options.toml a line for each option");
    }
}

#[test]
fn what_an_option_needs_is_needed_whatever_stands_beside_it() {
    for (name, table) in tables() {
        for (option, of) in &table.options {
            let alone = table.line(&[], &[option]);
            assert_eq!(accepted(&alone), !of.needs(&table), "{name}: {alone}");
            if accepted(&alone) {
                continue;
            }
            let others = table.options.keys().filter(|other| *other != option && !of.names(other));
            for line in others.map(|other| table.line(&[], &[option, other])) {
                assert!(!accepted(&line), "{name}: {line} is accepted, and --{option} needs more");
            }
        }
    }
}

#[test]
fn commands_that_take_long_refuse_what_the_table_says() {
    let mut wrong = Vec::new();
    for table in tables().into_values().filter(|table| !table.runs) {
        let options: Vec<&String> = table.options.keys().collect();
        for (at, first) in options.iter().enumerate() {
            for second in &options[at + 1..] {
                let line = table.line(&[first, second], &[first, second]);
                match (accepted(&line), table.refuses(first, second)) {
                    (true, true) => wrong.push(format!("{line}: is accepted")),
                    (false, false) => wrong.push(format!("{line}: is refused")),
                    _ => {}
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tensors of two layers that differ, as safetensors.
fn tensors() -> Vec<u8> {
    let (heads, kv_heads, positions, tokens, head_dim) = (4, 2, 8, 40, 32);
    let data = |layer: usize, count: usize| -> Vec<u8> {
        (0..count).flat_map(|at| (0x3000 + ((at * 7 + layer * 131) % 0x800) as u16).to_le_bytes()).collect()
    };
    let mut all = Vec::new();
    for layer in 0..2 {
        for (name, rows) in [("q", [heads, positions]), ("k", [kv_heads, tokens]), ("v", [kv_heads, tokens])]
        {
            let shape = vec![rows[0], rows[1], head_dim];
            all.push((format!("layers.{layer}.{name}"), data(layer, shape.iter().product()), shape));
        }
    }
    let view = |(name, bytes, shape)| {
        let (bytes, shape): (&Vec<u8>, &Vec<usize>) = (bytes, shape);
        (name, TensorView::new(Dtype::F16, shape.clone(), bytes).unwrap())
    };
    let views: Vec<_> = all.iter().map(|(name, bytes, shape)| view((name, bytes, shape))).collect();
    safetensors::serialize(views, None).unwrap()
}

/// Files that lines of the table name.
fn files(dir: &Path) -> HashMap<&'static str, String> {
    let tiny = fs::read_to_string("configs/tiny.toml").unwrap();
    let energy = fs::read_to_string("energy/published.toml").unwrap();
    let trace = fs::read_to_string("examples/packets.csv").unwrap();
    // Another figure than the one of the program.
    let energy = energy.replacen("pj_per_bit = 0.", "pj_per_bit = 1.", 1);
    let file = |name: &str, text: &[u8]| {
        let path = dir.join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let grow = tiny.replacen("[kv]", "[kv]\nappend = true", 1);
    // Layers of two kinds, and a scale of the logits that a run may change.
    let kinds = tiny.replacen("[kv]", "[kv]\nscales = \"head\"", 1);
    let kinds = kinds.replacen("[model]", "[model]\ngroups = [{ window = 30 }, {}]", 1);
    HashMap::from([
        ("PAGED", file("paged.toml", fs::read("configs/pages_3x3.toml").unwrap().as_slice())),
        ("REQUESTS", file("requests.jsonl", REQUESTS.as_bytes())),
        ("OTHERS", file("others.jsonl", REQUESTS.replace("60", "70").as_bytes())),
        ("KINDS", file("kinds.toml", kinds.as_bytes())),
        ("CONFIG", file("tiny.toml", tiny.as_bytes())),
        ("GROW", file("grow.toml", grow.as_bytes())),
        ("ENERGY", file("energy.toml", energy.as_bytes())),
        ("TRACE", file("trace.csv", trace.as_bytes())),
        (
            "MATRIX",
            file(
                "matrix.csv",
                b"0,1,0,0,0,2\n0,0,0,2,0,0\n3,0,0,0,1,0\n0,0,1,0,0,0\n0,0,0,1,0,0\n1,1,1,1,1,0\n",
            ),
        ),
        ("TENSORS", file("two.safetensors", &tensors())),
    ])
}

/// What a run shows: exit code, result without what repeats the line, files and their sizes.
type Shown = (i32, Value, BTreeMap<String, u64>);

/// Runs in folders of their own, each made once.
struct Runs {
    dir: tempfile::TempDir,
    files: HashMap<&'static str, String>,
    known: Mutex<HashMap<String, Shown>>,
}

impl Runs {
    fn new() -> Runs {
        let dir = tempfile::tempdir().unwrap();
        let files = files(dir.path());
        Runs { dir, files, known: Mutex::default() }
    }

    fn of(&self, line: &Line) -> Shown {
        let key = line.to_string();
        if let Some(known) = self.known.lock().unwrap().get(&key) {
            return known.clone();
        }
        let words =
            line.words().into_iter().map(|word| self.files.get(word.as_str()).cloned().unwrap_or(word));
        let shown = self.run(words.collect());
        self.known.lock().unwrap().insert(key, shown.clone());
        shown
    }

    fn run(&self, words: Vec<String>) -> Shown {
        let folder = tempfile::tempdir_in(self.dir.path()).unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_meshkv"));
        let command = command.args(words).arg("--json").current_dir(folder.path());
        // A run on the Verilog ends before anything is built.
        let output = command.env("MESHKV_VERILATOR", "/nonexistent/verilator").output().unwrap();
        let mut result = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        bare(&mut result);
        (output.status.code().unwrap_or(-1), result, sizes(folder.path()))
    }
}

/// Takes from a result what repeats the command line, or differs from run to run.
fn bare(value: &mut Value) {
    match value {
        Value::Object(keys) => {
            ["command", "wall", "meshkv"].iter().for_each(|key| drop(keys.remove(*key)));
            keys.values_mut().for_each(bare);
        }
        Value::Array(items) => items.iter_mut().for_each(bare),
        _ => {}
    }
}

/// All files below a folder, with their sizes.
fn sizes(dir: &Path) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            found.extend(
                sizes(&entry.path()).into_iter().map(|(file, size)| (format!("{name}/{file}"), size)),
            );
        } else {
            found.insert(name, entry.metadata().unwrap().len());
        }
    }
    found
}

/// Exit code of a line that is refused.
const REFUSED: i32 = 2;

/// The lines in which `option` has no effect beside `other`, over what each of the two needs.
fn without_effect(runs: &Runs, table: &Table, option: &str, other: Option<&str>) -> Vec<String> {
    let mut found = Vec::new();
    let beside: Vec<&str> = other.into_iter().collect();
    let both: Vec<&str> = std::iter::once(option).chain(other).collect();
    for needs in [&[][..], &[option], &beside, &both] {
        let (with, without) =
            (table.line(needs, &both), table.line_as(&with_options(table, needs, &both), needs, &beside));
        if with.to_string() == without.to_string() {
            continue;
        }
        let shown = runs.of(&with);
        if shown.0 != REFUSED && shown == runs.of(&without) {
            found.push(with.to_string());
        }
    }
    found
}

/// Options of `line` that are left out beside these.
fn with_options(table: &Table, needs: &[&str], given: &[&str]) -> Options {
    table.left_out(needs.iter().chain(given).copied())
}

#[test]
fn every_option_that_is_accepted_has_an_effect_beside_every_other() {
    let runs = Runs::new();
    let mut wrong: BTreeSet<String> = BTreeSet::new();
    for table in tables().values().filter(|table| table.runs) {
        let seen = table.options.iter().filter(|(_, of)| of.unseen.is_none());
        let options: Vec<&str> = seen.map(|(name, _)| name.as_str()).collect();
        let alone = options.iter().map(|&option| (option, None));
        let pairs = options.iter().flat_map(|&a| table.options.keys().map(move |b| (a, Some(b.as_str()))));
        for (option, other) in alone.chain(pairs.filter(|(a, b)| Some(*a) != *b)) {
            let lines = without_effect(&runs, table, option, other);
            wrong.extend(lines.into_iter().map(|line| format!("{line}: --{option} has no effect")));
        }
    }
    let wrong: Vec<_> = wrong.into_iter().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
