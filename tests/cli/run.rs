//! The command line of `meshkv run`: exit codes, messages, written files, and the keys of its JSON.

use crate::support::sandbox::LEAST;
use crate::support::verilated;
use crate::support::waves::headings;
use assert_cmd::Command;
use half::f16;
use meshkv::model::datapath::reference::exact;
use meshkv::model::datapath::tensors::{synthetic, Logits, Synthetic, Tensors};
use safetensors::tensor::{Dtype, TensorView};
use safetensors::SafeTensors;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Runs `meshkv run`.
fn meshkv_run(config: &str, line: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::cargo_bin("meshkv")
        .expect("the binary is built")
        .env("MESHKV_CACHE", verilated::cache())
        .args(["run", config])
        .args(line)
        .output()
        .expect("the binary runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The same for one line, configuration first.
pub(super) fn typed(line: &str) -> (Option<i32>, String, String) {
    let words: Vec<_> = line.split_whitespace().collect();
    meshkv_run(words[0], &words[1..])
}

pub(super) fn json(line: &str) -> Value {
    let (code, out, err) = typed(&format!("{line} --json"));
    assert_eq!(code, Some(0), "{err}");
    let mut value: Value = serde_json::from_str(&out).expect("one JSON object");
    // What differs from run to run.
    assert!(value.as_object_mut().and_then(|keys| keys.remove("wall")).is_some());
    value
}

const TINY: &str = "configs/tiny.toml";
const EXAMPLE: &str = "examples/minilm.safetensors";

#[test]
fn the_readmes_job_gives_attention_files_and_figures() {
    let dir = tempfile::tempdir().unwrap();
    let (pictures, outputs) = (dir.path().join("out"), dir.path().join("attention.safetensors"));
    let line = ["--tensors", EXAMPLE, "--fit", "--query", "7", "--json"];
    let files = ["--plot", pictures.to_str().unwrap(), "--output", outputs.to_str().unwrap()];
    let (code, out, err) = meshkv_run("configs/minilm.toml", &[&line[..], &files].concat());
    assert_eq!(code, Some(0), "{err}");
    let value: Value = serde_json::from_str(&out).expect("one JSON object");
    for key in ["cycles", "mac_utilisation", "bound_by", "stages", "command", "over_bound"] {
        assert!(!value[key].is_null(), "{key}");
    }
    assert_eq!(
        (&value["bit_exact"], &value["heads"], &value["tokens"]),
        (&true.into(), &12.into(), &250.into())
    );
    let number = |key: &str| value[key].as_f64().unwrap();
    assert!(number("max_abs_error") <= number("fa2_max_abs_error"), "{out}");
    assert!(number("rms_error") <= number("fa2_rms_error"), "{out}");
    assert_eq!((&value["heads_within_fa2"], &value["heads_fa2_not_finite"]), (&12.into(), &0.into()));
    for picture in ["timeline.svg", "timeline.png"] {
        assert!(fs::metadata(pictures.join(picture)).unwrap().len() > 10_000, "{picture}");
    }
    // What was written is what was said, and is attention.
    let bytes = fs::read(&outputs).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let view = file.tensor("attention").unwrap();
    assert_eq!((view.dtype(), view.shape()), (Dtype::F16, &[12, 1, 32][..]));
    let tensors = Tensors::read(EXAMPLE.as_ref(), 0).unwrap();
    let written: Vec<u16> = view.data().chunks(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
    for head in 0..12 {
        let right = exact(tensors.query(head, 7), tensors.keys(head), tensors.values(head));
        for (bits, right) in written[head * 32..].iter().zip(right) {
            let error = (f16::from_bits(*bits).to_f64() - right).abs();
            assert!(error <= number("max_abs_error"), "head {head}: {error}");
        }
    }
}

#[test]
fn prose_says_what_was_compared_and_what_bounds_the_run() {
    let (code, out, err) = meshkv_run(TINY, &["--tokens", "30", "--logits", "peaky", "--batch", "2"]);
    assert_eq!(code, Some(0), "{err}");
    for words in [
        "2 streams",
        "every bit: 384 numbers",
        "m, l and o of every head equal it too",
        "FlashAttention-2",
        "starved",
        "Bound by",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
}

/// Heads of 80, 96 and 160 elements, as some models have: filled up by hand with zeros they have the scale of a row, which
/// moves outputs by 0.1 and more.
#[test]
fn heads_that_fill_no_row_are_filled_up_and_keep_their_scale() {
    let dir = tempfile::tempdir().unwrap();
    let (input, output) = (dir.path().join("in.safetensors"), dir.path().join("out.safetensors"));
    for (dim, row) in [(80, 128), (96, 128), (160, 256), (20, 32)] {
        let (shape, parts) = synthetic(&Synthetic {
            seed: dim as u64,
            heads: 4,
            kv_heads: 2,
            positions: 2,
            tokens: 20,
            head_dim: dim,
            logits: Logits::Normal,
        })
        .into_parts();
        let bytes = parts.each_ref().map(|all| all.iter().flat_map(|b| b.to_le_bytes()).collect::<Vec<_>>());
        let tensors = Tensors::new(shape, parts);
        let view = |shape: [usize; 3], bytes| TensorView::new(Dtype::F16, shape.to_vec(), bytes).unwrap();
        let kv = [2, 20, dim];
        let all =
            NAMES.into_iter().zip([view([4, 2, dim], &bytes[0]), view(kv, &bytes[1]), view(kv, &bytes[2])]);
        fs::write(&input, safetensors::serialize(all, None).unwrap()).unwrap();
        let line = format!("{TINY} --tensors {} --fit --engine model --output", input.display());
        let (code, out, err) = typed(&format!("{line} {}", output.display()));
        assert_eq!(code, Some(0), "{out}{err}");
        let says = format!("rows of {dim} elements are filled up with zeros to {row}; the scale of logits stays 1 / sqrt({dim})");
        assert!(err.contains(&says) && out.contains(&format!("4 heads of {dim},")), "{out}{err}");
        let bytes = fs::read(&output).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let view = file.tensor("attention").unwrap();
        assert_eq!(view.shape(), [4, 1, dim]);
        let written: Vec<u16> = view.data().chunks(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
        for head in 0..4 {
            let right = exact(tensors.query(head, 0), tensors.keys(head), tensors.values(head));
            for (bits, right) in written[head * dim..].iter().zip(right) {
                // FP16 rounds numbers below 4 by 2^-10 at most.
                let error = (f16::from_bits(*bits).to_f64() - right).abs();
                assert!(error <= 1.1 / 1024.0, "{dim} elements, head {head}: {error}");
            }
        }
    }
}

/// A file of tensors of six heads of `dim`, changed.
fn file(dir: &Path, dtype: Dtype, dim: usize, names: [&str; 3], value: u16) -> PathBuf {
    let bytes: Vec<u8> = vec![value; 6 * 9 * dim].into_iter().flat_map(u16::to_le_bytes).collect();
    let view = |heads: usize| {
        let shape = vec![heads, 9, dim];
        let length: usize = shape.iter().product::<usize>() * 2;
        TensorView::new(dtype, shape, &bytes[..length]).unwrap()
    };
    let all = [(names[0], view(6)), (names[1], view(3)), (names[2], view(3))];
    let path = dir.join("t.safetensors");
    fs::write(&path, safetensors::serialize(all, None).unwrap()).unwrap();
    path
}

const NAMES: [&str; 3] = ["layers.0.q", "layers.0.k", "layers.0.v"];

#[test]
fn a_logit_beyond_the_range_fails_and_names_head_and_token() {
    let dir = tempfile::tempdir().unwrap();
    let tokens = 9;
    let path = dir.path().join("t.safetensors");
    let run = |large: &[usize], more: &str| {
        // Of the second KV head, which query heads 2 and 3 attend with. 32 products of 2^15 and 2^15 are 2^35.
        let key = |at: usize| if large.contains(&at) { 0x7800_u16 } else { 0x3c00 };
        let keys = (0..3 * tokens).flat_map(|at| vec![key(at); 32]);
        let bytes = |all: Vec<u16>| all.into_iter().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        let (q, k, v) =
            (bytes(vec![0x7800; 6 * 32]), bytes(keys.collect()), bytes(vec![0x3c00; 3 * tokens * 32]));
        let view = |shape: [usize; 3], bytes| TensorView::new(Dtype::F16, shape.to_vec(), bytes).unwrap();
        let kv = [3, tokens, 32];
        let all = [(NAMES[0], view([6, 1, 32], &q)), (NAMES[1], view(kv, &k)), (NAMES[2], view(kv, &v))];
        fs::write(&path, safetensors::serialize(all, None).unwrap()).unwrap();
        typed(&format!("{TINY} --tensors {} --engine model {more}", path.display()))
    };
    for more in ["", "--device"] {
        let (code, out, err) = run(&[], more);
        assert_eq!(code, Some(0), "2^20 is within the range: {out}{err}");
        let (code, out, err) = run(&[tokens + 4, tokens + 7], more);
        assert_eq!(code, Some(1), "{out}{err}");
        for head in [2, 3] {
            let says = format!("ERROR: head {head}, stream 0: q.k of token 4 is beyond 2^31 and saturates");
            assert!(out.contains(&says), "no `{says}` in {out}");
        }
        assert_eq!(out.matches("ERROR").count(), 2, "{out}");
    }
}

/// Values next to the largest of FP16, with weights that FlashAttention-2 rounds up when it multiplies and not when it
/// adds them up: its outputs overflow, and ours do not.
#[test]
fn a_head_in_which_flash_attention_overflows_is_counted_apart() {
    let dir = tempfile::tempdir().unwrap();
    let tokens = 9;
    let row = |first: u16| [vec![first], vec![0; 31]].concat();
    // 2 and -1.958984375: a weight of 0.50027 for all tokens but the first.
    let query: Vec<u16> = row(0x4000);
    let keys: Vec<u16> = (0..tokens).flat_map(|token| row(if token == 0 { 0 } else { 0xbfd6 })).collect();
    let values = |bits: u16| vec![bits; tokens * 32];
    let bytes = |all: Vec<u16>| all.into_iter().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    let (q, k) = (bytes(query.repeat(6)), bytes(keys.repeat(3)));
    // The first KV head, of two of the six heads, has 65504, the others 1.
    let v = bytes([values(0x7bff), values(0x3c00), values(0x3c00)].concat());
    let view = |shape: [usize; 3], bytes| TensorView::new(Dtype::F16, shape.to_vec(), bytes).unwrap();
    let all = [
        (NAMES[0], view([6, 1, 32], &q)),
        (NAMES[1], view([3, tokens, 32], &k)),
        (NAMES[2], view([3, tokens, 32], &v)),
    ];
    let path = dir.path().join("t.safetensors");
    fs::write(&path, safetensors::serialize(all, None).unwrap()).unwrap();
    let line = format!("{TINY} --tensors {} --engine model", path.display());
    let value = json(&line);
    assert!(value["max_abs_error"].is_number() && value["fa2_max_abs_error"].is_null(), "{value}");
    assert_eq!((&value["heads_within_fa2"], &value["heads_fa2_not_finite"]), (&4.into(), &2.into()));
    let (code, out, _) = typed(&line);
    assert_eq!(code, Some(0));
    for words in ["FlashAttention-2's: 4 of 6", "gives an infinity or a NaN: 2"] {
        assert!(out.contains(words), "{words}: {out}");
    }
}

#[test]
fn bad_tensors_are_named_with_the_rule_and_the_way_out() {
    let dir = tempfile::tempdir().unwrap();
    let says = |path: &Path, more: &[&str], words: &[&str]| {
        let (code, _, err) = meshkv_run(TINY, &[&["--tensors", path.to_str().unwrap()][..], more].concat());
        assert_eq!(code, Some(2), "{err}");
        for words in words {
            assert!(err.contains(words), "{words}: {err}");
        }
    };
    let dir = dir.path();
    says(&dir.join("none"), &[], &["none", "cannot read it"]);
    let good = file(dir, Dtype::F16, 32, NAMES, 0x3c00);
    says(&good, &["--layer", "4"], &["no tensor layers.4.q", "the file has layers 0 to 0"]);
    says(&good, &["--query", "9"], &["query 9", "queries 0 to 8", "help:"]);
    let bytes = fs::read(&good).unwrap();
    fs::write(dir.join("cut"), &bytes[..bytes.len() - 100]).unwrap();
    says(&dir.join("cut"), &[], &["cut", "is the download complete?"]);
    says(&file(dir, Dtype::I16, 32, NAMES, 0), &[], &["layers.0.q is I16", "BF16", "`tensor.half()`"]);
    says(&file(dir, Dtype::F16, 32, NAMES, 0x7e00), &[], &["layers.0.q[0, 0, 0] is NaN"]);
    says(&file(dir, Dtype::F16, 32, ["a", "b", "c"], 0), &[], &["no tensor layers.0.q"]);
    let narrow = file(dir, Dtype::F16, 64, NAMES, 0);
    says(&narrow, &[], &["elements of a head = 64", "the configuration 32", "--fit", "pe.head_dim = 64"]);
    let odd = file(dir, Dtype::F16, 80, NAMES, 0);
    says(&odd, &[], &["elements of a head = 80", "--fit", "model.head_dim = 80"]);
    let wide = file(dir, Dtype::F16, 288, NAMES, 0);
    says(&wide, &["--fit"], &["heads of 288 elements, and a row of the largest design has 256"]);
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_is_built() {
    for (line, words) in [
        (&["--tokens", "0"][..], "--tokens is 0"),
        (&["--tokens", "257"], "model.max_tokens"),
        (&["--batch", "3", "--tokens", "9"], "model.max_streams"),
        (&["--fit"], "--tensors"),
        (&["--output", "/nowhere/x"], "/nowhere/x"),
        (&["--engine", "model", "--jitter", "5", "--tokens", "9"], "leave --jitter out"),
        (&["--timing"], "add --engine model"),
        (&["--engine", "model", "--lockstep"], "--lockstep"),
        (&["--engine", "model", "--timing", "--output", "x"], "--output"),
        (&["--engine", "model", "--wave", "/tmp/x.fst", "--tokens", "9"], "add --engine rtl"),
    ] {
        let (code, out, err) = meshkv_run(TINY, line);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{line:?}: {err}");
        assert!(err.contains(words), "{line:?}: {err}");
    }
}

/// The tiny configuration with other clocks.
fn config(dir: &tempfile::TempDir, clock: &str) -> String {
    let path = dir.path().join("clocks.toml");
    fs::write(&path, fs::read_to_string("configs/tiny.toml").unwrap() + "\n[clock]\n" + clock).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn waves_are_of_the_same_run() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.fst");
    let config = dir.path().join("least.toml");
    fs::write(&config, LEAST).unwrap();
    let line = format!("{} --tokens 8", config.display());
    let waved = json(&format!("{line} --wave {} --wave-depth 2", file.display()));
    assert_eq!(waved, json(&line));
    let bytes = fs::read(&file).unwrap();
    // The first block is the header, of 329 bytes; the last of it holds the exponent of the unit of time.
    assert_eq!((bytes[0], &bytes[1..9]), (0, &329_u64.to_be_bytes()[..]));
    let end = u64::from_be_bytes(bytes[17..25].try_into().unwrap());
    assert!(end > waved["cycles"].as_u64().unwrap() * 4000, "{end} ps");
    assert!(bytes.len() > 10_000, "{} bytes", bytes.len());
    // Two levels of the hierarchy have the controllers; the rest is not in the file, and in no view.
    let headings = headings(&file);
    assert!(headings.contains(&"clocks".to_owned()), "{headings:?}");
}

#[test]
fn clocks_of_the_configuration_are_run_and_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = config(&dir, "noc_mhz = 250.0\npe_mhz = 300.0\n");
    let (code, out, err) = typed(&format!("{file} --tokens 8 --jitter 5"));
    assert_eq!(code, Some(0), "{err}");
    for says in ["Two clocks: network 250 MHz, PEs 300 MHz", "up to 5 %", "PE cycles in which K flits pass"] {
        assert!(out.contains(says), "no `{says}` in\n{out}");
    }
    let value = json(&format!("{file} --tokens 8 --jitter 5"));
    assert_eq!(
        (&value["bit_exact"], &value["pe_mhz"], &value["jitter_percent"]),
        (&true.into(), &300.0.into(), &5.into())
    );
    assert!(value["command"].as_str().unwrap().ends_with("--jitter 5"));
    let (_, out, _) = typed("configs/tiny.toml --tokens 8");
    assert!(out.contains("One clock of 250 MHz") && !out.contains("PE cycles in"), "{out}");
}

#[test]
fn waves_that_cannot_be_written_are_refused_at_once() {
    let (code, _, err) = typed("configs/tiny.toml --wave /proc/x.fst");
    assert_eq!(code, Some(2));
    assert!(err.contains("--wave needs a file that can be written"), "{err}");
}

/// The JSON of a run without the engine and the command that repeats it.
pub(super) fn said(line: &str) -> Value {
    let mut value = json(line);
    let engine = value.as_object_mut().unwrap().remove("engine").unwrap();
    // The model alone counts rare states.
    value.as_object_mut().unwrap().remove("rare");
    let lockstep = if line.contains("--lockstep") { "lockstep" } else { "rtl" };
    assert_eq!(engine, if line.contains("--engine model") { "model" } else { lockstep }, "{line}");
    let command = value.as_object_mut().unwrap().remove("command").unwrap();
    let command = command.as_str().unwrap().strip_prefix("meshkv run ").unwrap().to_owned();
    for word in line.split_whitespace() {
        assert!(command.split_whitespace().any(|said| said == word), "no `{word}` in {command}");
    }
    value
}

#[test]
fn the_model_says_what_the_verilog_says() {
    let dir = tempfile::tempdir().unwrap();
    let clocks = config(&dir, "noc_mhz = 250.0\npe_mhz = 300.0\n");
    for line in [
        "configs/tiny.toml --tokens 30 --batch 2 --mapping stream-striped --stall 100".to_owned(),
        "configs/tiny.toml --tokens 41 --logits peaky --sharing segment --unruly-memory --seed 4".to_owned(),
        format!("{clocks} --tokens 30"),
    ] {
        let model = said(&format!("{line} --engine model"));
        assert_eq!(model, said(&line), "{line}");
        assert_eq!(model, said(&format!("{line} --lockstep")), "{line}");
        assert_eq!(model["bit_exact"], true, "{line}");
    }
}

#[test]
fn timing_alone_is_the_same_and_says_nothing_of_numbers() {
    let line = "configs/tiny.toml --tokens 30 --batch 2 --engine model";
    let (all, timing) = (said(line), said(&format!("{line} --timing")));
    for (key, value) in all.as_object().unwrap() {
        match key.as_str() {
            "outputs" => assert_eq!(timing[key], 0),
            "bit_exact" | "differing_sums" | "heads_within_fa2" | "heads_fa2_not_finite" => {
                assert!(timing[key].is_null(), "{key}");
            }
            _ if key.ends_with("_error") => assert!(timing[key].is_null(), "{key}"),
            _ => assert_eq!(&timing[key], value, "{key}"),
        }
    }
    let (code, out, _) = typed(&format!("{line} --timing"));
    assert!(code == Some(0) && out.contains("Cycles only: no number was computed."), "{out}");
}

#[test]
fn cards_that_share_the_tokens_merge_to_the_one_run() {
    for engine in ["rtl", "model"] {
        let value = json(&format!("{TINY} --tokens 60 --batch 2 --partials 3 --engine {engine}"));
        let merged = &value["partials"];
        assert_eq!((&merged["bit_exact"], &merged["within_bound"]), (&true.into(), &true.into()), "{merged}");
        let runs = merged["runs"].as_array().unwrap();
        let tokens: Vec<_> = runs
            .iter()
            .map(|run| (run["first"].as_u64().unwrap(), run["tokens"].as_u64().unwrap()))
            .collect();
        assert_eq!(tokens, [(0, 20), (20, 20), (40, 20)]);
        let number = |of: &Value, key: &str| of[key].as_f64().unwrap();
        let most = number(merged, "max_abs_error");
        assert!(most > 0.0 && most <= number(merged, "bound"), "{merged}");
        assert!(number(merged, "bound") >= number(&value, "max_abs_error"), "{value}");
        assert!(value["command"].as_str().unwrap().contains("--partials 3"));
    }
    let (code, out, err) = typed(&format!("{TINY} --tokens 9 --partials 2 --engine model"));
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("Merged from 2 runs over tokens 0 to 3, 4 to 8: m, l and o equal"), "{out}");
    assert!(json(&format!("{TINY} --tokens 8 --engine model"))["partials"].is_null());
}

#[test]
fn cards_without_a_token_are_refused() {
    let (code, _, err) = typed(&format!("{TINY} --tokens 8 --partials 9 --engine model"));
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("--partials is 9, and there are 8 tokens") && err.contains("at most 8"), "{err}");
    for line in ["--partials 1", "--partials 2 --timing --engine model"] {
        let (code, _, err) = typed(&format!("{TINY} --tokens 8 {line}"));
        assert_eq!(code, Some(2), "{line}: {err}");
    }
}

#[test]
fn streams_of_different_lengths_run_on_the_verilog_the_model_and_the_device() {
    let line = "configs/tiny.toml --lengths 17,64 --seed 3";
    let model = said(&format!("{line} --engine model"));
    assert_eq!(model, said(line));
    for (key, value) in [
        ("bit_exact", Value::from(true)),
        ("lengths", vec![17, 64].into()),
        ("streams", 2.into()),
        ("tokens", 64.into()),
        ("outputs", (2 * 6 * 32).into()),
        ("heads_within_fa2", 6.into()),
    ] {
        assert_eq!(model[key], value, "{key}");
    }
    let device = said(&format!("{line} --device --engine model"));
    assert_eq!((&device["bit_exact"], &device["lengths"]), (&true.into(), &model["lengths"]));
    assert!(json("configs/tiny.toml --tokens 8 --engine model")["lengths"].is_null());
    let (_, out, _) = typed(&format!("{line} --engine model"));
    assert!(
        out.starts_with("Attention of 6 heads of 32, 17 + 64 tokens, 2 streams, on 3 x 2 tiles\n"),
        "{out}"
    );
}

#[test]
fn streams_take_their_tokens_from_a_file_one_behind_the_other() {
    let line = format!("configs/minilm.toml --tensors {EXAMPLE} --fit --engine model --lengths");
    let value = json(&format!("{line} 100,1,149"));
    assert_eq!((&value["bit_exact"], &value["streams"]), (&true.into(), &3.into()));
    let (code, _, err) = typed(&format!("{line} 100,151"));
    assert_eq!(code, Some(2));
    let words = "the streams of --lengths have 251 tokens together, and the tensors have 250";
    assert!(err.contains(words), "{err}");
}

#[test]
fn lengths_that_are_none_are_refused_by_the_stream() {
    for (line, words) in [
        ("--lengths 17,0", "stream 1 of --lengths has 0 tokens, and must have 1 to 256"),
        ("--lengths 4000000000", "stream 0 of --lengths has 4000000000 tokens, and must have 1 to 256"),
        ("--lengths 1,2,3", "--lengths has 3 streams, and must have 1 to 2"),
        ("--lengths 17,,3", "invalid value '' for '--lengths <TOKENS,...>'"),
        ("--lengths 17 --batch 2", "cannot be used with"),
        ("--lengths 17 --tokens 20", "cannot be used with"),
    ] {
        let (code, _, err) = typed(&format!("configs/tiny.toml --engine model {line}"));
        assert_eq!(code, Some(2), "{line}");
        assert!(err.contains(words), "{line}: {err}");
    }
}
