//! What a call costs a host: the link, by its model, and the processor, by the host's library on a stand-in for the card.

use super::figure::{Figure, Goal};
use super::lengths::seed;
use super::pages::lengths;
use super::program::{file, json, meshkv, number};
use super::{at_least, at_most};
use anyhow::{ensure, Context, Result};
use meshkv::config::{Config, Preset};
use meshkv::tools::{find, CXX};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Tokens of a stream, and of a prompt.
const TOKENS: [u64; 2] = [4096, 32_768];
/// Streams of a batch, and the least and most of their tokens.
const BATCH: (usize, [u64; 2]) = (8, [64, TOKENS[0]]);
/// What a program has worked on between two calls: nothing, and more than caches hold.
const WORKED_MIB: [u64; 2] = [0, 64];
/// A host whose writes and reads take twice as long as those of `pcie3_x16`.
const FAR: &str = "pcie3_x16 with write_ns = 1000.0 and read_ns = 2000.0";
/// Bytes a second of the link, and a transfer's time beside them: `hosts/pcie3_x16.toml`.
const LINK: (f64, f64) = (12e9, 19e-6);
/// What the figures' commands are about.
const OF: &str = "of init --preset llama-3-8b with model.layers = 1, kv.page_count = 1024";

fn one_layer(tokens: u64, streams: u32) -> Config {
    let mut config = Preset::Llama3.config();
    (config.model.layers, config.model.max_tokens, config.model.max_streams) = (1, tokens as u32, streams);
    (config.kv.page_count, config.kv.caches) = (Some(1024), None);
    config
}

pub fn measure() -> Result<Vec<Figure>> {
    let dir = tempfile::tempdir()?;
    let dir = dir.path();
    let near = std::fs::read_to_string(format!("{}/hosts/pcie3_x16.toml", env!("CARGO_MANIFEST_DIR")))?;
    let mut far: toml::Table = toml::from_str(&near)?;
    let wire = far.get_mut("wire").and_then(toml::Value::as_table_mut).context("no wire")?;
    wire.insert("write_ns".to_owned(), 1000.0.into());
    wire.insert("read_ns".to_owned(), 2000.0.into());
    let far = file(dir, "far.toml", &toml::to_string(&far)?)?;

    let mut figures = Vec::new();
    let seed = seed()?;
    for streams in [1, BATCH.0] {
        let config = one_layer(TOKENS[0], streams as u32);
        let text = file(dir, "fabric.toml", &toml::to_string(&config)?)?;
        let library = Library::new(dir, &format!("host{streams}"), &text)?;
        let mut own = Vec::new();
        for worked in WORKED_MIB {
            for planned in ["planned", "unplanned"] {
                own.push((
                    worked,
                    planned,
                    number(&library.says(&["calls", &worked.to_string(), planned])?, "own_us")?,
                ));
            }
        }
        figures.push(of_processor(streams, &own));
        // As engines call: a step is planned before its layers are due.
        let planned = WORKED_MIB.map(|worked| {
            let of = own.iter().find(|one| (one.0, one.1) == (worked, "planned"));
            (worked, of.map_or(f64::NAN, |one| one.2))
        });
        let load = if streams == 1 {
            format!("--tokens {}", TOKENS[0])
        } else {
            format!("--lengths {}", lengths(seed, BATCH).join(","))
        };
        for (host, name, judged) in [("pcie3_x16", "pcie3_x16", true), (far.as_str(), FAR, false)] {
            let args = format!("{load} --device --engine model --timing --host-model");
            let row = json(&format!("run {text} {args} {host}"))?;
            let command = format!("meshkv run FILE {args} FILE, {OF}, max_streams = {streams}");
            figures.extend(of_call(&row["device"]["call"], (streams, name, judged), planned, &command)?);
        }
    }
    let text = file(dir, "long.toml", &toml::to_string(&one_layer(TOKENS[1], 1))?)?;
    figures.extend(of_prompt(&Library::new(dir, "prompt", &text)?.says(&["prompt"])?)?);
    Ok(figures)
}

fn of_processor(streams: usize, own: &[(u64, &str, f64)]) -> Figure {
    let value = own
        .iter()
        .map(|(worked, planned, us)| format!("{us:.1} us ({planned}, {worked} MiB worked on between)"));
    Figure {
        what: format!("`llama-3-8b`: a call of {streams} streams in the host's library, without the card (medians of 300)"),
        value: value.collect::<Vec<_>>().join("; "),
        goal: Goal::Stated,
        command: "make bench FIGURES=host".to_owned(),
    }
}

/// The parts of a call, and the share of the fabric's own rate that is left of 32 layers that are called so.
fn of_call(
    call: &Value,
    (streams, host, judged): (usize, &str, bool),
    own: [(u64, f64); 2],
    command: &str,
) -> Result<Vec<Figure>> {
    let (outside, total, run) =
        (number(call, "outside_kv_us")?, number(call, "total_us")?, number(call, "run_us")?);
    let figure = |what: String, value: String, goal: Goal| Figure {
        what: format!("`llama-3-8b`, {streams} streams, host {host}: {what}"),
        value,
        goal: if judged { goal } else { Goal::Stated },
        command: command.to_owned(),
    };
    let mut figures = Vec::new();
    for (worked, own) in own {
        let beside = format!("planned, {worked} MiB worked on between calls");
        figures.push(figure(
            format!("a layer outside the KV phase, {beside}"),
            format!(
                "{:.1} us, {outside:.1} by the link and the card, {own:.1} by the processor",
                outside + own
            ),
            at_most(outside + own, 10.0, "10 us"),
        ));
        let share = run / (total + own);
        let what = format!("the fabric's own rate, calls included, {beside}");
        figures.push(figure(what, format!("{share:.3}"), at_least(share, 0.80, "0.80")));
    }
    Ok(figures)
}

fn of_prompt(said: &Value) -> Result<Vec<Figure>> {
    let of = |key| number(said, key);
    let (bytes, transfers, convert, copy) =
        (of("bytes")?, of("transfers")?, of("convert_ms")?, of("copy_ms")?);
    let link = bytes / LINK.0;
    let ratio = (link + transfers * LINK.1) / link;
    let figure = |what: &str, value: String, goal: Goal| Figure {
        what: format!("`llama-3-8b`: a prompt of {} tokens, a layer: {what}", TOKENS[1]),
        value,
        goal,
        command: "make bench FIGURES=host".to_owned(),
    };
    Ok(vec![
        figure(
            "its transfers over its bytes at 12 GB/s",
            format!("{ratio:.3}: {transfers} transfers of {:.1} MB together", bytes / 1e6),
            at_most(ratio, 1.1, "1.1"),
        ),
        figure(
            "its conversion, which all cores do beside the transfers",
            format!(
                "{convert:.1} ms, {:.2} times a copy of its bytes by two threads here; the link takes {:.1} ms",
                convert / copy,
                link * 1e3
            ),
            at_most(convert / copy, 1.5, "1.5 copies"),
        ),
    ])
}

/// The program that times the library of a design.
struct Library {
    dir: PathBuf,
}

impl Library {
    fn new(dir: &Path, name: &str, config: &str) -> Result<Library> {
        let (root, dir) = (env!("CARGO_MANIFEST_DIR"), dir.join(name));
        let made = meshkv().args(["generate", config, "-q", "-o"]).arg(&dir).status()?;
        ensure!(made.success(), "meshkv generate failed");
        std::fs::write(dir.join("card.xclbin"), "")?;
        let compiler = find(&CXX)?;
        let built = compiler
            .command()
            .args(["-std=c++17", "-O2", "-pthread", "-Isw", "-Ihost", "-o", "host_calls"])
            .args([format!("-I{root}/sim/xrt"), format!("{root}/benches/figures/host_calls.cpp")])
            .current_dir(&dir)
            .output()?;
        ensure!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Ok(Library { dir })
    }

    /// What it prints, with queries and outputs in memory of the host.
    fn says(&self, args: &[&str]) -> Result<Value> {
        let mut command = Command::new(self.dir.join("host_calls"));
        for name in ["MESHKV_FAKE_DIR", "MESHKV_FAKE_QUIET", "MESHKV_CARD_HOST_MEMORY"] {
            command.env(name, ".");
        }
        let ran = command.args(args).current_dir(&self.dir).output()?;
        ensure!(ran.status.success(), "host_calls {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
        Ok(serde_json::from_slice(&ran.stdout)?)
    }
}
