//! Every command that a help text or the documentation shows is one, and does what it says.

use crate::support::sandbox::Sandbox;
use crate::support::shown_commands::{of_docs, of_help, of_sentences, words, Shown};
use meshkv::cli;
use safetensors::tensor::{Dtype, TensorView};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The target of a line of make, and the folder of its file.
fn make(line: &str) -> (Option<String>, Vec<String>) {
    let mut words = words(line).into_iter().skip(1);
    let mut folder = None;
    let mut targets = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-C" => folder = words.next(),
            _ => targets.push(word),
        }
    }
    (folder, targets)
}

/// Why a shown command is none.
fn fault(shown: &Shown) -> Option<String> {
    let words = words(&shown.line);
    if words[0] != "make" {
        return cli::parsed(&words).err().and_then(|error| {
            let help = error.exit_code() == 0;
            (!help).then(|| error.to_string())
        });
    }
    let (folder, targets) = make(&shown.line);
    let dry =
        Command::new("make").args(["-n", "-C", folder.as_deref().unwrap_or(".")]).args(targets).output();
    let dry = dry.expect("make runs");
    (!dry.status.success()).then(|| String::from_utf8_lossy(&dry.stderr).into_owned())
}

#[test]
fn every_example_of_help_and_every_command_of_the_docs_parses() {
    let mut shown = of_help(&cli::command());
    assert!(shown.len() > 80, "{} examples", shown.len());
    let of_docs = of_docs();
    assert!(of_docs.len() > 30, "{} commands in docs", of_docs.len());
    shown.extend(of_docs);
    let faults: Vec<_> = shown
        .iter()
        .filter_map(|shown| Some(format!("{}: {}: {}", shown.place, shown.line, fault(shown)?)))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Sentences leave out what is not their point, but name no subcommand, option or job that is not there.
#[test]
fn every_subcommand_and_option_that_a_sentence_names_exists() {
    let mut faults = Vec::new();
    let shown = of_sentences();
    assert!(shown.len() > 100, "{} commands in sentences", shown.len());
    for shown in shown {
        let words = words(&shown.line);
        if words[0] == "make" {
            // A page on the output names targets of the makefile there.
            let there = words.get(1).is_none_or(|target| {
                ["Makefile", "rtl_out/u280_4x8/scripts/Makefile"].iter().any(|file| {
                    let text = fs::read_to_string(file).expect("a makefile");
                    text.lines().any(|line| line.starts_with(&format!("{target}:")))
                })
            });
            if !there {
                faults.push(format!("{}: `{}`: there is no such target", shown.place, shown.line));
            }
            continue;
        }
        let root = cli::command();
        let mut command = &root;
        let mut options: Vec<_> = root.get_arguments().filter_map(clap::Arg::get_long).collect();
        options.extend(["help", "version"]);
        for word in &words[1..] {
            if let Some(below) = command.find_subcommand(word) {
                command = below;
                options.extend(below.get_arguments().filter_map(clap::Arg::get_long));
            } else if command.get_name() == "meshkv" && word.chars().all(|c| c.is_ascii_lowercase()) {
                faults.push(format!("{}: `{}`: there is no {word}", shown.place, shown.line));
            }
            let option =
                word.strip_prefix("--").map(|word| word.split(['=', ',', '.']).next().unwrap_or(word));
            if option.is_some_and(|option| !option.is_empty() && !options.contains(&option)) {
                faults.push(format!("{}: `{}`: there is no {word}", shown.place, shown.line));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A folder as a user has it who follows the documentation.
struct Desk {
    sandbox: Sandbox,
    path: String,
}

impl Desk {
    fn new() -> Desk {
        let sandbox = Sandbox::with_fabric();
        for folder in ["configs", "sweeps", "examples", "energy", "templates"] {
            let copied = Command::new("cp").args(["-r", folder]).arg(sandbox.path(folder)).status();
            assert!(copied.expect("cp runs").success());
        }
        for folder in [
            "rtl_out",
            "home/.local/share/bash-completion/completions",
            "home/.zfunc",
            "home/.config/fish/completions",
        ] {
            fs::create_dir_all(sandbox.path(folder)).expect("the folder is writable");
        }
        let folder = Path::new(env!("CARGO_BIN_EXE_meshkv")).parent().expect("the program is in a folder");
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
        let desk = Desk { sandbox, path };
        desk.prepare();
        desk
    }

    /// Makes what examples take for granted: a configuration, tensors, the rows of sweeps.
    fn prepare(&self) {
        self.run("meshkv init -q");
        fs::write(self.sandbox.path("mine.safetensors"), mine()).expect("the folder is writable");
        let ablations = "base = \"../configs/tiny.toml\"\ngrid.takv.placement = [\"hub\", \"takv\"]\n\
            [workload]\nkind = \"decode\"\nengine = \"model\"\ntokens = 64\n";
        fs::write(self.sandbox.path("sweeps/ablations.toml"), ablations).expect("the folder is writable");
        // The whole sweep of meshes takes minutes: its lowest loads.
        let meshes = fs::read_to_string("sweeps/mesh_sizes.toml").expect("a sweep");
        let (before, after) = meshes.split_once("load = [").expect("it has loads");
        let (_, after) = after.split_once(']').expect("a list ends");
        let few = format!("{before}load = [0.01, 0.03]{after}");
        fs::write(self.sandbox.path("sweeps/mesh_sizes.toml"), few).expect("the folder is writable");
        for sweep in ["latency_load", "ablations", "mesh_sizes"] {
            self.run(&format!("meshkv sweep sweeps/{sweep}.toml -q >sweep.txt"));
        }
        self.run("cp -r out/latency_load out/before; cp -r out/latency_load out/after; cp -r out/mesh_sizes out/sizes");
    }

    /// Runs a line in a shell; its output, if it fails.
    fn try_run(&self, line: &str) -> Result<String, String> {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("set -e\n{line}")]).current_dir(self.sandbox.path("."));
        shell.env("PATH", &self.path).env("HOME", self.sandbox.path("home")).stdin(Stdio::null());
        shell.env("MESHKV_CACHE", &self.sandbox.cache).env("TMPDIR", self.sandbox.path("tmp"));
        let output = shell.output().expect("sh runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match output.status.success() {
            true => Ok(text(&output.stdout)),
            false => Err(format!("{}\n{}", output.status, text(&output.stderr))),
        }
    }

    fn run(&self, line: &str) -> String {
        self.try_run(line).unwrap_or_else(|why| panic!("{line}: {why}"))
    }
}

/// Four layers with 512 positions of queries, all zero but the keys.
fn mine() -> Vec<u8> {
    let (heads, tokens, head_dim) = (2, 512, 32);
    let zeros = vec![0_u8; heads * tokens * head_dim * 2];
    let views = (0..4).flat_map(|layer| {
        ["q", "k", "v"].map(|part| {
            let shape = vec![heads, tokens, head_dim];
            let view = TensorView::new(Dtype::F16, shape, &zeros).expect("the bytes are those of the shape");
            (format!("layers.{layer}.{part}"), view)
        })
    });
    safetensors::serialize(views, None).expect("tensors")
}

/// What runs in place of a shown command where it needs hours, a cluster, or a value of the user.
fn stand_in(line: &str, desk: &Desk) -> Option<String> {
    let line = line
        .replace("/opt/verilator/bin/verilator", "\"$(command -v verilator)\"")
        .replace("--time 600", "--time 5")
        // A program of the user's.
        .replace("./program", "true");
    if line.starts_with("meshkv init") && !line.contains(".toml") {
        // The file is there already.
        return Some(format!("{line} --force"));
    }
    if line == "meshkv examples" {
        // The files here are changed.
        return Some("mkdir -p empty; cd empty; meshkv examples".to_owned());
    }
    if line.contains("python/examples") {
        // Examples in Python need packages, and have tests of their own.
        return None;
    }
    if line.starts_with("meshkv mutate") {
        // It may find what no check finds; it has tests of its own.
        return None;
    }
    if line.starts_with("meshkv prove") && !line.contains("--module") {
        // All proofs of a design have a test of their own.
        return Some(line.replacen("meshkv prove", "meshkv prove --module async_register", 1));
    }
    if line.starts_with("meshkv sweep") && (line.contains("--slurm") || line.contains("--estimate")) {
        // A cluster, and the synthesis of every point, have tests of their own.
        return None;
    }
    if line.contains("--only ID") {
        let points = desk.run("meshkv sweep sweeps/mesh_sizes.toml --dry-run --json");
        let points: serde_json::Value = serde_json::from_str(&points).expect("JSON");
        let id = points["points"][0]["id"].as_str().expect("an ID");
        return Some(line.replace("ID", id));
    }
    // The whole paper has a test of its own.
    (!line.starts_with("meshkv paper") || line.contains("--section")).then_some(line)
}

/// Runs commands one after the other in one folder.
fn all_run(shown: &[Shown]) {
    let desk = Desk::new();
    let mut failed = Vec::new();
    for shown in shown.iter().filter(|shown| !shown.line.starts_with("make")) {
        let Some(line) = stand_in(&shown.line, &desk) else { continue };
        let begun = Instant::now();
        if let Err(why) = desk.try_run(&line) {
            failed.push(format!("{}: {}: {why}", shown.place, shown.line));
        }
        println!("{:4} s  {}: {line}", begun.elapsed().as_secs(), shown.place);
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_example_of_help_runs() {
    all_run(&of_help(&cli::command()));
}

#[test]
fn every_command_of_readme_and_docs_runs() {
    all_run(&of_docs());
}
