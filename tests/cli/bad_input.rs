//! Bad input and a broken environment give a clear message with a way out and exit code 2, and leave nothing half
//! written. The exact messages for wrong configurations are in `tests/config/rejected`; Ctrl-C is in `interrupt.rs`.

use crate::support::sandbox::{said, Said, Sandbox, OTHER};
use meshkv::tools;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Expects code 2, nothing on standard output, and all of `says` on standard error.
fn refused(said: &Said, says: &[&str]) {
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}", said.err);
    for text in says {
        assert!(said.err.contains(text), "{text:?} is not in: {}", said.err);
    }
    assert!(!said.err.contains("panicked"), "{}", said.err);
}

/// The same for a command that must leave the folder as it was.
fn refuses(sandbox: &Sandbox, line: &str, says: &[&str]) {
    let before = sandbox.list();
    refused(&sandbox.run(line), says);
    assert_eq!(sandbox.list(), before, "{line}");
}

/// Runs `line` with files limited to a few blocks of 512 or 1024 bytes, as on a full disk. The signal is ignored, so
/// that the write fails.
fn with_room(sandbox: &Sandbox, blocks: u32, line: &str) -> Said {
    let meshkv = sandbox.meshkv(line);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"")]);
    shell.arg(meshkv.get_program()).args(meshkv.get_args());
    shell.current_dir(meshkv.get_current_dir().expect("it has a folder"));
    shell.envs(meshkv.get_envs().filter_map(|(name, value)| Some((name, value?))));
    said(&mut shell)
}

#[test]
fn a_wrong_configuration_is_refused_by_every_subcommand_that_reads_one() {
    let sandbox = Sandbox::new();
    sandbox.file("unknown.toml", "[mesh]\ncolumns = 4\n");
    sandbox.file("type.toml", "[mesh]\ncols = \"4\"\n");
    sandbox.file("value.toml", "[noc]\nflit_width = 100\n");
    for line in ["check FILE", "generate FILE -o out", "lint FILE", "cosim FILE --plot pictures"] {
        for (file, says) in [
            ("unknown.toml", ["unknown.toml:2:1: ", "columns", "  help: "]),
            ("type.toml", ["type.toml:2:8: ", "mesh.cols", "  help: "]),
            ("value.toml", ["value.toml:2:14: ", "noc.flit_width is 100", "  help: "]),
        ] {
            refuses(&sandbox, &line.replace("FILE", file), &says);
        }
    }
}

#[test]
fn malformed_and_empty_traces_are_refused_at_their_line() {
    let sandbox = Sandbox::new();
    for (name, text, says) in [
        ("field.csv", "0,0,1,PART\n", ["field.csv:1:", "help: "]),
        ("word.csv", "0,0,1,PART,1\nfive,0,1,PART,1\n", ["word.csv:2:1: ", "help: "]),
        ("order.csv", "9,0,1,PART,1\n8,0,1,PART,1\n", ["order.csv:2:1: ", "help: "]),
        ("cut.jsonl", "{\"cycle\": 0, \"source\": 0,", ["cut.jsonl:1:", "help: "]),
        (
            "key.jsonl",
            "{\"cycle\": 0, \"source\": 0, \"destinations\": [1], \"class\": \"PART\", \"flits\": 1, \"x\": 1}",
            ["key.jsonl:1:", "unknown field `x`"],
        ),
        (
            "far.jsonl",
            "{\"cycle\": 0, \"source\": 0, \"destinations\": [4], \"class\": \"PART\", \"flits\": 1}",
            ["far.jsonl:1:", "destination 4 is not a tile of this 2x2 mesh"],
        ),
        ("empty.csv", "", ["empty.csv:1:1: there is no packet in this trace", "help: "]),
        ("comments.csv", "# none\n\n", ["comments.csv:2:1: there is no packet", "help: "]),
    ] {
        sandbox.file(name, text);
        refuses(&sandbox, &format!("cosim small.toml --trace {name} --plot pictures"), &says);
    }
    fs::write(sandbox.path("binary.csv"), b"0,0,1,PART,1\n\xff\xfe").unwrap();
    refuses(
        &sandbox,
        "cosim small.toml --trace binary.csv",
        &["binary.csv:2: this is no UTF-8 text", "help: "],
    );
    refuses(&sandbox, "cosim small.toml --trace nowhere.csv", &["cannot read the trace nowhere.csv"]);
}

#[test]
fn loads_and_sets_that_cannot_be_are_refused() {
    let sandbox = Sandbox::new();
    for range in ["1.0:0.05", "0:2", "text", "0.5", "0.5:0.5", "nan:1", ":"] {
        refuses(
            &sandbox,
            &format!("cosim small.toml --sweep-load {range}"),
            &[range, "for example 0.05:1.0"],
        );
    }
    for load in ["-0.1", "0", "1.01", "nan", "inf"] {
        let says = ["is not above 0 and at most 1", "help: "];
        refuses(&sandbox, &format!("cosim small.toml --load={load}"), &says);
    }
    refuses(&sandbox, "cosim small.toml --load much", &["much", "--load"]);
    for (traffic, fanout) in [("multicast", 4), ("mixed", 4), ("multicast", 0)] {
        let says = [&format!("a fan-out of {fanout} is not between 1 and 3"), "try --fanout 3"];
        refuses(&sandbox, &format!("cosim small.toml --traffic {traffic} --fanout {fanout}"), &says);
    }
    refuses(
        &sandbox,
        "cosim small.toml --fanout 99",
        &["--fanout has no effect with --traffic uniform", "tip: choose --traffic multicast or mixed"],
    );
}

#[test]
fn a_file_that_is_no_toml_gets_no_word_about_values_that_it_does_not_have() {
    let sandbox = Sandbox::new();
    for text in ["hello world\n", "{\"mesh\": {\"cols\": 2}}\n", "[model]\nmax_tokens = 2048 tokens\n"] {
        sandbox.file("no.toml", text);
        for command in ["check", "generate"] {
            let said = sandbox.run(&format!("{command} no.toml"));
            assert_eq!(said.code, Some(2), "{}", said.err);
            assert!(said.err.contains("not TOML") && !said.err.contains("warning"), "{}", said.err);
        }
    }
}

#[test]
fn what_cannot_be_written_is_found_out_before_anything_is_built() {
    let sandbox = Sandbox::new();
    sandbox.file("file", "");
    for name in ["taken/link-utilisation.svg", "taken/waves.fst"] {
        fs::create_dir_all(sandbox.path(name)).unwrap();
    }
    for (option, says) in [
        // Nobody can make files here, not even root.
        ("--plot /proc", "--plot needs a folder that can be written: cannot write /proc/"),
        ("--plot /proc/pictures", "cannot make the folder /proc/pictures"),
        ("--plot file/pictures", "cannot make the folder file/pictures"),
        ("--plot taken", "cannot write taken/link-utilisation.svg: is a directory"),
        ("--wave /proc/run.fst", "--wave needs a file that can be written: cannot write /proc/run.fst"),
        ("--wave no/such/folder.fst", "cannot write no/such/folder.fst: No such file or directory"),
        ("--wave taken/waves.fst", "cannot write taken/waves.fst: is a directory"),
    ] {
        // A cache would show that something was built.
        refuses(&sandbox, &format!("cosim small.toml {option}"), &[says]);
    }
    refuses(&sandbox, "generate small.toml -o /proc/out", &["cannot prepare /proc/out", "help: "]);
    refuses(&sandbox, "generate small.toml -o file", &["file exists and is not a directory", "help: "]);
    refuses(&sandbox, "generate small.toml -o taken", &["taken is not empty", "help: "]);
}

#[test]
fn an_edited_output_is_refused_and_stays() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run("generate small.toml -o out").code, Some(0));
    let edited = sandbox.file("out/rtl/network/meshkv_mesh.v", "// mine\n");
    refuses(&sandbox, "generate small.toml -o out", &["rtl/network/meshkv_mesh.v", "--force"]);
    assert_eq!(fs::read_to_string(edited).unwrap(), "// mine\n");
}

#[test]
fn a_full_disk_leaves_nothing_half_written() {
    let sandbox = Sandbox::with_fabric();
    let before = sandbox.list();
    let output = with_room(&sandbox, 4, "generate small.toml -o a/out");
    refused(&output, &["cannot write a/out/", "File too large", "free some space"]);
    assert_eq!(sandbox.list(), before);

    // The fabric is there; its picture has no room.
    assert_eq!(sandbox.run("cosim small.toml --cycles 500").code, Some(0));
    let pictures = with_room(&sandbox, 4, "cosim small.toml --cycles 500 --plot a/pictures");
    refused(&pictures, &["cannot write a/pictures/link-utilisation.", "File too large"]);
    assert_eq!(sandbox.list(), before);

    // No room to build one.
    let sandbox = Sandbox::new();
    let build = with_room(&sandbox, 4, "cosim small.toml");
    refused(&build, &["File too large", "MESHKV_CACHE"]);
    assert!(!sandbox.list().iter().any(|path| path.starts_with("cache/")), "{:?}", sandbox.list());
}

#[test]
fn a_result_that_cannot_be_written_is_an_error() {
    let sandbox = Sandbox::new();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = sandbox.meshkv("check small.toml --json").stdout(full).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(err.contains("cannot write the result: No space left on device"), "{err}");
}

#[test]
fn a_verilator_that_is_missing_or_too_old_is_named_with_what_to_do() {
    let sandbox = Sandbox::new();
    let old = sandbox.script("old", "echo 'Verilator 4.038 2020-07-11 rev v4.036-114-g0cd4a57ad'");
    let before = sandbox.list();
    for line in ["cosim small.toml --plot pictures", "lint small.toml"] {
        let too_old = said(sandbox.meshkv(line).env("MESHKV_VERILATOR", &old));
        refused(&too_old, &["version 4.038, older than 5.006", "make tools"]);
        let missing = said(sandbox.meshkv(line).env("MESHKV_VERILATOR", "/nowhere/verilator"));
        refused(&missing, &["/nowhere/verilator", "apt-get install verilator"]);
    }
    let no_compiler = said(sandbox.meshkv("cosim small.toml").env("CXX", "/nowhere/c++"));
    refused(&no_compiler, &["/nowhere/c++", "apt-get install g++"]);
    assert_eq!(sandbox.list(), before);
}

#[test]
fn a_verilator_that_dies_half_way_is_told_and_leaves_nothing() {
    let sandbox = Sandbox::with_own_fabric("cosim small.toml --cycles 500");
    // Another fabric over the same runtime and headers, so that Verilator comes first.
    sandbox.file("other.toml", OTHER);
    let real = tools::find(&tools::VERILATOR).expect("Verilator").path;
    let begin = "mkdir -p obj; echo half > obj/Vdut.cpp";
    for (end, says) in [
        ("kill -KILL $$", "signal: 9"),
        ("exit 3", "it printed nothing"),
        ("echo '%Error: out of ideas' >&2; exit 1", "out of ideas"),
    ] {
        let fake = sandbox.impostor("fake", &real, &format!("{begin}\n{end}"));
        let before = sandbox.list();
        let failed = said(sandbox.meshkv("cosim other.toml --cycles 500").env("MESHKV_VERILATOR", &fake));
        refused(&failed, &["failed on the generated fabric", says]);
        assert_eq!(sandbox.list(), before);
    }
}

/// A part of the warning, and the damage to an entry.
type Damage = (&'static str, fn(&Path));

#[test]
fn a_damaged_cache_entry_is_built_again() {
    let line = "cosim small.toml --cycles 500 --json";
    let sandbox = Sandbox::with_own_fabric(line);
    let right = sandbox.run(line);
    assert_eq!(right.code, Some(0), "{}", right.err);
    let damages: [Damage; 3] = [
        ("libdut.so is not what was built", |entry| {
            let library = entry.join("libdut.so");
            let bytes = fs::read(&library).unwrap();
            fs::write(library, &bytes[..bytes.len() / 2]).unwrap();
        }),
        ("the manifest is damaged", |entry| fs::write(entry.join("manifest.json"), "{\"fil").unwrap()),
        // It checks, and what it does not mention is no library.
        ("building it again", |entry| {
            fs::write(entry.join("manifest.json"), "{\"files\": {}}").unwrap();
            fs::write(entry.join("libdut.so"), "no library").unwrap();
        }),
    ];
    for (warning, damage) in damages {
        for entry in fs::read_dir(&sandbox.cache).unwrap().map(|e| e.unwrap().path()) {
            if entry.join("libdut.so").is_file() {
                damage(&entry);
            }
        }
        let said = sandbox.run(line);
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert!(said.err.starts_with("warning: ") && said.err.contains(warning), "{}", said.err);
        let warnings = said.err.lines().filter(|line| line.starts_with("warning: ")).count();
        assert_eq!(warnings, 1, "{}", said.err);
        assert_eq!(figures(&said.out), figures(&right.out));
    }
}

/// The row without its speed.
fn figures(json: &str) -> serde_json::Value {
    let mut value: serde_json::Value = serde_json::from_str(json).unwrap();
    value.as_object_mut().unwrap().remove("wall");
    value
}

#[test]
fn a_cache_that_cannot_be_used_is_named_with_the_way_out() {
    let sandbox = Sandbox::new();
    let file = sandbox.file("file", "");
    for cache in [Path::new("/proc/cache"), &file] {
        let said = said(sandbox.meshkv("cosim small.toml").env("MESHKV_CACHE", cache));
        refused(&said, &["cannot create", cache.to_str().unwrap(), "MESHKV_CACHE"]);
        assert_eq!(said.err.matches("(os error").count(), 1, "{}", said.err);
    }
}
