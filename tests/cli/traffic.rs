//! Traffic from files and into files: a matrix of rates, a trace at another rate, the packets of a run; and loads that
//! run at once.

use crate::support::sandbox::{said, Running, Sandbox, LEAST};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use rustix::process::Signal;
use serde_json::Value;
use std::fs::{self, File};
use std::process::Command;

/// A mesh of 2 x 2 tiles, which every sandbox has.
const CONFIG: &str = "small.toml";

fn result(sandbox: &Sandbox, line: &str) -> Value {
    let said = sandbox.run(&format!("sim {CONFIG} {line} --json"));
    assert_eq!(said.code, Some(0), "{line}: {}", said.err);
    serde_json::from_str(&said.out).expect("one JSON object")
}

#[test]
fn a_matrix_sends_what_it_says_and_its_command_repeats_it() {
    let sandbox = Sandbox::new();
    sandbox.file("m.csv", "# to tile 3 alone\n0,0,0,2\n0,0,0,0\n0,0,0,1\n0,0,0,0\n");
    let row = result(&sandbox, "--matrix m.csv --load 0.2 --packet 2 --cycles 4000");
    assert_eq!((&row["traffic"], &row["load"]), (&Value::from("matrix"), &Value::from(0.2)));
    let delivered: Vec<f64> =
        row["delivered"].as_array().unwrap().iter().map(|flits| flits.as_f64().unwrap() / 4000.0).collect();
    assert_eq!(delivered[..3], [0.0; 3]);
    assert!((delivered[3] - 0.3).abs() < 0.03, "{delivered:?}");
    assert!((row["offered"].as_f64().unwrap() - 0.3 / 4.0).abs() < 0.01, "{}", row["offered"]);
    let command = row["command"].as_str().unwrap();
    let again = result(&sandbox, command.strip_prefix("meshkv sim small.toml ").expect("its form"));
    assert_eq!((&again["latency_bins"], &again["command"]), (&row["latency_bins"], &row["command"]));
}

#[test]
fn a_wrong_matrix_is_refused_with_line_rule_and_way_out() {
    let sandbox = Sandbox::new();
    sandbox.file("m.csv", "0,1,0,0\n0,1,0,0\n");
    let said = sandbox.run(&format!("sim {CONFIG} --matrix m.csv"));
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    for words in ["m.csv:2:3: tile 1 sends to itself", "\n    ^\n", "help: write 0 where"] {
        assert!(said.err.contains(words), "{words}: {}", said.err);
    }
    for (line, words) in [
        ("--matrix missing.csv", "cannot read the matrix missing.csv"),
        ("--matrix m.csv --traffic tornado", "cannot be used with"),
        ("--matrix m.csv --hotspot 1,1", "cannot be used with"),
        ("--packets p.txt", "name a file that ends in .parquet or .csv"),
        ("--trace-rate 2", "--trace-rate has no effect"),
        ("--trace m.csv --trace-rate 0", "write a number above 0"),
    ] {
        let said = sandbox.run(&format!("sim {CONFIG} {line}"));
        assert_eq!(said.code, Some(2), "{line}");
        assert!(said.err.contains(words), "{line}: {}", said.err);
    }
    fs::write(sandbox.path("m.csv"), [b'0', b'\n', 0xff]).unwrap();
    let said = sandbox.run(&format!("sim {CONFIG} --matrix m.csv"));
    assert!(said.err.contains("m.csv:2: this is no UTF-8 text\n  help: a matrix is CSV"), "{}", said.err);
}

#[test]
fn a_trace_at_another_rate_takes_another_time_and_says_so() {
    let sandbox = Sandbox::new();
    sandbox.file("t.csv", "0,0,3,PART,4\n1000,1,3,PART,4\n1000,2,3,PART,4\n");
    let row = |rate: &str| result(&sandbox, &format!("--trace t.csv{rate}"));
    let (own, half, slow) = (row(""), row(" --trace-rate 2"), row(" --trace-rate 0.5"));
    assert!(own.get("trace_rate").is_none());
    assert_eq!((&half["trace_rate"], &slow["trace_rate"]), (&Value::from(2.0), &Value::from(0.5)));
    let window = |row: &Value| row["window"].as_f64().unwrap();
    assert!((500.0..800.0).contains(&window(&half)) && (2000.0..2300.0).contains(&window(&slow)), "{half}");
    for row in [&half, &slow] {
        assert_eq!(row["run_link_flits"], own["run_link_flits"]);
    }
    assert!(
        half["command"].as_str().unwrap().contains("--trace t.csv --trace-rate 2"),
        "{}",
        half["command"]
    );
    let said = sandbox.run(&format!("sim {CONFIG} --trace t.csv --trace-rate 2"));
    assert!(said.out.contains("trace at 2 times its rate"), "{}", said.out);
    let said = sandbox.run(&format!("sim {CONFIG} --trace t.csv --trace-rate 1e-9"));
    assert!(said.code == Some(2) && said.err.contains("help: replay it at 0.000001 times"), "{}", said.err);
}

/// Rows of a Parquet file: names and numbers of its columns in turn, and the text of the last.
fn rows(path: &std::path::Path) -> Vec<(Vec<(String, i64)>, String)> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let row = |row: parquet::record::Row| {
        let mut numbers = Vec::new();
        let mut class = String::new();
        for (name, field) in row.get_column_iter() {
            match field {
                Field::Long(number) => numbers.push((name.clone(), *number)),
                Field::Str(text) => class.clone_from(text),
                other => panic!("{name}: {other}"),
            }
        }
        (numbers, class)
    };
    reader.get_row_iter(None).unwrap().map(|found| row(found.unwrap())).collect()
}

#[test]
fn packets_have_the_latencies_of_the_row_one_by_one_and_parquet_says_what_csv_says() {
    let sandbox = Sandbox::new();
    let line = "--traffic mixed --fanout 2 --packet 3 --load 0.2 --cycles 2000";
    let row = result(&sandbox, &format!("{line} --packets p.parquet"));
    let other = result(&sandbox, &format!("{line} --packets p.csv"));
    assert_eq!(row["latency_bins"], other["latency_bins"]);
    let (rows, csv) = (rows(&sandbox.path("p.parquet")), fs::read_to_string(sandbox.path("p.csv")).unwrap());
    let names = "source_tile,destination_tile,flits,generated_cycle,entered_cycle,arrived_cycle,\
                 source_latency_cycles,network_latency_cycles,latency_cycles,class";
    let text = |(numbers, class): &(Vec<(String, i64)>, String)| {
        numbers.iter().map(|(_, number)| format!("{number},")).collect::<String>() + class
    };
    let found: Vec<_> = std::iter::once(names.to_owned()).chain(rows.iter().map(text)).collect();
    assert_eq!(found, csv.lines().collect::<Vec<_>>());
    assert_eq!(rows[0].0.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), {
        let mut all: Vec<&str> = names.split(',').collect();
        all.pop();
        all
    });
    let mut latencies: Vec<i64> = rows.iter().map(|(numbers, _)| numbers[8].1).collect();
    latencies.sort_unstable();
    let mean = latencies.iter().sum::<i64>() as f64 / latencies.len() as f64;
    assert!((mean - row["latency_mean"].as_f64().unwrap()).abs() < 1e-9, "{mean}");
    assert_eq!(latencies.last().copied(), row["latency_max"].as_i64());
    for (numbers, class) in &rows {
        let [source, destination, flits, generated, entered, arrived, waited, moved, latency] =
            std::array::from_fn(|at| numbers[at].1);
        assert!(source != destination && source < 4 && destination < 4);
        assert!(generated <= entered && entered < arrived && generated >= 2000, "{numbers:?}");
        assert_eq!((entered - generated, arrived - entered, waited + moved), (waited, moved, latency));
        assert_eq!(flits, if class == "KV_FETCH" { 1 } else { 3 });
    }
}

#[test]
fn packets_that_came_too_late_are_counted() {
    let sandbox = Sandbox::new();
    let said = sandbox.run(&format!(
        "sim {CONFIG} --traffic all-to-one --load 1 --cycles 1000 --drain-limit 1 --packets p.csv"
    ));
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(
        said.err.contains("of the sample came too late for it, and have no row in p.csv"),
        "{}",
        said.err
    );
}

#[test]
fn a_sweep_of_loads_is_the_same_on_one_core_and_on_all() {
    let sandbox = Sandbox::new();
    for traffic in ["--traffic uniform --packet 4", "--traffic multicast --fanout 2", "--traffic tornado"] {
        if traffic.contains("tornado") {
            sandbox.file(CONFIG, &LEAST.replace("cols = 2", "cols = 3"));
        }
        let line = format!("sim {CONFIG} {traffic} --sweep-load 0.1:1 --cycles 400 --warmup 100 --json");
        let result = |command: &mut Command| {
            let said = said(command);
            assert_eq!(said.code, Some(0), "{}", said.err);
            let mut value: Value = serde_json::from_str(&said.out).expect("one JSON object");
            value.as_object_mut().unwrap().remove("wall").expect("what differs");
            value
        };
        let all = result(&mut sandbox.meshkv(&line));
        let mut one = Command::new("taskset");
        one.args(["-c", "0"]).arg(assert_cmd::cargo::cargo_bin!("meshkv"));
        one.args(line.split_whitespace()).current_dir(sandbox.path("."));
        assert_eq!(all, result(&mut one), "{traffic}");
    }
}

#[test]
fn a_sweep_of_the_model_ends_by_ctrl_c_without_a_result() {
    let sandbox = Sandbox::new();
    let before = sandbox.list();
    let line = format!("sim {CONFIG} -v --json --sweep-load 0.05:1.0 --cycles 3000000 --plot pictures");
    let mut running = Running::start(&mut sandbox.meshkv(&line));
    running.hear("latency without load");
    running.signal(Signal::INT);
    let said = running.end();
    assert_eq!(said.code, Some(130), "{}", said.err);
    assert!(
        said.err.contains("in a sweep; no result, no picture; loads that were finished: "),
        "{}",
        said.err
    );
    assert_eq!(sandbox.list(), before);
}
