//! Runs of every length from `ap_start` to `ap_done`, beside the time of their bytes and array passes: workloads that
//! somebody chose, and many that are drawn from a seed.
//!
//! The front is verilated and the core is its cycle-exact model, which is deterministic: one run a row. The goals are of a
//! memory that is not refreshed.

use super::figure::{Figure, Goal};
use super::program::{file, json, number};
use super::{at_least, at_most};
use anyhow::{ensure, Context, Result};
use meshkv::config::Config;
use meshkv::design::{Design, Mapping};
use meshkv::eval::DrawnRun;
use meshkv::tools::workers;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The fabric for the card.
pub(super) const CARD: &str = "configs/u280_4x8.toml";
/// Platform and engine of every run.
pub(super) const MANNER: &str = "--device --timing --no-refresh";
/// Variables with the seed and the number of drawn runs, and their defaults.
const SEED: (&str, u64) = ("MESHKV_BENCH_SEED", 1);
const RUNS: (&str, u64) = ("MESHKV_BENCH_RUNS", 200);
/// Bytes from which a drawn run counts as long.
const LONG: u64 = 16_000_000;
/// Long drawn runs: least and median of their shares, without and with a common prefix.
const GOALS: [[f64; 2]; 2] = [[0.85, 0.96], [0.75, 0.88]];

/// A change of the configuration: its text, and its effect.
pub(super) type Change = (&'static str, fn(&mut Config));

pub(super) const GQA: Change = ("model.kv_heads = 8", |c| c.model.kv_heads = 8);
const BATCH: Change = ("model.max_streams = 8, model.layers = 1", |c| {
    (c.model.max_streams, c.model.layers) = (8, 1);
});
const GQA_BATCH: Change = ("model.kv_heads = 8, model.max_streams = 8, model.layers = 1", |c| {
    (c.model.kv_heads, c.model.max_streams, c.model.layers) = (8, 8, 1);
});

/// What a run must reach.
#[derive(Clone, Copy)]
pub(super) enum Limit {
    /// Cycles at most.
    Cycles(f64),
    /// Share of the bandwidth of the memory at least.
    Share(f64),
}
use Limit::{Cycles, Share};

/// A workload that somebody chose.
pub(super) struct Chosen {
    pub(super) what: &'static str,
    pub(super) path: &'static str,
    pub(super) change: Option<Change>,
    pub(super) options: &'static str,
    pub(super) limit: Limit,
}

const RAGGED: &str = "--lengths 500,900,1300,2100,300,700,1500,4000";
const ALIKE: &str = "--lengths 300,300,300,300,300,300,300,300";
const ONE_LONG: &str = "--lengths 8000,200,200,200,200,200,200,200";
const PREFIX: &str = "--lengths 1020,1080,1130,1180,1230,1290,1350,1400 --prefix 960";

const fn alone(options: &'static str, limit: Limit) -> Chosen {
    Chosen { what: "LLaMA-2-7B, B = 1", path: CARD, change: None, options, limit }
}

const fn gqa(options: &'static str, limit: Limit) -> Chosen {
    Chosen { what: "GQA 4, B = 1", path: CARD, change: Some(GQA), options, limit }
}

const fn batch(what: &'static str, change: Change, options: &'static str, limit: Limit) -> Chosen {
    Chosen { what, path: CARD, change: Some(change), options, limit }
}

pub(super) static CHOSEN: [Chosen; 27] = [
    alone("--tokens 64", Cycles(1400.0)),
    alone("--tokens 256", Cycles(3000.0)),
    alone("--tokens 512", Cycles(5150.0)),
    alone("--tokens 1024", Cycles(9750.0)),
    alone("--tokens 2048", Share(0.955)),
    alone("--tokens 2112", Share(0.955)),
    alone("--tokens 3000", Share(0.955)),
    alone("--tokens 4096", Share(0.955)),
    alone("--tokens 4160", Share(0.955)),
    alone("--tokens 8256", Share(0.955)),
    alone("--tokens 32768", Share(0.996)),
    gqa("--tokens 300", Share(0.36)),
    gqa("--tokens 1000", Share(0.71)),
    gqa("--tokens 4096", Share(0.88)),
    gqa("--tokens 8192", Share(0.93)),
    batch("eight streams, MHA", BATCH, RAGGED, Share(0.965)),
    batch("eight streams of 300, MHA", BATCH, ALIKE, Share(0.87)),
    batch("one stream of 8 000 and seven of 200, MHA", BATCH, ONE_LONG, Share(0.955)),
    batch("eight streams, GQA 4", GQA_BATCH, RAGGED, Share(0.91)),
    batch("eight streams of 300, GQA 4", GQA_BATCH, ALIKE, Share(0.65)),
    batch("one stream of 8 000 and seven of 200, GQA 4", GQA_BATCH, ONE_LONG, Share(0.86)),
    batch("eight streams with a common prefix of 960, MHA", BATCH, PREFIX, Cycles(33_300.0)),
    batch("eight streams with a common prefix of 960, GQA 4", GQA_BATCH, PREFIX, Cycles(24_900.0)),
    batch("two streams, MHA", BATCH, "--lengths 326,85", Cycles(5000.0)),
    Chosen {
        what: "512 steps of three streams, MHA",
        path: CARD,
        change: Some(("model.layers = 1", |c| c.model.layers = 1)),
        options: "--lengths 17,64,200 --steps 512 --fit",
        limit: Cycles(5_700_000.0),
    },
    Chosen {
        what: "LLaMA-2-7B, B = 1",
        path: "configs/u280_16x4.toml",
        change: None,
        options: "--tokens 64",
        limit: Cycles(2500.0),
    },
    Chosen {
        what: "LLaMA-2-7B, B = 1",
        path: "configs/u280_8x8.toml",
        change: None,
        options: "--tokens 1000",
        limit: Cycles(18_500.0),
    },
];

/// A number of the environment, else its default.
fn given((name, default): (&str, u64)) -> Result<u64> {
    match std::env::var(name) {
        Ok(text) if !text.is_empty() => text.parse().with_context(|| format!("{name} is {text}, no number")),
        _ => Ok(default),
    }
}

/// The seed of what is drawn.
pub(super) fn seed() -> Result<u64> {
    given(SEED)
}

pub fn measure() -> Result<Vec<Figure>> {
    let (seed, runs) = (given(SEED)?, given(RUNS)? as usize);
    ensure!(runs > 0, "{} is 0: draw one run at least", RUNS.0);
    let dir = tempfile::tempdir()?;
    let rows = rows_of(dir.path(), &CHOSEN)?;
    let mut figures =
        CHOSEN.iter().zip(&rows).map(|(load, row)| of_chosen(load, row)).collect::<Result<Vec<_>>>()?;
    figures.push(alone_from_2048(seed, runs.div_ceil(4))?);
    figures.extend(drawn(dir.path(), seed, runs)?);
    Ok(figures)
}

/// One in ten of the drawn runs, the Verilog beside its model in every cycle. A difference is no figure, but an error.
pub fn in_lockstep() -> Result<Vec<Figure>> {
    let (seed, runs) = (given(SEED)?, given(RUNS)? as usize);
    let (dir, card) = (tempfile::tempdir()?, config(CARD)?);
    let runs = DrawnRun::of(seed, runs, card.kv.segment_tokens);
    let files = files_of(dir.path(), &runs, &card)?;
    let compared = |drawn: &&DrawnRun| -> Result<u64> {
        let path = &files[&drawn.group];
        let row = json(&format!("sim run {path} --no-refresh --lockstep {}", drawn.options()))?;
        ensure!(row["bit_exact"] == true, "{path} {}: not bit-exact", drawn.options());
        Ok(number(&row, "total_cycles")? as u64)
    };
    let tenth: Vec<_> = runs.iter().step_by(10).collect();
    let cycles: u64 = on_all_cores(&tenth, &compared)?.into_iter().sum();
    Ok(vec![Figure {
        what: format!(
            "`u280_4x8`: {} of {} drawn runs, in lockstep with the Verilog",
            tenth.len(),
            runs.len()
        ),
        value: format!("equal in all of {cycles} cycles, and bit-exact"),
        goal: Goal::Stated,
        command: format!("make bench FIGURES=lockstep SEED={seed}"),
    }])
}

/// Works on all pieces, one on each core. Outcomes have the order of the pieces.
pub(super) fn on_all_cores<'p, P: Sync, O: Send>(
    pieces: &'p [P],
    one: &(dyn Fn(&'p P) -> Result<O> + Sync),
) -> Result<Vec<O>> {
    let numbered: Vec<_> = pieces.iter().enumerate().collect();
    let mut all = BTreeMap::new();
    workers::work(&numbered, workers::cores(), &|&(_, piece)| one(piece), &mut |(at, _), outcome| {
        all.insert(*at, outcome?);
        Ok(())
    })?;
    Ok(all.into_values().collect())
}

pub(super) fn config(path: &str) -> Result<Config> {
    Ok(toml::from_str(&std::fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR")))?)?)
}

/// A run of a configuration, without its result where a rule was broken.
pub(super) fn run(path: &str, options: &str) -> Result<Value> {
    json(&format!("sim run {path} {MANNER} {options}"))
}

/// Runs workloads; each is changed in a file of its own in `dir`.
pub(super) fn rows_of<'l>(dir: &Path, loads: impl IntoIterator<Item = &'l Chosen>) -> Result<Vec<Value>> {
    let mut pieces = Vec::new();
    for (at, load) in loads.into_iter().enumerate() {
        let path = match load.change {
            None => load.path.to_owned(),
            Some((_, change)) => {
                let mut config = config(load.path)?;
                change(&mut config);
                file(dir, &format!("chosen_{at}.toml"), &toml::to_string(&config)?)?
            }
        };
        pieces.push((path, load));
    }
    on_all_cores(&pieces, &|(path, load)| run(path, load.options))
}

pub(super) fn of_chosen(load: &Chosen, row: &Value) -> Result<Figure> {
    let cycles = number(row, "cycles")?;
    let share = row["share"].as_f64();
    let goal = match (load.limit, share) {
        (Cycles(most), _) => at_most(cycles, most, format!("{most} cycles")),
        (Share(least), Some(share)) => at_least(share, least, least.to_string()),
        (Share(_), None) => Goal::Stated,
    };
    let of_memory = share.map_or(String::new(), |share| format!(", {share:.3} of the memory's bandwidth"));
    let changed = load.change.map_or(String::new(), |(text, _)| format!(" with {text}"));
    Ok(Figure {
        what: format!("`{}`: {}, {}", stem(load.path), load.what, load.options),
        value: format!("{cycles} cycles{of_memory}"),
        goal,
        command: format!("meshkv sim run {} {MANNER} {}{changed}", load.path, load.options),
    })
}

pub(super) fn stem(path: &str) -> &str {
    Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or(path)
}

/// One stream of a drawn length from 2048 on.
fn alone_from_2048(seed: u64, runs: usize) -> Result<Figure> {
    let share = |tokens: &u32| number(&run(CARD, &format!("--tokens {tokens}"))?, "share");
    let lengths = DrawnRun::alone(seed, runs, 2048);
    let shares = on_all_cores(&lengths, &share)?;
    let found = shares.iter().zip(&lengths).min_by(|a, b| a.0.total_cmp(b.0)).context("one was drawn")?;
    Ok(Figure {
        what: format!(
            "`u280_4x8`: LLaMA-2-7B, B = 1, {runs} drawn lengths from 2 048 on: the least, of {}",
            found.1
        ),
        value: format!("{:.3} of the memory's bandwidth", found.0),
        goal: at_least(*found.0, 0.955, "0.955"),
        command: format!("meshkv sim run {CARD} {MANNER} --tokens {}", found.1),
    })
}

/// A drawn run, and the share of its time that its bytes and passes take.
struct Found<'r> {
    run: &'r DrawnRun,
    bytes: u64,
    share: f64,
}

/// A configuration for each group of query heads of these runs, by that group.
fn files_of(dir: &Path, runs: &[DrawnRun], card: &Config) -> Result<BTreeMap<u32, String>> {
    let mut files = BTreeMap::new();
    for run in runs {
        let path = file(dir, &format!("group_{}.toml", run.group), &toml::to_string(&run.config(card))?)?;
        files.insert(run.group, path);
    }
    Ok(files)
}

fn drawn(dir: &Path, seed: u64, count: usize) -> Result<Vec<Figure>> {
    let card = config(CARD)?;
    let runs = DrawnRun::of(seed, count, card.kv.segment_tokens);
    let files = files_of(dir, &runs, &card)?;
    let found = on_all_cores(&runs, &|drawn| of_drawn(&files[&drawn.group], drawn))?;
    let mut figures = Vec::new();
    for (prefix, goals) in [false, true].into_iter().zip(GOALS) {
        for long in [false, true] {
            let these = |found: &&Found| (found.run.prefix > 0) == prefix && (!long || found.bytes >= LONG);
            let goals = goals.map(|goal| long.then_some(goal));
            figures.extend(of_kind(
                &found.iter().filter(these).collect::<Vec<_>>(),
                (prefix, long),
                goals,
                (seed, &card),
            ));
        }
    }
    Ok(figures)
}

fn of_drawn<'r>(path: &str, drawn: &'r DrawnRun) -> Result<Found<'r>> {
    let row = run(path, &drawn.options())?;
    let design = Design::load(Path::new(path))?.0.without_refresh(true);
    let name = row["mapping"].as_str().context("no mapping")?;
    let mapping =
        Mapping::ALL.into_iter().find(|mapping| mapping.name() == name).context("no such mapping")?;
    let share = drawn.least(&design, mapping)? as f64 / number(&row, "cycles")?;
    Ok(Found { run: drawn, bytes: drawn.bytes(&design), share })
}

/// Least, 5th percentile and median of the shares of a kind of runs, with goals of the least and the median; nothing if
/// none was drawn.
fn of_kind(
    found: &[&Found],
    (prefix, long): (bool, bool),
    goals: [Option<f64>; 2],
    (seed, card): (u64, &Config),
) -> Vec<Figure> {
    let mut found = found.to_vec();
    found.sort_by(|a, b| a.share.total_cmp(&b.share));
    let Some(least) = found.first() else { return Vec::new() };
    let at = |percent: usize| found[(found.len() * percent).div_ceil(100).max(1) - 1].share;
    let kind = format!(
        "{} drawn runs {}{}",
        found.len(),
        if prefix { "with a common prefix" } else { "without one" },
        if long { " of 16 MB and more" } else { "" }
    );
    let goal = |value: f64, goal: Option<f64>| match goal {
        Some(goal) => at_least(value, goal, goal.to_string()),
        None => Goal::Stated,
    };
    let draw = format!("make bench FIGURES=lengths SEED={seed}");
    let figure = |what: &str, value: f64, goal: Goal, command: String| Figure {
        what: format!("`u280_4x8`: {kind}: {what} of bytes or passes over `ap_start` to `ap_done`"),
        value: format!("{value:.3}"),
        goal,
        command,
    };
    let of_least =
        format!("meshkv sim run {CARD} {MANNER} {} with {}", least.run.options(), least.run.keys(card));
    vec![
        figure("least", least.share, goal(least.share, goals[0]), of_least),
        figure("5th percentile", at(5), Goal::Stated, draw.clone()),
        figure("median", at(50), goal(at(50), goals[1]), draw),
    ]
}
