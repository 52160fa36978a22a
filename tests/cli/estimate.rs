//! `meshkv estimate` on a small design with real Yosys: its report, its cache, and its failures.

use crate::support::sandbox::{said, Said, Sandbox, LEAST};
use meshkv::config::Config;
use meshkv::design::Design;
use meshkv::emit::SourceFile;
use meshkv::synth::{bound_of_tile, Demand, Effort, Estimate, Limits, Yosys};
use meshkv::tools;
use serde_json::{json, Value};
use std::path::{Path, PathBuf};

/// Widens the PaD. The other parts stay those of the small design, but for the front, which depends on its design.
fn wider(config: &mut Config) {
    config.pe.array_rows = 2;
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_fabric();
    sandbox.file("small.toml", LEAST);
    sandbox
}

fn yosys() -> PathBuf {
    tools::find(&tools::SYNTHESIS).expect("this test needs Yosys; run `meshkv doctor`").path
}

/// Runs `line` with this program as Yosys.
fn run_with(sandbox: &Sandbox, line: &str, yosys: &Path) -> Said {
    said(sandbox.meshkv(line).env("MESHKV_SYNTH_YOSYS", yosys))
}

fn printed(said: &Said) -> Value {
    serde_json::from_str(&said.out).unwrap_or_else(|e| panic!("{e}: {}{}", said.out, said.err))
}

/// A configuration and the resources of its tile; the synthesis results are kept under target/.
fn measured(change: impl Fn(&mut Config)) -> (Design, Demand) {
    let mut config: Config = toml::from_str(LEAST).unwrap();
    change(&mut config);
    let design = Design::from_config("small", &config).unwrap();
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scene");
    let yosys = Yosys::find(Some(&cache), &|| false).unwrap();
    let demand = Demand::of(&design, &yosys, Effort::Synthesise, 2, &mut |_, _, _| ()).unwrap();
    (design, demand)
}

#[test]
fn a_register_that_vivado_leaves_out_of_shift_registers_is_counted_as_flip_flops() {
    let cache = tempfile::tempdir().unwrap();
    let yosys = Yosys::find(Some(cache.path()), &|| false).unwrap();
    let counted = |attribute: &str| {
        let text = format!(
            "module line (input wire clk, input wire d, output wire q);\n    {attribute}\n    reg [7:0] line_q;\n    \
             reg before_q, first_q;\n    always @(posedge clk) {{line_q, before_q, first_q}} <= {{line_q[6:0], \
             before_q, first_q, d}};\n    assign q = line_q[7];\nendmodule\n"
        );
        let file = SourceFile { path: "rtl/line.v".to_owned(), text };
        let costs = yosys.costs(&[file], "line", "", Effort::Synthesise, &mut |_| ()).unwrap();
        (costs.area.registers, costs.area.ram_luts)
    };
    assert_eq!(counted("(* shreg_extract = \"no\" *)"), (10, 0));
    assert_ne!(counted("").1, 0);
}

#[test]
fn every_resource_is_a_number_and_the_parts_add_up_to_it() {
    let said = sandbox().run("estimate small.toml --json");
    assert_eq!(said.code, Some(0), "{}", said.err);
    let value = printed(&said);
    assert_eq!(value["fits"], true);
    for resource in ["lut", "lutram_lut", "ff", "bram36", "uram", "dsp"] {
        let number = |v: &Value| v[resource].as_u64().unwrap_or_else(|| panic!("{resource} of {v}"));
        let total = number(&value);
        let of_part = |part: &Value| number(part) * part["count"].as_u64().unwrap();
        assert_eq!(total, value["parts"].as_array().unwrap().iter().map(of_part).sum::<u64>(), "{resource}");
        let in_slr = |slr: &Value| number(&slr["used"]);
        assert_eq!(total, value["slrs"].as_array().unwrap().iter().map(in_slr).sum::<u64>(), "{resource}");
        assert!(number(&value["router"]) <= number(&value["tile"]));
        assert_eq!(value["resources"][resource]["used"], total);
    }
    // Of two rows the upper stands in SLR1, with the memory ports of its two tiles.
    let port = value["parts"].as_array().unwrap().iter().find(|part| part["name"] == "memory_port").unwrap();
    let [tile, port] = [&value["tile"], port].map(|of| of["lut"].as_u64().unwrap());
    assert_eq!(value["slrs"][1]["used"]["lut"], 2 * (tile + port));
    let period = value["period_ns"].as_f64().unwrap();
    assert!(period > 0.2 && value["router"]["period_ns"].as_f64().unwrap() <= period);
    assert_eq!(value["clocks"].as_array().unwrap().len(), 2);
    ["noc", "pe"].iter().for_each(|clock| has_paths(&value["timing"][clock]));
    let slowest = ["noc", "pe"].map(|clock| value["timing"][clock]["worst_ns"].as_f64().unwrap());
    assert!((slowest[0].max(slowest[1]) - period).abs() < 0.006);
    assert_eq!(value["timing"]["reference"][0]["module"], "meshkv_router");
    // The reset of a tile reaches all of it: no net but a clock has more pins.
    let nets = value["timing"]["nets"].as_array().unwrap();
    let pins: Vec<_> = nets.iter().map(|net| net["fanout"].as_u64().unwrap()).collect();
    assert!(nets.len() == 10 && pins.is_sorted_by(|a, b| a >= b), "{nets:?}");
    assert_eq!((&nets[0]["net"], &nets[0]["driver"]), (&json!("rst[0]"), &json!("meshkv_front")));
}

/// Checks paths: they have names, are sorted, and are the sum of their steps.
fn has_paths(clock: &Value) {
    let paths = clock["paths"].as_array().unwrap();
    assert!((1..=10).contains(&paths.len()), "{clock}");
    assert_eq!(paths[0]["ns"], clock["worst_ns"]);
    let number = |of: &Value, key: &str| of[key].as_f64().unwrap_or_else(|| panic!("{key} of {of}"));
    assert!(paths.windows(2).all(|pair| number(&pair[0], "ns") >= number(&pair[1], "ns")));
    for path in paths {
        assert!(number(path, "levels") <= number(clock, "worst_levels"));
        assert!(
            path["from"].as_str().unwrap().starts_with("u_")
                && path["to"].as_str().unwrap().starts_with("u_")
        );
        let steps = path["steps"].as_array().unwrap().iter();
        let sum: f64 = steps.map(|step| number(step, "net_ns") + number(step, "cell_ns")).sum();
        assert!((sum - number(path, "ns")).abs() < 0.02, "{path}");
    }
}

#[test]
fn every_path_of_the_configurations_for_the_card_meets_its_period() {
    let found = Yosys::find(None, &|| false).unwrap();
    // Older ones map the same logic for more levels.
    assert!(
        found.calibrated(),
        "this test needs a newer Yosys than {}; run `make tools-synth`",
        found.version()
    );
    let sandbox = Sandbox::with_fabric();
    let configs = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    for (name, array) in
        [("u280_4x8", 3.333), ("u280_4x8_b8", 3.333), ("u280_shell", 3.333), ("u280_8x8", 4.0)]
    {
        let config = configs.join(format!("{name}.toml"));
        let said = sandbox.run(&format!("estimate {} --json", config.display()));
        assert_eq!(said.code, Some(0), "{name}: {}", said.err);
        let timing = &printed(&said)["timing"];
        for (clock, period) in [("noc", 4.0), ("pe", array), ("hbm", 2.223)] {
            let worst = timing[clock]["worst_ns"].as_f64().unwrap();
            assert!(
                worst <= period,
                "{name}: clock {clock} takes {worst} ns, from {}",
                timing[clock]["paths"][0]["from"]
            );
        }
    }
}

// The second of all by its name: while the first synthesises the small design, this one does the wider.
#[test]
fn a_lower_bound_is_never_above_what_is_measured() {
    // Sums of many streams are kept in UltraRAM, and three blocks make up a memory of one flit and a half.
    let many: fn(&mut Config) =
        |config| (config.model.max_streams, config.noc.flit_width, config.kv.uram_per_tile) = (32, 128, 3);
    let changes: [fn(&mut Config); 3] = [wider, |_| {}, many];
    for (at, change) in changes.into_iter().enumerate() {
        let (design, demand) = measured(change);
        let (bound, tile) = (bound_of_tile(&design).values(), demand.tile().values());
        assert!(bound.iter().zip(tile).all(|(bound, tile)| *bound <= tile), "{at}: {bound:?} {tile:?}");
        // What a check counts is what is built.
        let sandbox = sandbox();
        sandbox.file("changed.toml", &toml::to_string(design.configuration()).unwrap());
        let counted = printed(&sandbox.run("check changed.toml --json"));
        let estimate = Estimate::new(&demand, design.mesh, design.fpga(), Limits::default());
        assert_eq!(counted["uram"], estimate.total().uram, "{at}");
        // And it is a bound of what is there, not of nothing: LUTs, registers, UltraRAM, DSPs.
        assert!([0, 1, 2, 4, 5].iter().all(|&i| bound[i] > 0), "{at}: {bound:?}");
    }
}

#[test]
fn what_was_synthesised_once_is_taken_from_the_cache() {
    let sandbox = Sandbox::with_fabric();
    sandbox.file("small.toml", LEAST);
    let first = sandbox.run("estimate small.toml --json");
    assert_eq!(first.code, Some(0), "{}", first.err);
    // This one knows its version and can do nothing; the name of the design is no part of its Verilog.
    let idle = sandbox.impostor("idle", &yosys(), "exit 1");
    sandbox.file("again.toml", LEAST);
    let second = run_with(&sandbox, "estimate again.toml --json", &idle);
    assert_eq!(second.code, Some(0), "{}", second.err);
    assert_eq!(printed(&second)["parts"], printed(&first)["parts"]);
}

#[test]
fn a_design_that_does_not_fit_is_an_error_with_reasons_and_ways_out() {
    let said = sandbox().run("estimate small.toml --json --limit 1");
    assert_eq!(said.code, Some(1), "{}", said.err);
    let value = printed(&said);
    assert_eq!(value["fits"], false);
    let over = value["over"].as_array().unwrap();
    assert!(over.iter().any(|o| o["resource"] == "lut" && o["slr"] == 1), "{over:?}");
    assert!(said.err.contains("small does not fit:"), "{}", said.err);
    assert!(said.err.contains("SLR1:") && said.err.contains("LUT are"), "{}", said.err);
    assert!(said.err.contains("at most 4345 (1 %)"), "{}", said.err);
    // Nor may so many wires cross.
    let crossing = &value["boundaries"][0];
    assert!(crossing["used"].as_u64() > crossing["limit"].as_u64() && crossing["limit"] == 230, "{crossing}");
    assert!(said.err.contains("SLR0 to SLR1: ") && said.err.contains(" wires are "), "{}", said.err);
    // 64-bit flits, one row and one stream cannot become less: no change is proposed.
    assert_eq!((&value["changes"], &value["not_synthesised"]), (&json!([]), &json!([])));
}

#[test]
fn what_could_be_changed_is_told_with_what_is_known_of_it() {
    let sandbox = sandbox();
    let small = sandbox.run("estimate small.toml --json");
    assert_eq!(small.code, Some(0), "{}", small.err);
    let mut config: Config = toml::from_str(LEAST).unwrap();
    wider(&mut config);
    sandbox.file("wider.toml", &toml::to_string(&config).unwrap());
    let said = sandbox.run("estimate wider.toml --limit 1 --json");
    assert_eq!(said.code, Some(1), "{}", said.err);
    let value = printed(&said);
    // With one row it is the small design, which was synthesised.
    let changes = value["changes"].as_array().unwrap();
    let names: Vec<_> = changes.iter().map(|change| change["change"].as_str().unwrap()).collect();
    assert_eq!(names, ["pe.array_rows = 1"]);
    assert!(
        changes.iter().all(|change| change["total"]["lut"].as_u64() < value["lut"].as_u64()),
        "{changes:?}"
    );
    assert_eq!(value["not_synthesised"], json!([]));
    assert!(said.err.contains("pe.array_rows = 1 is not enough"), "{}", said.err);
    // Without what is known of the small PaD nobody can say what one row would take.
    let own = Sandbox::with_own_fabric("check small.toml");
    let small = printed(&small);
    let pad = small["parts"].as_array().unwrap().iter().find(|part| part["name"] == "pad").unwrap();
    let is_pad =
        |costs: &Value| ["registers", "dsp"].map(|of| &costs["area"][of]) == [&pad["ff"], &pad["dsp"]];
    for entry in std::fs::read_dir(&own.cache).unwrap().map(|e| e.unwrap().path()) {
        let costs = std::fs::read_to_string(entry.join("costs.json")).unwrap_or_default();
        if serde_json::from_str(&costs).is_ok_and(|costs| is_pad(&costs)) {
            std::fs::remove_dir_all(entry).unwrap();
        }
    }
    own.file("wider.toml", &toml::to_string(&config).unwrap());
    let said = own.run("estimate wider.toml --limit 1 --json");
    let value = printed(&said);
    assert_eq!((&value["changes"], &value["not_synthesised"]), (&json!([]), &json!(["pe.array_rows = 1"])));
    assert!(said.err.contains("--suggest synthesises what may fit: pe.array_rows = 1"), "{}", said.err);
}

#[test]
fn a_wrong_yosys_is_named_with_what_to_install() {
    let sandbox = sandbox();
    let nowhere = Path::new("/nowhere/yosys");
    let said = run_with(&sandbox, "estimate small.toml", nowhere);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    assert!(said.err.contains("yosys at /nowhere/yosys does not work"), "{}", said.err);
    let old = sandbox.script("old", "echo 'Yosys 0.9 (git sha1 1979e0b)'");
    let said = run_with(&sandbox, "estimate small.toml", &old);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("is version 0.9, older than 0.23"), "{}", said.err);
    assert!(said.err.contains("MESHKV_SYNTH_YOSYS"), "{}", said.err);
}

#[test]
fn a_yosys_that_fails_is_quoted_and_leaves_nothing_in_the_cache() {
    let sandbox = Sandbox::new();
    let fails = sandbox.impostor("fails", &yosys(), "echo 'ERROR: out of ideas' >&2; exit 1");
    let said = run_with(&sandbox, "estimate small.toml --plot pictures", &fails);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    assert!(said.err.contains("out of ideas"), "{}", said.err);
    assert!(!sandbox.path("pictures").exists());
    let left = std::fs::read_dir(&sandbox.cache).unwrap().map(|e| e.unwrap().path());
    assert!(left.into_iter().all(|path| path.extension().is_some_and(|e| e == "lock")));
}

#[test]
fn the_floorplan_is_drawn_as_svg_and_png() {
    let sandbox = sandbox();
    let said = sandbox.run("estimate small.toml --plot pictures");
    assert_eq!(said.code, Some(0), "{}", said.err);
    let svg = std::fs::read_to_string(sandbox.path("pictures/floorplan.svg")).unwrap();
    let first = said.out.lines().next().unwrap_or_default();
    assert!(first.starts_with("small: fits, and "), "{first}");
    assert!(svg.contains("small: 2 x 2 tiles on the U280") && svg.contains("SLR2"));
    assert!(std::fs::read(sandbox.path("pictures/floorplan.png")).unwrap().starts_with(b"\x89PNG"));
    assert!(said.out.contains("lower bound") && said.out.contains("It fits"), "{}", said.out);
}
