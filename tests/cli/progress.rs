//! Progress of long work: shown after two seconds, on a terminal only, never on standard output and not under -q.

use crate::support::sandbox::{self, said, Sandbox, OTHER};
use meshkv::tools;
use rustix::process::{kill_process, Pid, Signal};
use rustix::pty::{grantpt, openpt, ptsname, unlockpt, OpenptFlags};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// A delay longer than work may stay silent.
const SLOW: &str = "sleep 3";

/// Both ends of a terminal.
fn terminal() -> (File, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("it is ours");
    let name = ptsname(&ours, Vec::new()).expect("it has a name");
    let theirs = OpenOptions::new().read(true).write(true).open(name.to_str().expect("ASCII"));
    (File::from(ours), theirs.expect("it opens"))
}

/// Runs a command with standard error on a terminal, until it ends or shows `wanted`. Returns its text there and on
/// standard output.
fn on_terminal(mut command: Command, wanted: &str) -> (String, String) {
    let (mut ours, theirs) = terminal();
    command.env("TERM", "xterm").env_remove("NO_COLOR").stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.stderr(theirs).spawn().expect("the binary runs");
    // With it goes our copy of their end: reading ours fails once the child has closed its own.
    drop(command);
    let (sender, pieces) = mpsc::channel();
    thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(n @ 1..) = ours.read(&mut piece) {
            if sender.send(String::from_utf8_lossy(&piece[..n]).into_owned()).is_err() {
                break;
            }
        }
    });
    let mut heard = String::new();
    let start = Instant::now();
    let mut ended = false;
    while let Ok(piece) = pieces.recv_timeout(sandbox::PATIENCE.saturating_sub(start.elapsed())) {
        heard.push_str(&piece);
        if heard.contains(wanted) && !std::mem::replace(&mut ended, true) {
            kill_process(Pid::from_child(&child), Signal::INT).expect("it is still there");
        }
    }
    let mut out = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut out).expect("UTF-8");
    child.wait().expect("it ends");
    (heard, out)
}

/// Checks that a line shows `wanted` on a terminal, and nothing elsewhere.
fn shows(sandbox: &Sandbox, line: &str, tool: Option<(&str, &std::path::Path)>, wanted: &str) {
    let command = |line: &str| {
        let mut command = sandbox.meshkv(line);
        command.envs(tool);
        command
    };
    let (heard, out) = on_terminal(command(line), wanted);
    assert!(heard.contains(wanted), "{line}: {heard:?}");
    assert_eq!(out, "", "{line}");
    if tool.is_some() {
        // Here it ends by itself, so that silence can be waited for.
        let (heard, _) = on_terminal(command(&format!("{line} -q")), "\u{0}");
        assert!(!heard.contains(wanted), "{line} -q: {heard:?}");
        let said = said(&mut command(line));
        assert!(!said.err.contains(wanted), "{line}: {}", said.err);
    }
}

#[test]
fn linters_at_work_are_shown() {
    let sandbox = Sandbox::new();
    let real = tools::find(&tools::YOSYS).expect("Yosys").path;
    let slow = sandbox.impostor("slow", &real, SLOW);
    shows(&sandbox, "lint small.toml", Some(("MESHKV_YOSYS", &slow)), "reading the design with every tool");
}

#[test]
fn a_build_is_shown_step_by_step() {
    let sandbox = Sandbox::new();
    let fails = format!("{SLOW}; exit 1");
    let slow = sandbox.impostor("slow-c++", &tools::find(&tools::CXX).expect("a compiler").path, &fails);
    shows(&sandbox, "cosim small.toml", Some(("CXX", &slow)), "compiling the fabric, 0 of");
    // With the runtime there, Verilator comes first.
    let sandbox = Sandbox::with_own_fabric("cosim small.toml --cycles 500");
    sandbox.file("other.toml", OTHER);
    let slow = sandbox.impostor("slow", &tools::find(&tools::VERILATOR).expect("Verilator").path, &fails);
    shows(&sandbox, "cosim other.toml", Some(("MESHKV_VERILATOR", &slow)), "verilating the fabric");
}

#[test]
fn a_simulation_is_shown_with_its_share_and_a_sweep_with_its_point() {
    let sandbox = Sandbox::with_fabric();
    shows(&sandbox, "cosim small.toml --cycles 4000000000", None, "simulating [");
    shows(
        &sandbox,
        "cosim small.toml --sweep-load 0.1:1 --cycles 4000000000",
        None,
        "point 1: offering 0.1000",
    );
    sandbox.file("t.csv", "0,0,1,PART,1\n999999999,0,1,PART,1\n");
    shows(&sandbox, "cosim small.toml --trace t.csv", None, "replaying [");
}

#[test]
fn standard_output_is_one_object_and_all_else_is_on_standard_error() {
    let sandbox = Sandbox::with_fabric();
    for (line, quiet) in [("-v", false), ("", false), ("-q", true)] {
        let line = format!("cosim small.toml --cycles 500 --json --plot pictures {line}");
        let said = sandbox.run(&line);
        assert_eq!(said.code, Some(0), "{}", said.err);
        let value: serde_json::Value = serde_json::from_str(&said.out).expect("one object and nothing else");
        assert!(value.is_object());
        assert_eq!(said.err.is_empty(), quiet, "{line}: {}", said.err);
        assert_eq!(said.err.contains("latency without load"), line.ends_with("-v"), "{line}: {}", said.err);
        assert_eq!(said.err.contains("wrote pictures/"), !quiet, "{line}: {}", said.err);
    }
    // Short work shows no progress even where it could; nothing is to be warned of here.
    sandbox.file("calm.toml", "[mesh]\ncols = 2\nrows = 2\n[model]\nmax_tokens = 1024\nmax_streams = 1\n");
    let (heard, out) = on_terminal(sandbox.meshkv("check calm.toml --json"), "\u{0}");
    assert_eq!(heard, "");
    assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok(), "{out}");
}

#[test]
fn progress_waits_for_two_seconds() {
    let sandbox = Sandbox::new();
    let real = tools::find(&tools::YOSYS).expect("Yosys").path;
    let quick = sandbox.impostor("quick", &real, "sleep 0.1");
    let mut command = sandbox.meshkv("lint small.toml");
    let start = Instant::now();
    command.env("MESHKV_YOSYS", quick);
    let (heard, _) = on_terminal(command, "\u{0}");
    // On a machine so busy that this takes longer, progress is right to show.
    assert!(heard.is_empty() || start.elapsed() > Duration::from_secs(2), "{heard:?}");
}
