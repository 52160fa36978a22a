//! FuseSoC reads the core and runs its targets.

use crate::support::ecosystem::Output;
use std::process::Command;

const CORE: &str = "meshkv:fabric:tiny";

/// Runs FuseSoC on a target of the core; `options` may limit it to some steps.
fn run(output: &Output, target: &str, options: &[&str]) -> String {
    let target = format!("--target={target}");
    let arguments = [&["--cores-root", "out", "run"], options, &[target.as_str(), CORE]].concat();
    output.run("fusesoc", &arguments)
}

/// Path of a file that FuseSoC made for a target.
fn made(target: &str, file: &str) -> String {
    format!("build/{}/{target}/{}", NAME, file.replace('%', NAME))
}

/// FuseSoC's name for the core.
const NAME: &str = concat!("meshkv_fabric_tiny_", env!("CARGO_PKG_VERSION"));

#[test]
fn verilator_lints_the_core_without_a_warning() {
    let said = run(&Output::new("tiny"), "lint", &[]);
    assert!(said.contains("verilator -f") && !said.contains("%Warning"), "{said}");
}

#[test]
fn yosys_elaborates_the_core_without_a_problem() {
    let output = Output::new("tiny");
    run(&output, "yosys", &[]);
    let log = output.read(&made("yosys", "yosys.log"));
    assert!(log.contains("Found and reported 0 problems."), "{log}");
    let netlist = output.read(&made("yosys", "%.v"));
    assert!(netlist.contains("\nmodule meshkv_top(") && netlist.contains("DSP48E2"));
}

/// Verdicts of the bench: tests and failures.
fn results(output: &Output) -> (usize, usize) {
    let text = output.read(&made("sim", "results.xml"));
    (text.matches("<testcase ").count(), text.matches("<failure").count())
}

#[test]
fn the_bench_passes_in_simulation_and_finds_what_is_wrong() {
    let output = Output::new("tiny");
    let said = run(&output, "sim", &[]);
    // Two of them need a cache that runs can write, and are skipped.
    assert_eq!(results(&output), (9, 0), "{said}");

    // Another design, and a cache that lies elsewhere than the fabric reads.
    for (header, from, to) in [
        ("registers", "MESHKV_MAGIC_VALUE                   0x4d4b5631u", "MESHKV_MAGIC_VALUE 0u"),
        ("shape", "MESHKV_ROW_STRIDE           1", "MESHKV_ROW_STRIDE 0"),
    ] {
        let path = format!("out/sw/meshkv_{header}.h");
        let text = output.read(&path);
        assert!(text.contains(from), "{path}");
        std::fs::write(output.path(&path), text.replace(from, to)).unwrap();
    }
    let mut again = output.command("fusesoc");
    again.env("COCOTB_TEST_FILTER", "registers|mapping=1/seed=None");
    let ended = again.args(["--cores-root", "out", "run", "--run", "--target=sim", CORE]).output().unwrap();
    assert_eq!(results(&output), (2, 2), "{}", String::from_utf8_lossy(&ended.stdout));
}

/// Runs a script of Vivado's commands: each is printed, with bars between its words, and returns its words.
const RECORDER: &str = "proc unknown {args} { puts [join $args |]; return [join $args _] }\n\
    rename source tcl_source\n\
    proc source {path} { puts \"source|$path\"; uplevel 1 [list tcl_source $path] }\n\
    tcl_source [lindex $argv 0]\n";

#[test]
fn vivado_gets_sources_constraints_and_properties_as_in_the_scripts() {
    let output = Output::new("tiny");
    run(&output, "card", &["--setup"]);
    std::fs::write(output.path("recorder.tcl"), RECORDER).unwrap();
    let tclsh = meshkv::tools::find(&meshkv::tools::TCLSH).expect("a Tcl").path;
    let project = format!("{NAME}.tcl");
    let ran = Command::new(tclsh)
        .args([output.path("recorder.tcl"), project.into()])
        .current_dir(output.path(&format!("build/{NAME}/card")))
        .output()
        .unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    let commands: Vec<&str> = said.lines().collect();

    // The values of design.tcl, which the scripts of the card read.
    let design = output.read("out/scripts/design.tcl");
    let value = |name: &str| {
        let rest = design.split(&format!("set {name} ")).nth(1).unwrap();
        rest.lines().next().unwrap().to_owned()
    };
    assert!(
        commands.contains(&format!("set_property|part|{}|current_project", value("design_part")).as_str())
    );
    assert!(commands.contains(&format!("set_property|top|{}|current_fileset", value("design_top")).as_str()));
    assert!(
        commands.contains(&"set_property|verilog_define|MESHKV_DSP48E2=1 |get_filesets_sources_1"),
        "{said}"
    );
    let listed = design.split("set design_sources {").nth(1).unwrap().split('}').next().unwrap();
    let read = |command: &str| -> Vec<String> {
        let of = |line: &&str| line.strip_prefix(&format!("{command}|src/{NAME}/")).map(str::to_owned);
        commands.iter().filter_map(of).collect()
    };
    assert_eq!(read("read_verilog"), listed.split_whitespace().collect::<Vec<_>>());

    // Constraints, and after them the properties that package.tcl gives them, too.
    let constraints = ["clocks", "hierarchy", "crossings"].map(|name| format!("constraints/{name}.xdc"));
    assert_eq!(read("read_xdc"), constraints);
    let position = |text: &str| {
        commands.iter().position(|c| c.contains(text)).unwrap_or_else(|| panic!("{text} is not in\n{said}"))
    };
    assert!(position("crossings.xdc") < position("fusesoc.tcl"));
    let package = output.read("out/scripts/package.tcl");
    for (name, steps) in [
        ("clocks", "synthesis implementation out_of_context"),
        ("hierarchy", "synthesis"),
        ("crossings", "implementation"),
    ] {
        assert!(
            commands.contains(&format!("set_property|USED_IN|{steps}|get_files_{name}.xdc").as_str()),
            "{said}"
        );
        assert!(package.contains(&format!(
            "USED_IN {{{steps}}} [get_files [file join $constraints ${{prefix}}{name}.xdc]]"
        )));
    }
    position("PROCESSING_ORDER|LATE|get_files_crossings.xdc");
    position("-mode out_of_context|-objects|get_runs_synth_1");
}
