//! Whatever is in a file, the program answers: no panic, no wait, no message longer than a screen.
//!
//! A run of the tests tries some hundred files; `make fuzz` tries them for as long as FUZZ says, in seconds. A file
//! that is answered wrongly is kept below target/fuzz/.

use crate::support::sandbox::{said, Said, Sandbox};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Rows of a screen of 100 columns; the line that names further problems included.
const SCREEN: usize = 50;
/// Time to an answer. A machine that runs other tests needs more than the second it takes alone.
const PATIENCE: Duration = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 5 });
/// Files of each kind in a run of the tests.
const FEW: u64 = 60;

/// Words that mean something in one of the files, or should not.
const WORDS: [&str; 46] = [
    "[mesh]",
    "[noc]",
    "[[points]]",
    "[workload]",
    "[grid]",
    "grid.noc.vc_depth",
    "base",
    "kind = \"decode\"",
    "\"traffic\"",
    "from",
    "to",
    "step",
    "= {",
    "}",
    "[",
    "]",
    "\"",
    "'''",
    "\"\"\"",
    "=",
    ",",
    ".",
    "#",
    "\n",
    "\r\n",
    "\t",
    "\0",
    "\u{1b}[31m",
    "\u{feff}",
    "ß",
    "💥",
    "-1",
    "0",
    "1e308",
    "nan",
    "-inf",
    "18446744073709551616",
    "9223372036854775807",
    "2147483648",
    "0x7f",
    "1_000",
    "true",
    "KV_DATA",
    "PART",
    "F16",
    "null",
];

/// A kind of file: names of files to damage, and the command that reads one.
struct Kind {
    name: &'static str,
    seeds: Vec<Vec<u8>>,
    file: &'static str,
    command: &'static str,
}

fn files(folder: &str, extension: &str) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a file")).collect()
}

fn kinds() -> Vec<Kind> {
    let trace = b"cycle,source,destinations,class,flits,tag\n0,0,3,PART,4,\n12,3,1;2,KV_DATA,2,77\n".to_vec();
    let lines =
        b"{\"cycle\": 0, \"source\": 0, \"destinations\": [3], \"class\": \"PART\", \"flits\": 4}\n".to_vec();
    // The folder has one configuration.
    let sweeps = files("sweeps", "toml").into_iter().map(|bytes| {
        let text = String::from_utf8(bytes).expect("UTF-8");
        let (before, after) = text.split_once("base = \"").expect("it has a base");
        let (_, after) = after.split_once('"').expect("a string ends");
        format!("{before}base = \"small.toml\"{after}").into_bytes()
    });
    let sweeps = sweeps.collect();
    vec![
        Kind {
            name: "configuration",
            seeds: files("configs", "toml"),
            file: "f.toml",
            command: "check f.toml",
        },
        Kind { name: "sweep", seeds: sweeps, file: "f.toml", command: "sweep f.toml --dry-run -o out" },
        Kind {
            name: "trace",
            seeds: vec![trace, lines],
            file: "f.csv",
            command: "sim small.toml --trace f.csv",
        },
        Kind {
            name: "tensors",
            seeds: vec![tensors()],
            file: "f.safetensors",
            command: "sim run small.toml --tensors f.safetensors --fit",
        },
        Kind {
            name: "energies",
            seeds: files("energy", "toml"),
            file: "f.toml",
            command: "decode small.toml --engine model --tokens 4 --energy f.toml",
        },
    ]
}

/// One layer of two heads, four tokens.
fn tensors() -> Vec<u8> {
    use safetensors::tensor::{Dtype, TensorView};
    let bytes: Vec<u8> =
        (0..2 * 4 * 32_u32).flat_map(|i| half::f16::from_f32(i as f32 / 99.0).to_le_bytes()).collect();
    let views = ["q", "k", "v"].map(|part| {
        let view =
            TensorView::new(Dtype::F16, vec![2, 4, 32], &bytes).expect("the bytes are those of the shape");
        (format!("layers.0.{part}"), view)
    });
    safetensors::serialize(views, None).expect("tensors")
}

/// Damages a file in one to four ways.
fn damage(bytes: &mut Vec<u8>, random: &mut Pcg64) {
    for _ in 0..random.random_range(1..=4) {
        let at = random.random_range(0..=bytes.len());
        let end = (at + random.random_range(0..40)).min(bytes.len());
        let word = WORDS[random.random_range(0..WORDS.len())].as_bytes();
        match random.random_range(0..9) {
            0 => drop(bytes.drain(at..end)),
            1 => drop(bytes.splice(at..at, word.iter().copied())),
            2 => drop(bytes.splice(at..end, word.iter().copied())),
            3 => bytes.truncate(at),
            4 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.random();
                }
            }
            // A number becomes another.
            5 | 6 => {
                let digit = bytes[at..].iter().position(u8::is_ascii_digit).map(|from| at + from);
                if let Some(from) = digit {
                    let digits = bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                    drop(bytes.splice(from..from + digits, word.iter().copied()));
                }
            }
            // A part stands twice, or very often.
            7 => {
                let part = bytes[at..end].to_vec();
                drop(bytes.splice(at..at, part));
            }
            _ => {
                let part = bytes[at..end].repeat(random.random_range(2..2000));
                drop(bytes.splice(at..at, part));
            }
        }
    }
}

/// What is wrong with an answer.
fn fault(answer: &Said, took: Duration) -> Option<String> {
    let rows = |text: &str| text.lines().map(|line| line.chars().count().div_ceil(100).max(1)).sum::<usize>();
    let told = rows(&answer.err);
    if !matches!(answer.code, Some(0..=2)) {
        return Some(format!("exit code {:?}", answer.code));
    }
    if answer.err.contains("panicked") {
        return Some("a panic".to_owned());
    }
    if answer.code == Some(2) && answer.err.trim().is_empty() {
        return Some("an error without a word".to_owned());
    }
    if told > SCREEN {
        return Some(format!("{told} rows on standard error"));
    }
    (took > PATIENCE).then(|| format!("an answer after {took:?}"))
}

/// Keeps a file for a person to look at.
fn keep(kind: &Kind, seed: u64, bytes: &[u8]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("fuzz");
    fs::create_dir_all(&folder).expect("target is writable");
    let path = folder.join(format!("{}-{seed}-{}", kind.name, kind.file));
    fs::write(&path, bytes).expect("target is writable");
    path
}

#[test]
fn every_damaged_file_is_answered_at_once_in_a_few_words() {
    let seconds = std::env::var("MESHKV_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let sandbox = Sandbox::new();
    sandbox.file("small.toml", crate::support::sandbox::LEAST);
    let kinds = kinds();
    let mut faults = Vec::new();
    let mut seed = 0;
    let mut slowest = Duration::ZERO;
    while end.map_or(seed < FEW, |end| Instant::now() < end) {
        for kind in &kinds {
            let mut random = Pcg64::seed_from_u64(seed);
            let mut bytes = kind.seeds[random.random_range(0..kind.seeds.len())].clone();
            damage(&mut bytes, &mut random);
            fs::write(sandbox.path(kind.file), &bytes).expect("the folder is writable");
            let begun = Instant::now();
            // A run that does not end is one.
            let mut command = Command::new("timeout");
            let of = sandbox.meshkv(kind.command);
            command.args(["-s", "KILL", "60"]).arg(of.get_program()).args(of.get_args());
            command.current_dir(sandbox.path(".")).env("MESHKV_CACHE", &sandbox.cache);
            let answer = said(&mut command);
            let took = begun.elapsed();
            if took > slowest {
                slowest = took;
                println!("slowest: {} after {took:?}", keep(kind, seed, &bytes).display());
            }
            if let Some(why) = fault(&answer, took) {
                faults.push(format!("{}: {}: {why}", keep(kind, seed, &bytes).display(), kind.command));
            }
        }
        seed += 1;
    }
    println!("{seed} files of each of {} kinds", kinds.len());
    assert!(faults.is_empty(), "{} wrong answers:\n{}", faults.len(), faults.join("\n"));
}
