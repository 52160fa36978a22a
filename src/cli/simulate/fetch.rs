//! `meshkv fetch`: slices fetched from their homes, on the emitted fabric under Verilator or on its model.

use crate::cli::output::table;
use crate::cli::output::ui::Ui;
use crate::cli::output::views::Views;
use crate::cli::program::names::name;
use crate::cli::program::scope::{Only, Scope};
use crate::cli::simulate::engine::Carrier;
use crate::cli::simulate::ports::Verilog;
use crate::cli::simulate::reported::ended::Ended;
use crate::cli::simulate::reported::rare;
use crate::config::Engine;
use crate::cosim::build::{BuildForm, RunLength, LONG_RUN};
use crate::cosim::checks::violation::Violation;
use crate::cosim::workloads::fetch::scenario::{Cause, Workload};
use crate::cosim::workloads::fetch::{scenario, Bench, Fetched};
use crate::design::{counters_schema, Design};
use crate::emit::TILE_EVENTS;
use crate::tools::interrupt::Interrupt;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// Fetch slices from their homes, on the emitted Verilog or on its model
///
/// Shows the effect of coalescing, multicast and the suppression of duplicates. Requesters, routers,
/// home agents and their memories run, with equal cycles on both engines. Every head must get every
/// flit that it requested exactly once, in order and intact. Exit code 1 if not.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Examples:
  meshkv fetch configs/tiny.toml
  meshkv fetch configs/u280_8x8.toml --pattern slice --requesters 8
  meshkv fetch configs/u280_8x8.toml --pattern broadcast --slices 8 --skew 1 --json | jq .merged_share
  meshkv fetch configs/tiny.toml --pattern random --commands 2000 --gap 5 --seed 3
  meshkv sim fetch configs/u280_8x8.toml --pattern random         the same on the model
  meshkv fetch configs/tiny.toml --pattern trees --lockstep       on both, compared in every cycle")]
pub struct Args {
    /// Configuration file
    #[arg(value_name = "CONFIG", value_hint = clap::ValueHint::FilePath)]
    config: PathBuf,
    /// Pattern of the fetches
    #[arg(long, value_enum, default_value_t = Pattern::Broadcast)]
    pattern: Pattern,
    /// slice: tiles that ask for the one slice
    #[arg(long, value_name = "TILES", default_value_t = 4)]
    requesters: u32,
    /// broadcast, random, storm: slices, one a segment of layer 0, where TaKV places them [default: 4]
    #[arg(long, default_value_t = 4)]
    slices: u32,
    /// broadcast: chunks that are asked for of each slice
    #[arg(long, default_value_t = 4)]
    chunks: u32,
    /// broadcast: cycles by which a row starts later than the one below it
    #[arg(long, value_name = "CYCLES", default_value_t = 1)]
    skew: u32,
    /// broadcast: all columns ask in the same order, not each from another slice on
    #[arg(long)]
    no_rotate: bool,
    /// heads, trees, retries: chunks that are asked for twice
    #[arg(long, default_value_t = 32)]
    rounds: u32,
    /// random, storm: commands of a tile
    #[arg(long, default_value_t = 200)]
    commands: u32,
    /// random, storm: mean cycles between two commands of a tile
    #[arg(long, value_name = "CYCLES", default_value_t = 40)]
    gap: u32,
    /// Of 256 cycles, those in which a tile does not accept a flit
    #[arg(long, value_name = "OF_256", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=250))]
    stall: u8,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    carrier: Carrier,
}

/// Where options of a pattern have an effect.
pub(in crate::cli) const SCOPES: &[Scope] = &[
    Scope { of: &["requesters"], only: &[Only::Where("pattern", &["slice"])], why: "" },
    Scope { of: &["slices"], only: &[Only::Where("pattern", &["broadcast", "random", "storm"])], why: "" },
    Scope { of: &["chunks", "skew", "no_rotate"], only: &[Only::Where("pattern", &["broadcast"])], why: "" },
    Scope { of: &["rounds"], only: &[Only::Where("pattern", &["heads", "trees", "retries"])], why: "" },
    Scope { of: &["commands", "gap"], only: &[Only::Where("pattern", &["random", "storm"])], why: "" },
];

/// Workloads by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Pattern {
    /// Some tiles ask at once for one whole slice
    Slice,
    /// Every tile fetches the same slices, as the column controllers announce them
    Broadcast,
    /// A second head asks when the window of the first has just ended
    Heads,
    /// It asks together with another tile that asks for the first time
    Trees,
    /// A slice becomes resident only after it was asked for again
    Retries,
    /// Every tile asks at random, heads together, apart, and again
    Random,
    /// All tiles ask for the same few ranges, in waves, apart and again, some before the slice is there
    Storm,
}

impl Args {
    /// Compilation of the Verilog for this number of commands.
    fn length(&self, design: &Design, commands: u64) -> RunLength {
        self.carrier.length(commands * u64::from(design.mare.chunk_flits), LONG_RUN)
    }

    fn workload(&self) -> Workload {
        match self.pattern {
            Pattern::Slice => Workload::Slice { requesters: self.requesters },
            Pattern::Broadcast => Workload::Broadcast {
                slices: self.slices,
                chunks: self.chunks,
                skew: self.skew,
                rotate: !self.no_rotate,
            },
            Pattern::Heads => Workload::Duplicates { cause: Cause::Heads, rounds: self.rounds },
            Pattern::Trees => Workload::Duplicates { cause: Cause::Trees, rounds: self.rounds },
            Pattern::Retries => Workload::Duplicates { cause: Cause::Retries, rounds: self.rounds },
            Pattern::Random => {
                Workload::Random { commands: self.commands, gap: self.gap, slices: self.slices }
            }
            Pattern::Storm => Workload::Storm { commands: self.commands, gap: self.gap, slices: self.slices },
        }
    }
}

/// Slices that were fetched.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct FetchOutput<'a> {
    /// Cycles from the first command to the last flit.
    cycles: u64,
    /// Commands accepted: ranges that heads asked for.
    commands: u64,
    /// Flits that tiles took.
    delivered: u64,
    /// Head-flits: each flit counted for each head that wanted it.
    head_flits: u64,
    /// Share of fetches that joined a request.
    merged_share: f64,
    /// Router-to-router traversals of flits of KV_DATA.
    data_links: u64,
    /// Router-to-router traversals of flits of KV_FETCH.
    fetch_links: u64,
    /// Flits of a chunk.
    chunk_flits: u32,
    /// Cycles during which fetches for one slice are merged.
    coalesce_window: u32,
    /// Sums of the tiles' counters.
    #[schemars(schema_with = "counters_schema")]
    counters: BTreeMap<&'static str, u64>,
    /// Rare states of the blocks, and how often the run was in them; null if no model ran.
    rare: Option<BTreeMap<&'static str, u64>>,
    /// Number of violations.
    violations: u64,
    /// The first violations.
    violation_list: &'a [Violation],
    /// Engine of the run: `rtl`, `model`, or both in `lockstep`.
    engine: String,
    /// The command that repeats these figures.
    command: String,
}

/// Runs the subcommand. Exit code 1 if the fabric did anything wrong.
///
/// # Errors
/// A wrong configuration or workload, a missing tool, or Ctrl-C.
pub(in crate::cli) fn run(args: &Args, default: Engine, ui: &Ui) -> anyhow::Result<ExitCode> {
    let mut args = args.clone();
    args.carrier = args.carrier.decided(default);
    let args = &args;
    let (design, _) = crate::cli::load::load(&args.config, ui)?;
    ui.seeded(Some(args.seed));
    let mut plan = scenario::plan(&design, &args.workload(), args.seed)?;
    plan.stall = args.stall;
    let interrupt = Interrupt::listen()?;
    let asked: u64 = plan.commands.iter().map(|c| c.len() as u64).sum();
    let verilog = Verilog {
        design: &design,
        form: BuildForm::TransportPieces,
        length: args.length(&design, asked),
        cache: None,
        seed: args.seed,
        interrupt: &interrupt,
        ui,
    };
    let _views = args.carrier.waves().map(|path| Views::of(path.to_owned(), &design, ui));
    let bench = if args.carrier.is_model() {
        Bench::on_model(&design)
    } else {
        Bench::on(verilog.open(&args.carrier, &Bench::ports(&design), Bench::model)?, &design)?
    };
    let progress = ui.progress(Some(asked), "fetching");
    let mut watch = |_: u64, done: u64| {
        progress.set(done);
        interrupt.requested()
    };
    let result = bench.run(&plan, &mut watch);
    drop(progress);
    let done = match result.map_err(Ended::from) {
        Ok(done) => done,
        Err(ended) => {
            return ended.explain("fetching", &args.carrier, &verilog, |socket| {
                let mut stop = |_: u64, _: u64| interrupt.requested();
                let bench = Bench::on(socket, &design).map_err(Ended::from);
                bench.and_then(|bench| bench.run(&plan, &mut stop).map_err(Ended::from)).err()
            });
        }
    };
    args.carrier.note_waves(ui);
    ui.result(&output(args, &design, &done), || prose(&design, &done))?;
    Ok(if done.violations == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Share of fetches that joined an existing request.
fn merged_share(done: &Fetched) -> f64 {
    let (opened, merged) = (done.event("requests_opened") as f64, done.event("requests_merged") as f64);
    merged / (opened + merged).max(1.0)
}

/// The command that repeats these figures.
fn command(args: &Args) -> String {
    let (config, pattern) = (args.config.display(), name(args.pattern));
    let mut text = format!("meshkv fetch {config} --seed {} --pattern {pattern}", args.seed);
    text += &match args.pattern {
        Pattern::Slice => format!(" --requesters {}", args.requesters),
        Pattern::Broadcast => format!(
            " --slices {} --chunks {} --skew {}{}",
            args.slices,
            args.chunks,
            args.skew,
            if args.no_rotate { " --no-rotate" } else { "" }
        ),
        Pattern::Heads | Pattern::Trees | Pattern::Retries => format!(" --rounds {}", args.rounds),
        Pattern::Random | Pattern::Storm => {
            format!(" --commands {} --gap {} --slices {}", args.commands, args.gap, args.slices)
        }
    };
    if args.stall > 0 {
        text += &format!(" --stall {}", args.stall);
    }
    text + &args.carrier.words()
}

fn output<'a>(args: &Args, design: &Design, done: &'a Fetched) -> FetchOutput<'a> {
    FetchOutput {
        cycles: done.cycles,
        commands: done.commands,
        delivered: done.delivered,
        head_flits: done.head_flits,
        merged_share: merged_share(done),
        data_links: done.data_links,
        fetch_links: done.fetch_links,
        chunk_flits: design.mare.chunk_flits,
        coalesce_window: design.mare.coalesce_window,
        counters: TILE_EVENTS.iter().map(|&name| (name, done.event(name))).collect(),
        rare: done.reached.as_ref().map(rare::counts),
        violations: done.violations,
        violation_list: &done.violation_list,
        engine: args.carrier.name(),
        command: command(args),
    }
}

fn prose(design: &Design, done: &Fetched) -> String {
    let count =
        |name: &str, value: u64, meaning: &str| vec![name.to_owned(), value.to_string(), meaning.to_owned()];
    let mut rows = vec![
        count("cycles", done.cycles, "from the first command to the last flit"),
        count("commands", done.commands, "ranges that heads asked for"),
        count("delivered", done.delivered, "flits that tiles took"),
        count("data_links", done.data_links, "router-to-router traversals of KV_DATA"),
        count("fetch_links", done.fetch_links, "the same of KV_FETCH"),
    ];
    rows.extend(TILE_EVENTS.iter().map(|&name| count(name, done.event(name), "all tiles")));
    let mut text = table::columns(&rows);
    text += &format!(
        "{:.1} % of the fetches joined a request (window of {} cycles, chunks of {} flits)\n",
        100.0 * merged_share(done),
        design.mare.coalesce_window,
        design.mare.chunk_flits
    );
    if let Some(reached) = &done.reached {
        text += &rare::lines(reached, rare::OF_MARE);
    }
    for violation in &done.violation_list {
        text += &format!("violation: {}\n", violation.message);
    }
    text
}
