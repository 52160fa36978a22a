//! The command line of `meshkv cosim`: exit codes, messages and the keys of its JSON.

use crate::support::verilated;
use crate::support::waves::headings;
use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// A folder with a small configuration, and the command run in it.
struct Bench(tempfile::TempDir);

impl Bench {
    fn new() -> Bench {
        let dir = tempfile::tempdir().expect("a temporary folder");
        fs::write(dir.path().join("small.toml"), "[mesh]\ncols = 4\nrows = 2\n[noc]\nflit_width = 64\n")
            .expect("the folder is writable");
        Bench(dir)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).expect("the folder is writable");
        path
    }

    fn cosim(&self, line: &str) -> Output {
        self.run("cosim", line)
    }

    fn run(&self, subcommand: &str, line: &str) -> Output {
        let output = Command::cargo_bin("meshkv")
            .expect("the binary is built")
            .current_dir(self.0.path())
            .env("MESHKV_CACHE", verilated::cache())
            .args([subcommand, "small.toml"])
            .args(line.split_whitespace())
            .output()
            .expect("the binary runs");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Output { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    fn json(&self, line: &str) -> Value {
        let Output { code, out, err } = self.cosim(&format!("{line} --json"));
        assert_eq!(code, Some(0), "{err}");
        serde_json::from_str(&out).expect("standard output is one JSON object")
    }
}

struct Output {
    code: Option<i32>,
    out: String,
    err: String,
}

#[test]
fn a_malformed_trace_is_bad_input_at_its_line() {
    let bench = Bench::new();
    bench.file("t.csv", "cycle,source,destinations,class,flits\n0,0,7,PART,4\n5,1,9,PART,1\n");
    let Output { code, out, err } = bench.cosim("--trace t.csv");
    assert_eq!(code, Some(2));
    assert_eq!(out, "");
    assert_eq!(
        err,
        "error: t.csv:3:5: destination 9 is not a tile of this 4x2 mesh\n  5,1,9,PART,1\n      ^\n  \
         help: tiles count from 0 to 7, row by row from the south-west\n"
    );
}

#[test]
fn traffic_that_the_mesh_cannot_have_is_bad_input() {
    let bench = Bench::new();
    for (line, says) in [
        ("--traffic transpose", "transpose traffic needs a square mesh, and this one is 4x2"),
        ("--traffic hotspot --hotspot 4,0", "hotspot 4,0 is not a tile of this 4x2 mesh"),
        ("--traffic multicast --fanout 8", "a fan-out of 8 is not between 1 and 7"),
        ("--load 1.5", "an offered load of 1.5 flits/node/cycle is not above 0 and at most 1"),
        ("--packet 0", "a packet of 0 flits is not between 1 and 4096 flits"),
        ("--trace missing.csv", "cannot read the trace missing.csv"),
        ("--plot small.toml", "cannot make the folder small.toml"),
    ] {
        let Output { code, out, err } = bench.cosim(line);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{line}");
        assert!(err.contains(says), "{line}: {err}");
    }
}

#[test]
fn a_run_prints_one_object_with_the_keys_it_promises() {
    let bench = Bench::new();
    let row = bench.json("--traffic uniform --load 0.2 --packet 1 --cycles 2000 --seed 1 --plot pictures");
    for key in [
        "offered",
        "accepted",
        "latency_mean",
        "latency_p50",
        "latency_p95",
        "latency_p99",
        "latency_p999",
        "zero_load_latency",
        "hops_mean",
        "link_flits",
        "violations",
    ] {
        assert!(row[key].is_number(), "{key}: {}", row[key]);
    }
    let pace = row["wall"]["cycles_per_second"].as_array().expect("a pace");
    assert!(pace.len() == 1 && pace[0].as_f64() > Some(0.0), "{pace:?}");
    assert_eq!(row["violations"], 0);
    assert_eq!(row["dut"], "tile");
    assert_eq!(row["links"].as_array().map(Vec::len), Some(20), "10 neighbours, both ways");
    let percentiles = ["latency_p50", "latency_p95", "latency_p99", "latency_p999", "latency_max"];
    assert!(percentiles.map(|key| row[key].as_u64().unwrap()).is_sorted(), "{row}");
    let bins = row["latency_bins"].as_array().expect("bins");
    assert_eq!(bins.last().unwrap()["to"].as_u64(), row["latency_max"].as_u64().map(|max| max + 1));
    let pictures = bench.0.path().join("pictures");
    let html = fs::read_to_string(pictures.join("report.html")).expect("a page");
    for name in ["link-utilisation", "latency-distribution", "link-time"] {
        for extension in ["svg", "png"] {
            assert!(pictures.join(name).with_extension(extension).is_file(), "{name}.{extension}");
        }
    }
    assert_eq!(html.matches("<svg role=\"img\" aria-label=\"").count(), 3);
    // All colours of its pictures are those of the page, light or dark.
    let svgs: Vec<&str> = html.split("<svg").skip(1).map(|svg| svg.split("</svg>").next().unwrap()).collect();
    assert!(svgs.iter().all(|svg| !svg.contains("=\"#")), "{svgs:?}");
    // The command it prints gives the same row but for the speed.
    let command = row["command"].as_str().expect("a command");
    let again = bench.json(command.strip_prefix("meshkv cosim small.toml ").expect("its own form"));
    assert_eq!(again["latency_mean"], row["latency_mean"]);
    assert_eq!(again["link_flits"], row["link_flits"]);
}

#[test]
fn a_sweep_prints_its_points_and_the_saturation_between_them() {
    let bench = Bench::new();
    let sweep = bench.json("--traffic bit-complement --sweep-load 0.2:1.0 --cycles 1000 --plot pictures");
    let points = sweep["points"].as_array().expect("points");
    let saturation = sweep["saturation"].as_f64().expect("bit-complement saturates");
    for point in points {
        let (load, saturated) = (point["load"].as_f64().expect("load"), point["saturated"] == true);
        assert_eq!(saturated, load > saturation + 1e-9, "{load} against {saturation}");
    }
    assert_eq!(points.last().map(|point| &point["accepted"]), Some(&sweep["accepted_at_full_offer"]));
    assert!(bench.0.path().join("pictures/latency-load.svg").is_file());
}

#[test]
fn a_trace_is_replayed_and_counted_flit_by_flit() {
    let bench = Bench::new();
    bench.file(
        "t.jsonl",
        "{\"cycle\": 3, \"source\": 0, \"destinations\": [1, 7], \"class\": \"KV_DATA\", \"flits\": 5}\n",
    );
    let row = bench.json("--trace t.jsonl");
    // Seven is at (3, 1): three links along the row, on which one lies, and one up.
    assert_eq!(row["run_link_flits"], 5 * 4);
    assert_eq!(row["run_tree_links"], 5 * 4);
    assert_eq!(row["link_flits"], 5 * 4);
    assert_eq!((&row["load"], &row["zero_load_latency"]), (&Value::Null, &Value::Null));
}

#[test]
fn the_model_gives_the_figures_and_pictures_of_the_verilog() {
    let bench = Bench::new();
    let line = "--traffic mixed --fanout 3 --load 0.3 --packet 3 --cycles 1500 --json";
    let figures = |subcommand: &str, line: &str, pictures: &str| {
        let Output { code, out, err } = bench.run(subcommand, &format!("{line} --plot {pictures}"));
        assert_eq!(code, Some(0), "{err}");
        let mut row: Value = serde_json::from_str(&out).expect("standard output is one JSON object");
        let row = row.as_object_mut().expect("an object");
        let own = ["engine", "dut", "command", "wall"].map(|key| row.remove(key).expect(key));
        (
            own,
            row.clone(),
            fs::read(bench.0.path().join(pictures).join("link-utilisation.svg")).expect("drawn"),
        )
    };
    let (rtl, row, picture) = figures("cosim", line, "rtl");
    let (model, same_row, same_picture) = figures("sim", line, "model");
    assert_eq!(row, same_row);
    assert_eq!(picture, same_picture);
    assert_eq!((&rtl[0], &rtl[1]), (&Value::from("rtl"), &Value::from("tile")));
    assert_eq!((&model[0], &model[1]), (&Value::from("model"), &Value::Null));
    // Either name takes either engine, and the command that is printed says which.
    let (other, same_row, _) = figures("cosim", &format!("{line} --engine model"), "other");
    assert_eq!((row, &other[2]), (same_row, &model[2]));
    assert!(model[2].as_str().is_some_and(|command| command.starts_with("meshkv sim small.toml ")));
}

#[test]
fn the_model_needs_no_verilator() {
    let bench = Bench::new();
    let output = Command::cargo_bin("meshkv")
        .expect("the binary is built")
        .current_dir(bench.0.path())
        .env("PATH", "")
        .env("MESHKV_VERILATOR", "/nowhere/verilator")
        .args(["sim", "small.toml", "--cycles", "500"])
        .output()
        .expect("the binary runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_the_model_does_not_have_is_bad_input() {
    let bench = Bench::new();
    let Output { code, err, .. } = bench.run("sim", "--wave w.fst");
    assert_eq!(code, Some(2));
    assert!(err.contains("--wave has no effect on the model") && err.contains("--engine rtl"), "{err}");
    assert!(!bench.0.path().join("w.fst").exists());
}

#[test]
fn lockstep_counts_what_it_compares_and_ends_at_a_difference_with_waves() {
    let bench = Bench::new();
    // Waves need the whole mesh, so it is as small as can be.
    bench.file("small.toml", "[mesh]\ncols = 2\nrows = 2\n[noc]\nflit_width = 64\n");
    let row = bench.json("--load 0.2 --cycles 1000 --lockstep");
    assert_eq!(row["engine"], "lockstep");
    assert!(row["router_cycles_compared"].as_u64().is_some_and(|n| n > 4 * 3000), "{row}");
    let Output { code, out, err } = bench.cosim("--load 0.4 --cycles 1000 --lockstep --upset 1,1@300");
    assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
    assert!(err.contains("router (1, 1), port local, valid: the Verilog has 0b"), "{err}");
    let waves = bench.0.path().join("small-lockstep.fst");
    assert!(fs::metadata(&waves).is_ok_and(|file| file.len() > 1000), "{err}");
    // The way of the views ends at the router that differs.
    assert!(err.contains("named: gtkwave small-lockstep.gtkw, or surfer --command-file"), "{err}");
    let headings = headings(&waves);
    assert!(headings.contains(&"hop 1: router (0, 0), from its tile to east".to_owned()), "{headings:?}");
    assert!(headings.contains(&"hop 3: router (1, 1), from south to its tile".to_owned()), "{headings:?}");
    // A view that a person has saved stays.
    let view = waves.with_extension("gtkw");
    fs::write(&view, "[*] GTKWave Analyzer\n").unwrap();
    let Output { err, .. } = bench.cosim("--load 0.4 --cycles 1000 --lockstep --upset 1,1@300");
    assert!(err.contains("small-lockstep.gtkw is not meshkv's and stays as it is"), "{err}");
    assert_eq!(fs::read_to_string(view).unwrap(), "[*] GTKWave Analyzer\n");
}
