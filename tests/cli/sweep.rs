//! Sweeps run every point once, however the process ends, give the same rows in any order of work, and read strict
//! files.

use crate::support::sandbox::{said, Running, Said, Sandbox};
use meshkv::config::{workload_keys, WorkKind};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::Duration;

/// Points that take some hundredths of a second each.
const GRID: &str = r#"base = "small.toml"
[grid]
noc.vc_depth = [2, 4, 8]
[[zip]]
mesh.cols = [2, 3]
mesh.rows = [2, 2]
[workload]
kind = "traffic"
pattern = ["uniform", "tornado"]
load = { from = 0.1, to = 0.3, step = 0.1 }
cycles = 6000
warmup = 100
"#;

/// Points of `GRID`: `tornado` moves nothing on two columns and two rows.
const POINTS: usize = 27;

/// Number of times that a sweep is killed.
const KILLS: u64 = 7;

const ALL: [&str; 4] = ["rows.csv", "rows.jsonl", "rows.parquet", "sweep.json"];

fn sandbox(text: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.file("grid.toml", text);
    sandbox
}

fn files(sandbox: &Sandbox, dir: &str) -> Vec<Vec<u8>> {
    ALL.iter().map(|name| fs::read(sandbox.path(dir).join(name)).expect(name)).collect()
}

/// Asserts that files are alike, and shows the first difference only, since the files are too long to be shown.
fn alike(found: &[Vec<u8>], expected: &[Vec<u8>]) {
    for (name, (found, expected)) in ALL.iter().zip(found.iter().zip(expected)) {
        let [found, expected] = [found, expected].map(|bytes| String::from_utf8_lossy(bytes));
        let mut lines = found.lines().zip(expected.lines());
        assert_eq!(lines.find(|(a, b)| a != b), None, "{name}");
        assert_eq!(found.len(), expected.len(), "{name}");
    }
}

/// Runs a sweep to its end and returns its JSON.
fn swept(sandbox: &Sandbox, line: &str) -> Value {
    let said = sandbox.run(&format!("sweep grid.toml --skip-illegal --json {line}"));
    assert_eq!(said.code, Some(0), "{}", said.err);
    serde_json::from_str(&said.out).expect("one JSON object")
}

fn refused(said: &Said, says: &[&str]) {
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{}", said.err);
    for text in says {
        assert!(said.err.contains(text), "{text:?} is not in: {}", said.err);
    }
}

fn rows(sandbox: &Sandbox, dir: &str) -> usize {
    fs::read_to_string(sandbox.path(dir).join("rows.jsonl")).map_or(0, |text| text.lines().count())
}

#[test]
fn a_sweep_killed_again_and_again_ends_with_the_rows_of_one_that_was_not() {
    let sandbox = sandbox(&GRID.replace("6000", "20000"));
    assert_eq!(swept(&sandbox, "-o whole --jobs 1")["run"], POINTS);
    let mut written: BTreeMap<String, u32> = BTreeMap::new();
    let mut count = |said: &Said| {
        for line in said.err.lines() {
            if let Some(id) = line.strip_prefix("row of ").and_then(|rest| rest.strip_suffix(" written")) {
                *written.entry(id.to_owned()).or_default() += 1;
            }
        }
    };
    let mut partial = 0;
    for round in 0..KILLS {
        let mut command = sandbox.meshkv("sweep grid.toml --skip-illegal -v -o killed --jobs 2");
        let mut running = Running::start(&mut command);
        for _ in 0..round % 3 {
            running.hear("row of ");
        }
        // At moments that no clock divides: on opening, between two rows, inside one.
        std::thread::sleep(Duration::from_millis(round * 7 % 8 * 5));
        running.signal(Signal::KILL);
        count(&running.end());
        let there = rows(&sandbox, "killed");
        partial += u32::from(there > 0 && there < POINTS);
    }
    assert!(partial > 0, "no round was killed at work");
    let last = said(&mut sandbox.meshkv("sweep grid.toml --skip-illegal -v -o killed --jobs 2"));
    assert_eq!(last.code, Some(0), "{}", last.err);
    count(&last);
    alike(&files(&sandbox, "killed"), &files(&sandbox, "whole"));
    assert!(written.values().all(|&times| times == 1), "{written:?}");
    // A row that a killed process had no time to tell of was not run again either.
    assert!(written.len() <= POINTS && written.len() as u64 + KILLS >= POINTS as u64, "{written:?}");
    assert!(!sandbox.list().iter().any(|path| path.contains("killed/.tmp")), "{:?}", sandbox.list());
}

#[test]
fn rows_do_not_depend_on_how_many_run_at_once_and_nothing_is_run_again() {
    let sandbox = sandbox(GRID);
    swept(&sandbox, "-o one --jobs 1");
    swept(&sandbox, "-o many --jobs 5");
    alike(&files(&sandbox, "one"), &files(&sandbox, "many"));
    let again = swept(&sandbox, "-o many");
    assert_eq!((&again["run"], &again["kept"]), (&Value::from(0), &Value::from(POINTS)));
    alike(&files(&sandbox, "one"), &files(&sandbox, "many"));
}

#[test]
fn a_line_that_was_cut_off_is_run_again_and_a_damaged_one_is_named() {
    let sandbox = sandbox(GRID);
    swept(&sandbox, "-o out");
    let whole = files(&sandbox, "out");
    for (kept, run) in [(0.99, 1), (0.5, 0)] {
        let path = sandbox.path("out/rows.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let cut = (text.len() as f64 * kept) as usize;
        let lines = text[..cut].matches('\n').count();
        fs::write(&path, &text[..cut]).unwrap();
        let said = sandbox.run("sweep grid.toml --skip-illegal -o out --json");
        let summary: Value = serde_json::from_str(&said.out).expect(&said.err);
        assert_eq!(summary["kept"], lines);
        assert!(run == 0 || summary["run"] == run, "{summary}");
        assert!(said.err.contains("was cut off: its point is run again"), "{}", said.err);
        alike(&files(&sandbox, "out"), &whole);
    }
    let path = sandbox.path("out/rows.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("{\"id\"", "{id", 3)).unwrap();
    refused(&sandbox.run("sweep grid.toml --skip-illegal -o out"), &["rows.jsonl:1: ", "remove the line"]);
}

#[test]
fn two_sweeps_do_not_write_into_one_folder() {
    let sandbox = sandbox(GRID);
    swept(&sandbox, "-o out");
    let lock = File::open(sandbox.path("out/.lock")).unwrap();
    lock.lock().unwrap();
    refused(
        &sandbox.run("sweep grid.toml --skip-illegal -o out"),
        &["another sweep writes into out", "help: wait"],
    );
    lock.unlock().unwrap();
    assert_eq!(swept(&sandbox, "-o out")["run"], 0);
    fs::create_dir(sandbox.path("mine")).unwrap();
    sandbox.file("mine/thesis.txt", "of my own");
    refused(&sandbox.run("sweep grid.toml --skip-illegal -o mine"), &["holds something else", "-o"]);
}

#[test]
fn ctrl_c_keeps_what_is_done() {
    let sandbox = sandbox(&GRID.replace("6000", "600000"));
    let mut running = Running::start(&mut sandbox.meshkv("sweep grid.toml --skip-illegal -v -o out"));
    running.hear("row of ");
    running.signal(Signal::INT);
    let said = running.end();
    assert_eq!((said.code, said.out.as_str()), (Some(130), ""), "{}", said.err);
    let there = rows(&sandbox, "out");
    assert!(there > 0 && there < POINTS);
    let last = said.err.lines().last().unwrap_or_default();
    assert!(last.starts_with(&format!("interrupted with {there} of {POINTS} rows in out")), "{last}");
    assert!(!sandbox.path("out/rows.parquet").exists());
}

#[test]
fn rows_of_points_that_are_gone_are_kept_apart_and_come_back() {
    let sandbox = sandbox(GRID);
    swept(&sandbox, "-o out");
    let whole = files(&sandbox, "out");
    sandbox.file("grid.toml", &GRID.replace("[2, 4, 8]", "[2, 4]"));
    let gone = POINTS / 3;
    let line = "sweep grid.toml --skip-illegal -o out";
    refused(&sandbox.run(line), &[&format!("holds {gone} rows of points that are not"), "--set-aside"]);
    alike(&files(&sandbox, "out"), &whole);
    let fewer = swept(&sandbox, "-o out --set-aside");
    assert_eq!((&fewer["run"], &fewer["kept"]), (&Value::from(0), &Value::from(POINTS - gone)));
    let aside = fs::read_to_string(sandbox.path("out/set-aside.jsonl")).unwrap();
    assert_eq!(aside.lines().count(), gone);
    sandbox.file("grid.toml", GRID);
    assert_eq!(swept(&sandbox, "-o out")["run"], 0);
    alike(&files(&sandbox, "out"), &whole);
    assert_eq!(fs::read_to_string(sandbox.path("out/set-aside.jsonl")).unwrap(), "");
}

#[test]
fn parquet_says_what_csv_says() {
    let sandbox = sandbox(GRID);
    swept(&sandbox, "-o out");
    let csv = fs::read_to_string(sandbox.path("out/rows.csv")).unwrap();
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let reader = SerializedFileReader::new(File::open(sandbox.path("out/rows.parquet")).unwrap()).unwrap();
    let mut read = 0;
    for (row, line) in reader.get_row_iter(None).unwrap().zip(lines.by_ref()) {
        let row = row.unwrap();
        let names: Vec<&str> = row.get_column_iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, head);
        for ((name, field), text) in row.get_column_iter().zip(&line) {
            let same = match field {
                Field::Null => text.is_empty(),
                Field::Str(word) => word == text,
                Field::Long(number) => number.to_string() == *text,
                Field::Bool(truth) => truth.to_string() == *text,
                Field::Double(number) => text.parse() == Ok(*number),
                _ => false,
            };
            assert!(same, "{name}: {field:?} and {text:?}");
        }
        read += 1;
    }
    assert_eq!((read, lines.next()), (POINTS, None));
}

#[test]
fn a_row_is_that_of_meshkv_sim_and_can_be_had_alone() {
    let sandbox = sandbox(GRID);
    swept(&sandbox, "-o out");
    let text = fs::read_to_string(sandbox.path("out/rows.jsonl")).unwrap();
    let line = text.lines().find(|line| line.contains("tornado")).unwrap();
    let row: Value = serde_json::from_str(line).unwrap();
    let id = row["id"].as_str().unwrap();
    let alone = sandbox.run(&format!("sweep grid.toml --skip-illegal --json -q --only {id}"));
    let mut alone: Value = serde_json::from_str(&alone.out).unwrap();
    for key in ["meshkv", "wall"] {
        assert!(alone.as_object_mut().unwrap().shift_remove(key).is_some(), "{alone}");
    }
    assert_eq!(alone, row);
    sandbox.file("point.toml", "[mesh]\ncols = 3\nrows = 2\n[noc]\nflit_width = 64\nvc_depth = 2\n");
    let sim = sandbox.run("sim point.toml --traffic tornado --load 0.1 --cycles 6000 --warmup 100 --json");
    let sim: Value = serde_json::from_str(&sim.out).expect(&sim.err);
    for name in ["latency_mean", "accepted", "zero_load_latency", "link_flits", "latency_p99"] {
        assert_eq!(row[name], sim[name], "{name}");
    }
    assert_eq!(row["config_sha256"], sim["meshkv"]["config_sha256"]);
}

#[test]
fn illegal_points_are_told_all_at_once_before_anything_is_run() {
    let sandbox = sandbox(GRID);
    sandbox.file(
        "bad.toml",
        "base = \"small.toml\"\n[grid]\ntakv.a = [3, 4]\n[[points]]\nname = \"wide\"\nmesh.cols = 4\nmesh.rows = 2\n\
         [[points]]\nname = \"square\"\nmesh.cols = 4\n mesh.rows = 4\n[workload]\nkind = \"traffic\"\n\
         pattern = [\"transpose\", \"mixed\"]\nfanout = 12\ncycles = 100\n",
    );
    let before = sandbox.list();
    let said = sandbox.run("sweep bad.toml");
    refused(
        &said,
        &[
            "bad.toml:3:14: takv.a is 4, which",
            "(in 4 of 8 points)",
            "bad.toml:14:12: workload.pattern cannot be: transpose traffic needs a square mesh, and this one is 4x2 (in 1 of 8",
            "bad.toml:15:10: workload.fanout cannot be: a fan-out of 12",
            "6 of 8 points",
        ],
    );
    let helps = said.err.matches("  help: ").count();
    assert_eq!(helps, 3, "{}", said.err);
    assert_eq!(sandbox.list(), before);
    let dry = sandbox.run("sweep bad.toml --skip-illegal --dry-run");
    assert_eq!(dry.code, Some(0), "{}", dry.err);
    assert!(dry.out.contains("2 points, 0 of them done") && dry.out.contains("transpose"), "{}", dry.out);
    assert_eq!(sandbox.list(), before);
    assert_eq!(sandbox.run("sweep bad.toml --skip-illegal -o out").code, Some(0));
    assert_eq!(rows(&sandbox, "out"), 2);
}

#[test]
fn what_is_wrong_with_a_file_is_told_at_its_place() {
    let sandbox = Sandbox::new();
    for (text, says) in [
        (
            "[grid]\nmesh.colls = [4]\n",
            &["g.toml:2:6: mesh.colls is not a key", "did you mean cols?", "^^^^^"][..],
        ),
        ("[gird]\nx = 1\n", &["g.toml:1:2: gird is not a table", "did you mean grid?"]),
        ("load = 0.1\n", &["g.toml:1:1: load is not a key", "base is missing", "workload.kind is missing"]),
        ("[workload]\nkind = \"trafic\"\n", &["g.toml:2:8: workload.kind is \"trafic\"", "traffic"]),
        ("[workload]\nkind = \"traffic\"\nlaod = 1\n", &["g.toml:3:1: workload.laod", "did you mean load?"]),
        (
            "[workload]\nkind = \"traffic\"\nload = [0.1, 2]\n",
            &["g.toml:3:14: workload.load is 2, which is above 1"],
        ),
        (
            "[workload]\nkind = \"traffic\"\nseed = [1, 1]\n",
            &["g.toml:3:12: workload.seed is 1, which is in the list already"],
        ),
        (
            "[workload]\nkind = \"traffic\"\nload = { from = 1, to = 0 }\n",
            &["g.toml:3:8: workload.load is neither"],
        ),
        ("[grid]\nnoc.vc_depth = []\n", &["g.toml:2:16: noc.vc_depth has no values"]),
        ("[grid]\n\"mesh.cols\" = [2]\n", &["g.toml:2:1: mesh.cols is quoted", "without quotation marks"]),
        (
            "[grid]\nmesh.cols = [2]\n[[zip]]\nmesh.cols = [3]\n",
            &["g.toml:4:13: mesh.cols is given its values twice"],
        ),
        (
            "[[zip]]\nmesh.cols = [2, 3]\nmesh.rows = [2]\n",
            &["zip has lists of different lengths", "mesh.cols has 2, mesh.rows has 1"],
        ),
        ("[[points]]\nmesh.cols = 2\n", &["points has no name"]),
        ("[grid\n", &["g.toml:1:", "not TOML"]),
    ] {
        sandbox.file("g.toml", text);
        refused(&sandbox.run("sweep g.toml"), says);
    }
    sandbox.file("g.toml", "base = \"none.toml\"\n[workload]\nkind = \"traffic\"\n");
    refused(&sandbox.run("sweep g.toml"), &["none.toml: cannot be read"]);
    sandbox.file(
        "g.toml",
        "base = \"small.toml\"\n[workload]\nkind = \"decode\"\nengine = \"model\"\nbatch = [1, 99]\n",
    );
    refused(&sandbox.run("sweep g.toml"), &["g.toml:5:", "workload.batch cannot be"]);
}

#[test]
fn points_that_say_the_same_are_run_once() {
    let text = "base = \"small.toml\"\n[workload]\nkind = \"traffic\"\npattern = [\"uniform\", \"multicast\"]\nfanout = [2, 3]\ncycles = 100\n";
    let sandbox = sandbox(text);
    let said = sandbox.run("sweep grid.toml -o out");
    assert!(said.err.contains("1 points say what others say"), "{}", said.err);
    assert_eq!((said.code, rows(&sandbox, "out")), (Some(0), 3));
}

/// Checks that the tags of a page are closed in the reverse order of opening.
fn balanced(html: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html.strip_prefix("<!DOCTYPE html>").expect("a document type");
    while let Some(at) = rest.find('<') {
        let end = at + rest[at..].find('>').expect("a tag ends");
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        let name = tag.split([' ', '\n', '/']).find(|word| !word.is_empty()).unwrap_or_default();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "in front of {}", &rest[..rest.len().min(80)]);
        } else if !tag.ends_with('/') && name != "meta" {
            open.push(name);
        }
        // What is between these is no HTML.
        if ["style", "script"].contains(&name) && !tag.starts_with('/') {
            rest = &rest[rest.find(&format!("</{name}>")).expect("it ends")..];
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_report_of_two_sweeps_shows_every_series_and_needs_nothing_else() {
    let sandbox = sandbox(&GRID.replace("cycles = 6000", "cycles = 500\nseed = [1, 2, 3]"));
    swept(&sandbox, "-o first");
    sandbox.file(
        "other.toml",
        &fs::read_to_string(sandbox.path("grid.toml")).unwrap().replace("\"tornado\"", "\"neighbour\""),
    );
    assert_eq!(sandbox.run("sweep other.toml --skip-illegal -o second").code, Some(0));
    let said = sandbox.run("report first second --where mesh=3x2 -o report --json");
    assert_eq!(said.code, Some(0), "{}", said.err);
    let html = fs::read_to_string(sandbox.path("report/report.html")).unwrap();
    balanced(&html);
    for series in ["sweep grid", "sweep other", "pattern tornado", "noc.vc_depth 8"] {
        assert!(html.contains(series), "{series}");
    }
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        let found = html.replace("http://www.w3.org/2000/svg", "").contains(outside);
        assert!(!found, "{outside}");
    }
    let value: Value = serde_json::from_str(&said.out).unwrap();
    let points = value["points"].as_array().unwrap();
    assert_eq!(points.len(), 2 * 2 * 3 * 3);
    assert!(points.iter().all(|point| point["y"][0]["n"] == 3 && point["y"][0]["half"].as_f64() > Some(0.0)));
    let listed: Vec<PathBuf> =
        fs::read_dir(sandbox.path("report")).unwrap().map(|e| e.unwrap().path()).collect();
    let count =
        |extension: &str| listed.iter().filter(|p| p.extension().is_some_and(|e| e == extension)).count();
    assert!(count("svg") == count("png") && count("svg") >= 2, "{listed:?}");
}

#[test]
fn a_report_relates_rows_to_a_baseline_and_refuses_what_it_cannot_show() {
    let sandbox = sandbox(
        &GRID
            .replace("from = 0.1, to = 0.3, step = 0.1", "from = 0.3, to = 0.9, step = 0.3")
            .replace("cycles = 6000", "packet = 4\ncycles = 500"),
    );
    swept(&sandbox, "-o out");
    let said = sandbox.run("report out --where mesh=3x2 --baseline noc.vc_depth=2 --y latency_mean --json");
    let value: Value = serde_json::from_str(&said.out).expect(&said.err);
    let by = value["by"].as_array().unwrap().iter().position(|key| key == "noc.vc_depth").unwrap();
    let of = |depth: u32| -> Vec<f64> {
        let points = value["points"].as_array().unwrap().iter().filter(|point| point["series"][by] == depth);
        points.map(|point| point["y"][0]["mean"].as_f64().unwrap()).collect()
    };
    assert_eq!(of(2), vec![1.0; 6]);
    assert!(of(8).iter().all(|ratio| *ratio <= 1.0) && of(8).iter().any(|ratio| *ratio < 1.0), "{:?}", of(8));
    for (line, says) in [
        (
            "--y latency",
            "latency is no number that was measured of these rows\n  help: there are latency_mean",
        ),
        ("--x lod", "lod is no label"),
        ("--where pattern=mixed", "no row has pattern = mixed\n  help: it is uniform, tornado"),
        ("--by pattern", "differ in mesh, and must not be averaged"),
        ("--baseline pattern=x", "no row has pattern = x"),
    ] {
        refused(&sandbox.run(&format!("report out {line}")), &[says]);
    }
    refused(&sandbox.run("report tmp"), &["tmp is not a folder of `meshkv sweep`"]);
}

/// Sweeps a grid with both engines, and expects each row twice, but for its id and engine.
fn engines_agree(sandbox: &Sandbox, dir: &str) -> Vec<Value> {
    swept(sandbox, &format!("-o {dir} --jobs 2"));
    let text = fs::read_to_string(sandbox.path(dir).join("rows.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in &rows {
        let mut rest = row.clone();
        rest["id"] = Value::Null;
        let engine = rest["engine"].take();
        seen.entry(rest.to_string()).or_default().push(engine.to_string());
    }
    assert!(seen.values().all(|engines| *engines == ["\"model\"", "\"rtl\""]), "{seen:?}");
    rows
}

#[test]
fn traffic_is_swept_on_the_verilog_with_the_rows_of_the_model() {
    let sandbox = Sandbox::with_fabric();
    sandbox.file(
        "grid.toml",
        "base = \"small.toml\"\n[workload]\nkind = \"traffic\"\nengine = [\"model\", \"rtl\"]\n\
         pattern = [\"uniform\", \"mixed\"]\nfanout = 2\nload = [0.1, 0.8]\ncycles = 1000\n",
    );
    assert_eq!(engines_agree(&sandbox, "out").len(), 8);
}

#[test]
fn decode_steps_are_swept_on_the_model_as_the_verilog_runs_them() {
    let sandbox = Sandbox::with_fabric();
    sandbox.file(
        "grid.toml",
        "base = \"small.toml\"\n[workload]\nkind = \"decode\"\nengine = [\"model\", \"rtl\"]\ntokens = 128\n\
         batch = [1, 2]\nmapping = [\"row-aligned\", \"head-tile\"]\nunruly_memory = [false, true]\n",
    );
    let rows = engines_agree(&sandbox, "out");
    let cycles = [("", false), (" --unruly-memory", true)].map(|(option, unruly)| {
        let decode = sandbox.run(&format!("decode small.toml --tokens 128{option} --json"));
        let decode: Value = serde_json::from_str(&decode.out).expect(&decode.err);
        let aligned = |row: &&Value| row["batch"] == 1 && row["mapping"] == "row-aligned";
        let row = rows.iter().filter(aligned).find(|row| row["unruly_memory"] == unruly).unwrap();
        assert_eq!(
            (&row["sample_traffic"], &row["sample_cycles"]),
            (&decode["traffic"], &decode["cycles"]),
            "{unruly}"
        );
        decode["cycles"].as_u64().unwrap()
    });
    assert_ne!(cycles[0], cycles[1]);
    let report = sandbox.run("report out --where engine=model --baseline batch=1");
    assert_eq!(report.code, Some(0), "{}", report.err);
    assert!(sandbox.path("out/report/report.html").exists());
}

#[test]
fn the_reference_has_every_key_and_the_examples_are_legal() {
    let docs = fs::read_to_string("docs/sweeps.md").unwrap();
    for kind in [WorkKind::Traffic, WorkKind::Decode] {
        for key in workload_keys(kind) {
            assert!(docs.contains(&format!("`{}", key.name)), "{} is not in docs/sweeps.md", key.name);
        }
    }
    let sandbox = Sandbox::new();
    for entry in fs::read_dir("sweeps").unwrap() {
        let path = fs::canonicalize(entry.unwrap().path()).unwrap();
        let said = sandbox.run(&format!("sweep {} --dry-run", path.display()));
        assert_eq!(said.code, Some(0), "{}", said.err);
    }
}
