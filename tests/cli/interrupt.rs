//! Ctrl-C during long work: the program ends soon with code 130, ends its children, and leaves nothing half done.

use crate::support::sandbox::{said, until, Running, Said, Sandbox, LEAST, OTHER};
use meshkv::tools;
use rustix::process::{test_kill_process, Pid, Signal};
use std::fs;
use std::time::{Duration, Instant};

/// A script that writes its process id, then waits without end, as a tool under a driver does.
const HANG: &str = "sleep 600 & echo $! > pid.part && mv pid.part \"$PID_FILE\"; wait";

fn real(wanted: &'static tools::Wanted) -> std::path::PathBuf {
    tools::find(wanted).expect("these tests need the tools; run `meshkv doctor`").path
}

/// Starts `line` with a tool that hangs, sends signals once it hangs, and expects the tool to have ended.
fn interrupt_while_a_tool_hangs(
    sandbox: &Sandbox,
    line: &str,
    (variable, wanted): (&str, &'static tools::Wanted),
    signals: &[Signal],
) -> Said {
    let fake = sandbox.impostor("fake", &real(wanted), HANG);
    let pid_file = sandbox.path("pid");
    // The cache itself is made by the first build.
    fs::create_dir_all(&sandbox.cache).unwrap();
    let before = sandbox.list();
    let mut command = sandbox.meshkv(line);
    let running = Running::start(command.env(variable, &fake).env("PID_FILE", &pid_file));
    until("the tool hangs", || pid_file.exists());
    let start = Instant::now();
    signals.iter().for_each(|&signal| running.signal(signal));
    let said = running.end();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    let pid: i32 = fs::read_to_string(&pid_file).unwrap().trim().parse().unwrap();
    until("the tool's child is gone", || !alive(pid));
    fs::remove_file(pid_file).unwrap();
    assert_eq!(sandbox.list(), before, "something is left");
    said
}

/// Tests for a live process; a zombie, which has ended and waits to be reaped, is not alive.
fn alive(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let zombie = stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'));
    !zombie && Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok())
}

fn interrupted(said: &Said, why: &str) {
    assert_eq!(said.code, Some(130), "{}", said.err);
    if !said.out.is_empty() {
        let value: serde_json::Value = serde_json::from_str(&said.out).expect("one object under --json");
        assert_eq!(value["error"]["exit_code"], 130, "{}", said.out);
    }
    let last = said.err.lines().last().unwrap_or_default();
    assert!(last.starts_with("interrupted ") && last.contains(why), "{}", said.err);
}

#[test]
fn while_verilator_is_at_work() {
    // With its runtime in the cache, and this fabric not.
    let sandbox = Sandbox::with_own_fabric("cosim small.toml --cycles 500");
    sandbox.file("other.toml", OTHER);
    let tool = ("MESHKV_VERILATOR", &tools::VERILATOR);
    let line = "cosim other.toml --plot a/b/pictures";
    interrupted(
        &interrupt_while_a_tool_hangs(&sandbox, line, tool, &[Signal::INT]),
        "while the fabric was built",
    );
}

#[test]
fn while_the_compiler_is_at_work() {
    let sandbox = Sandbox::new();
    let tool = ("CXX", &tools::CXX);
    let said = interrupt_while_a_tool_hangs(&sandbox, "cosim small.toml", tool, &[Signal::TERM]);
    interrupted(&said, "while the fabric was built");
}

#[test]
fn while_a_linter_is_at_work() {
    let sandbox = Sandbox::new();
    let tool = ("MESHKV_YOSYS", &tools::YOSYS);
    let said = interrupt_while_a_tool_hangs(&sandbox, "lint small.toml --json", tool, &[Signal::INT]);
    interrupted(&said, "before every tool had read the design");
}

#[test]
fn while_yosys_synthesises() {
    let sandbox = Sandbox::new();
    let tool = ("MESHKV_SYNTH_YOSYS", &tools::SYNTHESIS);
    let said = interrupt_while_a_tool_hangs(&sandbox, "estimate small.toml --plot a/b", tool, &[Signal::INT]);
    interrupted(&said, "while synthesising; modules that were done are kept");
}

#[test]
fn a_second_ctrl_c_does_not_wait_for_anything() {
    let sandbox = Sandbox::new();
    let stubborn = "trap '' TERM INT; echo $$ > pid.part && mv pid.part \"$PID_FILE\"; sleep 600";
    let fake = sandbox.impostor("fake", &real(&tools::YOSYS), stubborn);
    let pid_file = sandbox.path("pid");
    let mut command = sandbox.meshkv("lint small.toml");
    let running = Running::start(command.env("MESHKV_YOSYS", fake).env("PID_FILE", &pid_file));
    until("the tool hangs", || pid_file.exists());
    running.signal(Signal::INT);
    std::thread::sleep(Duration::from_millis(300));
    let start = Instant::now();
    running.signal(Signal::INT);
    let said = running.end();
    assert_eq!(said.code, Some(130), "{}", said.err);
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    let tool: i32 = fs::read_to_string(pid_file).unwrap().trim().parse().unwrap();
    until("the tool is gone, deaf as it is", || !alive(tool));
}

#[test]
fn two_signals_at_once_are_one_request() {
    // `timeout` signals its child, and then the group that the child is in. Of two kinds, since the system may merge two
    // of one kind.
    let sandbox = Sandbox::new();
    let (tool, signals) = (("MESHKV_YOSYS", &tools::YOSYS), [Signal::TERM, Signal::INT]);
    let said = interrupt_while_a_tool_hangs(&sandbox, "lint small.toml", tool, &signals);
    interrupted(&said, "before every tool had read the design");
}

#[test]
fn while_a_run_is_simulated() {
    let sandbox = Sandbox::with_fabric();
    let before = sandbox.list();
    let line = "cosim small.toml -v --cycles 4000000000 --plot pictures";
    let mut running = Running::start(&mut sandbox.meshkv(line));
    running.hear("latency without load");
    running.signal(Signal::INT);
    interrupted(&running.end(), "no result, no picture");
    assert_eq!(sandbox.list(), before);
}

#[test]
fn while_the_model_runs() {
    let sandbox = Sandbox::new();
    let before = sandbox.list();
    let mut running =
        Running::start(&mut sandbox.meshkv("sim small.toml -v --cycles 4000000000 --plot pictures"));
    running.hear("latency without load");
    running.signal(Signal::INT);
    interrupted(&running.end(), "no result, no picture");
    assert_eq!(sandbox.list(), before);
}

#[test]
fn while_seeds_are_soaked_it_names_the_one_to_go_on_with() {
    let sandbox = Sandbox::with_fabric();
    let before = sandbox.list();
    let mut running = Running::start(&mut sandbox.meshkv("soak --seed 1"));
    running.hear("seed 1, ");
    running.signal(Signal::INT);
    let said = running.end();
    assert_eq!((said.code, said.out.as_str()), (Some(130), ""), "{}", said.err);
    assert_eq!(sandbox.list(), before);
}

#[test]
fn while_a_sweep_is_simulated_it_names_the_loads_it_has_finished() {
    let sandbox = Sandbox::with_fabric();
    let before = sandbox.list();
    let line = "cosim small.toml -v --json --sweep-load 0.05:1.0 --cycles 200000 --plot pictures";
    let mut running = Running::start(&mut sandbox.meshkv(line));
    running.hear("offering 0.1000");
    running.signal(Signal::INT);
    interrupted(&running.end(), "finished: 0.0500, 0.1000");
    assert_eq!(sandbox.list(), before);
}

#[test]
fn while_a_trace_is_replayed() {
    let sandbox = Sandbox::with_fabric();
    sandbox.file("t.csv", "0,0,1,PART,1\n999999999,0,1,PART,1\n");
    let before = sandbox.list();
    let mut running = Running::start(&mut sandbox.meshkv("cosim small.toml -v --trace t.csv"));
    running.hear("fabric loaded");
    running.signal(Signal::INT);
    interrupted(&running.end(), "");
    assert_eq!(sandbox.list(), before);
}

#[test]
fn while_slices_are_fetched() {
    let sandbox = Sandbox::with_fabric();
    // Built first, so that the signal meets the run.
    assert_eq!(said(&mut sandbox.meshkv("fetch small.toml --pattern heads")).code, Some(0));
    let before = sandbox.list();
    let line = "fetch small.toml -v --json --pattern random --commands 400 --gap 4000";
    let mut running = Running::start(&mut sandbox.meshkv(line));
    running.hear("fabric loaded");
    running.signal(Signal::INT);
    interrupted(&running.end(), "while fetching; no result");
    assert_eq!(sandbox.list(), before);
}

#[test]
fn while_a_program_runs_before_its_card() {
    let sandbox = Sandbox::with_fabric();
    sandbox.file("small.toml", LEAST);
    // Built first, so that the signal meets the run.
    assert_eq!(said(&mut sandbox.meshkv("card small.toml -- true")).code, Some(0));
    let before = sandbox.list();
    let script = sandbox.script("program", "echo $$ > pid; echo begun >&2; exec sleep 600");
    let mut running = Running::start(&mut sandbox.meshkv("card small.toml -- ./program"));
    running.hear("begun");
    running.signal(Signal::INT);
    interrupted(&running.end(), "while the program ran, which was ended");
    let pid: i32 = fs::read_to_string(sandbox.path("pid")).unwrap().trim().parse().unwrap();
    assert!(!alive(pid), "the program goes on");
    for file in [script, sandbox.path("pid")] {
        fs::remove_file(file).unwrap();
    }
    assert_eq!(sandbox.list(), before);
}

#[test]
fn while_a_step_is_decoded() {
    let sandbox = Sandbox::with_fabric();
    // Built first, so that the signal meets the run; one that takes long without being built for it.
    let line = "decode small.toml -v --json --plot pictures --tokens 1";
    assert_eq!(said(&mut sandbox.meshkv(line)).code, Some(0));
    fs::remove_dir_all(sandbox.path("pictures")).unwrap();
    let before = sandbox.list();
    let mut running = Running::start(&mut sandbox.meshkv(&format!("{line} --steps 60 --stall 250")));
    running.hear("fabric loaded");
    running.signal(Signal::INT);
    interrupted(&running.end(), "while decoding; no result");
    assert_eq!(sandbox.list(), before);
}

#[test]
fn while_files_are_generated_the_output_is_whole_or_as_it_was() {
    let sandbox = Sandbox::new();
    sandbox.file("large.toml", "[mesh]\ncols = 16\nrows = 16\n[pe]\narray_rows = 1\n");
    let whole = || sandbox.path("out/meshkv-manifest.json").exists();
    for round in 0..30 {
        let running = Running::start(&mut sandbox.meshkv("generate large.toml -o out -q"));
        std::thread::sleep(Duration::from_millis(round));
        running.signal(Signal::INT);
        let said = running.end();
        match said.code {
            Some(130) => interrupted(&said, "before out was written"),
            // Before it listens there is nothing to clean up; after the last file there is nothing to stop.
            None => assert!(!whole(), "{}", said.err),
            code => assert!(code == Some(0) && whole(), "{code:?}: {}", said.err),
        }
        let listed = sandbox.list();
        assert_eq!(sandbox.path("out").exists(), whole(), "{listed:?}");
        assert!(!listed.iter().any(|path| path.contains("meshkv-tmp")), "{listed:?}");
        if whole() {
            fs::remove_dir_all(sandbox.path("out")).unwrap();
        }
    }
}
