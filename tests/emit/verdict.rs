//! The verdict of a routed design: every kind of finding fails it, and so does what was not checked.

use super::constraints::{named, Bench};
use meshkv::synth::lint::vivado::Installation;

/// Answers of Vivado in place of those of a run that succeeded, and what the verdict says of them.
const FINDINGS: [(&str, &str, &str); 12] = [
    (
        "SLACK",
        "-0.25",
        "setup slack -0.25 ns on ap_clk, a path of the kernel (timing.rpt); hold slack -0.25 ns on ap_clk, a path",
    ),
    ("ENDPOINT_PIN", "level0_i/blp/b_reg/D", ""),
    ("SLACK", "", "no path was checked for setup (timing.rpt); no path was checked for hold (timing.rpt)"),
    ("paths", "", "no path was checked for setup (timing.rpt); no path was checked for hold (timing.rpt)"),
    ("paths_of_clock", "", "no path of the kernel's ap_clk_2 was checked for hold (timing.rpt)"),
    ("timing", "| Design Timing Summary\n", "no pulse width was checked (timing.rpt)"),
    (
        "timing",
        "  WNS(ns) TNS(ns) F T WHS(ns) THS(ns) F T WPWS(ns) TPWS(ns) F T\n  --- ---\n 1 0 0 9 1 0 0 9 -0.07 -1 2 9\n",
        "pulse width slack -0.07 ns (timing.rpt)",
    ),
    ("bus_skew", "No bus skew constraints\n", "0 bus skews were checked, and the kernel has "),
    ("bus_skew", "1. Bus Skew Report Summary\n 1 61 [get_cells a]\n [get_cells b]\n Slow 2.0 2.3 -0.3\n", "1 bus skews miss their limit, slack -0.3 ns"),
    ("cdc", "CDC Report\n", "no clock crossing was found (cdc.rpt)"),
    (
        "cdc",
        "CDC-13  Critical  2  1-bit\n  1  CDC-13  Critical  1-bit  0  None  level0_i/ulp/meshkv_1/inst/a_reg/C  m/D\n\
         \x20 2  CDC-13#1  Critical  1-bit  0  None  level0_i/blp/a_reg/C  level0_i/blp/b/D\n",
        "1 critical clock crossings of the kernel (cdc.rpt): see",
    ),
    ("cdc", "CDC-14  Critical  2  Multi-bit\n", "of 2 critical clock crossings 0 have a row (cdc.rpt)"),
];

#[test]
fn a_verdict_fails_for_every_kind_of_finding_and_for_what_was_not_checked() {
    let bench = Bench::new(&named("tiny"));
    let verdict = |answers: &[(&str, &str)]| {
        std::fs::create_dir_all(bench.path("answers")).unwrap();
        for (name, text) in answers {
            std::fs::write(bench.path("answers").join(name), text).unwrap();
        }
        assert_eq!(bench.script("reports", Installation::default()), [""; 0], "{answers:?}");
        std::fs::remove_dir_all(bench.path("answers")).unwrap();
        std::fs::read_to_string(bench.path("build/reports/verdict.txt")).unwrap()
    };
    for (name, text, says) in FINDINGS {
        let said = verdict(&[(name, text)]);
        // An end in the kernel is enough to make a path its own.
        let passes = says.is_empty();
        assert!(said.starts_with(if passes { "meshkv: PASS: " } else { "meshkv: FAIL: " }), "{name}: {said}");
        assert!(said.contains(says), "{name} {text}: {said}");
    }
    // Findings of the shell are told apart. Its crossings are its vendor's; its paths are everybody's.
    let shell = "level0_i/blp/a_reg";
    let said = verdict(&[("SLACK", "-0.1"), ("STARTPOINT_PIN", shell), ("ENDPOINT_PIN", shell)]);
    assert!(said.contains("FAIL: setup slack -0.1 ns on ap_clk, a path of the shell (timing.rpt)"), "{said}");
    let row =
        format!("CDC-1  Critical  1  1-bit\n  1  CDC-1  Critical  1-bit  0  None  {shell}/C  {shell}/D\n");
    let said = verdict(&[("cdc", &row)]);
    assert!(
        said.starts_with("meshkv: PASS: ") && said.contains("1 critical crossings of the shell"),
        "{said}"
    );
    let ours = format!("level0_i/ulp/meshkv_1/inst/u_core and {shell}");
    for (of, counts) in [(shell, "kernel 0, shell 3"), (&ours, "kernel 3, shell 0")] {
        let found = [("methodology", "a b c"), ("SEVERITY", "Critical Warning"), ("DESCRIPTION", of)];
        let said = verdict(&found);
        assert!(said.starts_with("meshkv: PASS: "), "{said}");
        assert!(said.contains(&format!("critical findings of methodology: {counts}")), "{said}");
    }
}

#[test]
fn the_reports_end_with_a_verdict_and_an_old_one_does_not_count() {
    let bench = Bench::new(&named("tiny"));
    let verdict = || std::fs::read_to_string(bench.path("build/reports/verdict.txt")).unwrap_or_default();
    let (reports, system) = ("scripts/reports.tcl", "scripts/system.tcl");
    let run = |bench: &Bench| bench.script("reports", Installation::default());
    assert_eq!(run(&bench), [""; 0]);
    assert!(
        verdict()
            .starts_with("meshkv: PASS: setup slack 0.1 ns on ap_clk, hold slack 0.1 ns on ap_clk, pulse"),
        "{}",
        verdict()
    );
    // A report that fails leaves no verdict, not the one before.
    let found = bench.with(reports, "report_drc -file", "report_drc -files", run);
    assert!(found[0].contains("-files is no option of report_drc"), "{found:?}");
    assert_eq!(verdict(), "");
    // The bare system runs them, too.
    assert_eq!(bench.script("system", Installation::default()), [""; 0]);
    assert!(verdict().starts_with("meshkv: PASS"), "{}", verdict());
    let found = bench.with(system, "open_run impl_1", "open_run -named x impl_1", Bench::scripts);
    assert!(found[0].contains("is no option of open_run"), "{found:?}");
}
