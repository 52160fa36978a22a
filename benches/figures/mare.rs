//! MaRe on the whole fabric: trees, coalescing, duplicates, storms, and the cost of a tile.

use super::area;
use super::build;
use super::figure::{Figure, Goal};
use super::program::REFERENCE;
use super::{at_least, at_most};
use anyhow::{ensure, Result};
use meshkv::config::Config;
use meshkv::cosim::build::{BuildForm, RunLength};
use meshkv::cosim::dut::verilated::verilated_ports::verilated;
use meshkv::cosim::workloads::fetch::scenario::{Cause, Workload};
use meshkv::cosim::workloads::fetch::{scenario, Bench, Fetched, Plan};
use meshkv::design::Design;
use meshkv::synth::Costs;
use std::path::Path;

/// Command that measures these figures again.
const COMMAND: &str = "cargo bench --bench figures -- mare";

/// Windows of the curve, in cycles.
const WINDOWS: [u32; 9] = [0, 2, 4, 8, 12, 16, 20, 24, 32];

/// Seeds of random figures.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

pub fn measure() -> Result<Vec<Figure>> {
    let mut figures = trees()?;
    figures.extend(coalescing()?);
    figures.extend(delivery()?);
    figures.extend(causes()?);
    figures.extend(bloom()?);
    figures.push(storm()?);
    figures.extend(costs()?);
    Ok(figures)
}

/// The reference configuration, changed.
fn design(change: impl FnOnce(&mut Config)) -> Result<Design> {
    let (reference, _) = Design::load(Path::new(REFERENCE))?;
    let mut config = reference.configuration().clone();
    change(&mut config);
    Ok(Design::from_config("bench", &config)?)
}

/// Runs plans on one design; none may have a violation.
fn run(design: &Design, plans: impl IntoIterator<Item = Plan>) -> Result<Vec<Fetched>> {
    let library = build::library(design, BuildForm::TransportPieces, RunLength::Quick, None)?;
    let each = |plan: Plan| -> Result<Fetched> {
        let done = Bench::on(verilated(&library, 1)?, design)?.run(&plan, &mut |_, _| false)?;
        ensure!(done.violations == 0, "{:#?}", done.violation_list);
        Ok(done)
    };
    plans.into_iter().map(each).collect()
}

fn stated(what: impl Into<String>, value: String, command: &str) -> Figure {
    Figure { what: what.into(), value, goal: Goal::Stated, command: command.to_owned() }
}

/// KV_DATA traversals of requests inside one window, against the trees of their requesters.
fn trees() -> Result<Vec<Figure>> {
    // The window outlasts the way of the farthest fetch, and the FIFO requests a slice in one piece
    // where the chunks allow it.
    let design = design(|c| c.mare.coalesce_window = 255)?;
    let (mut links, mut expected) = (0, 0);
    for requesters in [1, 2, 4, 8, 16, 32, 63] {
        let plans = SEEDS.map(|seed| {
            let mut plan = scenario::plan(&design, &Workload::Slice { requesters }, seed)?;
            plan.commands.iter_mut().for_each(|commands| commands.truncate(1));
            Ok(plan)
        });
        let plans = plans.collect::<Result<Vec<_>>>()?;
        for plan in &plans {
            let asked = |t: &meshkv::design::NodeId| !plan.commands[t.index()].is_empty();
            let askers: Vec<_> = design.mesh.nodes().filter(asked).collect();
            let tree = design.mesh.xym_tree_links(plan.residents[0].home, &askers);
            expected += u64::from(tree) * u64::from(design.mare.chunk_flits);
        }
        for done in run(&design, plans)? {
            ensure!(done.event("requests_opened") == 1, "not all asked inside the window");
            links += done.data_links;
        }
    }
    Ok(vec![Figure {
        what: "KV_DATA traversals of requests inside one window, 1 to 63 requesters, 8x8".to_owned(),
        value: format!("{links}; trees times flits: {expected}"),
        goal: Goal::Met(links == expected, "equal".to_owned()),
        command: COMMAND.to_owned(),
    }])
}

/// Requests of the tiles of the curve: in words, chunks of each slice, whether each column begins
/// with another slice.
const WAYS: [(&str, u32, bool); 3] = [
    ("one chunk of each, homes idle", 1, true),
    ("8 chunks of each, homes busy", 8, true),
    ("8 chunks of each, all columns in one order", 8, false),
];

/// Share of fetches merged, by window.
fn coalescing() -> Result<Vec<Figure>> {
    let mut curves = WAYS.map(|_| Vec::new());
    for window in WINDOWS {
        let design = design(|c| c.mare.coalesce_window = window)?;
        let plan = |(_, chunks, rotate)| {
            scenario::plan(&design, &Workload::Broadcast { slices: 8, chunks, skew: 1, rotate }, 1)
        };
        let plans = WAYS.map(plan).into_iter().collect::<Result<Vec<_>, _>>()?;
        for (curve, done) in curves.iter_mut().zip(run(&design, plans)?) {
            let (opened, merged) = (done.event("requests_opened"), done.event("requests_merged"));
            curve.push(format!("{window}: {:.0} %", 100.0 * merged as f64 / (opened + merged) as f64));
        }
    }
    let figure = |((name, chunks, rotate), curve): ((&str, u32, bool), &Vec<String>)| {
        let rotation = if rotate { "" } else { " --no-rotate" };
        stated(
            format!("fetches merged by W_coal; 64 tiles ask for 8 slices, {name} (paper: 78 % at 12)"),
            curve.join(", "),
            &format!(
                "meshkv fetch {REFERENCE} --pattern broadcast --slices 8 --chunks {chunks} --skew 1{rotation}"
            ),
        )
    };
    Ok(WAYS.into_iter().zip(&curves).map(figure).collect())
}

/// One slice to some tiles of an idle network, and a home under a backlog.
fn delivery() -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    // Requested in large pieces, by FIFOs that hold them, within one window.
    let large = design(|c| (c.pad.fifo_depth, c.mare.coalesce_window) = (Some(1024), 255))?;
    let flits = f64::from(large.mare.slice_flits);
    for requesters in [1, 8, 63] {
        let plans = SEEDS.map(|seed| scenario::plan(&large, &Workload::Slice { requesters }, seed));
        let plans = plans.collect::<Result<Vec<_>, _>>()?;
        let mut worst = 0.0_f64;
        for (plan, done) in plans.iter().zip(run(&large, plans.clone())?) {
            let asked = |t: &meshkv::design::NodeId| !plan.commands[t.index()].is_empty();
            let home = plan.residents[0].home;
            let row = |t| large.mesh.coords(t).1;
            let hops = |t| large.mesh.hops(home, t) * large.router.stages;
            let cycles = |t| hops(t) + large.crossed(row(home), row(t));
            let ways: Vec<_> = large.mesh.nodes().filter(asked).map(cycles).collect();
            let (near, far) = (ways.iter().min().unwrap_or(&0), ways.iter().max().unwrap_or(&0));
            // From the first flit anywhere, plus at most the length of its way before it, to the
            // last.
            let taken = done.cycles - done.first_flit + 1 + u64::from(*near);
            worst = worst.max(taken as f64 / (flits + f64::from(*far)));
        }
        figures.push(Figure {
            what: format!(
                "cycles to deliver a slice to {requesters} tiles, idle 8x8, over slice length + tree depth"
            ),
            value: format!("{worst:.3} at worst of 5 seeds"),
            goal: at_most(worst, 1.10, "1.10"),
            command: COMMAND.to_owned(),
        });
    }
    // A backlog at one home: it sends from the first flit to the last.
    let reference = design(|_| {})?;
    let plan = scenario::plan(&reference, &Workload::Slice { requesters: 63 }, 1)?;
    let done = run(&reference, [plan])?.remove(0);
    let rate = done.event("flits_streamed") as f64 / (done.cycles - done.first_flit + 1) as f64;
    figures.push(Figure {
        what: format!("sustained throughput of one home, 63 requesters, F = {}", reference.mare.fifo_depth),
        value: format!(
            "{rate:.3} flits/cycle, {} cycles stalled by the network",
            done.event("stream_stalled")
        ),
        goal: at_least(rate, 0.99, "1 while the network accepts"),
        command: format!("meshkv fetch {REFERENCE} --pattern slice --requesters 63"),
    });
    for requesters in [1, 8, 63] {
        let plan = scenario::plan(&reference, &Workload::Slice { requesters }, 1)?;
        let done = run(&reference, [plan])?.remove(0);
        figures.push(stated(
            format!(
                "the same slice with the default FIFO (F = {}, chunks of {}), {requesters} tiles",
                reference.mare.fifo_depth, reference.mare.chunk_flits
            ),
            format!(
                "{} cycles, {:.2} of slice length; {} traversals",
                done.cycles,
                done.cycles as f64 / flits,
                done.data_links
            ),
            &format!("meshkv fetch {REFERENCE} --pattern slice --requesters {requesters}"),
        ));
    }
    Ok(figures)
}

/// Traffic with and without suppression, cause by cause.
fn causes() -> Result<Vec<Figure>> {
    let causes = [(Cause::Heads, "heads", 12), (Cause::Trees, "trees", 12), (Cause::Retries, "retries", 0)];
    let mut figures = Vec::new();
    for (cause, name, window) in causes {
        let ways = [true, false].map(|dedup| -> Result<Fetched> {
            let design = design(|c| (c.mare.dedup, c.mare.coalesce_window) = (dedup, window))?;
            let plan = scenario::plan(&design, &Workload::Duplicates { cause, rounds: 32 }, 1)?;
            Ok(run(&design, [plan])?.remove(0))
        });
        let [with, without] = ways;
        let (with, without) = (with?, without?);
        figures.push(stated(
            format!("KV_DATA traversals with suppression and without, duplicates by {name}"),
            format!(
                "{} and {} ({:.2}); {} chunks dropped, {} trimmed; duplicates that reach tiles {} and {}",
                with.data_links,
                without.data_links,
                with.data_links as f64 / without.data_links as f64,
                with.event("chunks_dropped"),
                with.event("chunks_trimmed"),
                with.event("duplicate_flits"),
                without.event("duplicate_flits")
            ),
            COMMAND,
        ));
    }
    Ok(figures)
}

/// False positives of the Bloom filter, measured and by theory.
fn bloom() -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for bits in [16, 64, 256] {
        let design = design(|c| (c.mare.bloom_bits, c.mare.tag_entries) = (bits, 64))?;
        // Slices and chunks at random, so that names are random. No request is repeated, so that
        // every new name is remembered.
        let workload = Workload::Random { commands: 900, gap: 0, slices: 64 };
        let mut plan = scenario::plan(&design, &workload, 1)?;
        for commands in &mut plan.commands {
            commands.dedup_by_key(|c| (c.slice, c.first));
        }
        let done = run(&design, [plan])?.remove(0);
        let strangers = done.event("chunks_looked_up") - done.event("exact_hits");
        let measured = done.event("bloom_false_positives") as f64 / strangers as f64;
        // Names per period and home on average; a look-up finds half of this period's and all of
        // the last's.
        let periods = done.cycles as f64 / f64::from(design.mare.bloom_refresh);
        let names = strangers as f64 / periods / homes(&done);
        let bank = |n: f64| (1.0 - (1.0 - 2.0 / f64::from(bits)).powf(n)).powi(2);
        let theory = 1.0 - (1.0 - bank(names / 2.0)) * (1.0 - bank(names));
        figures.push(stated(
            format!("false positives of a Bloom filter of 2 x {bits} bits, {names:.1} names a period"),
            format!(
                "{:.2} % of {strangers} strangers; theory at the mean {:.2} %",
                100.0 * measured,
                100.0 * theory
            ),
            COMMAND,
        ));
    }
    Ok(figures)
}

/// Number of homes with a request.
fn homes(done: &Fetched) -> f64 {
    let opened = meshkv::emit::TILE_EVENTS.iter().position(|&e| e == "requests_opened").expect("a counter");
    done.events.iter().filter(|tile| tile[opened] > 0).count() as f64
}

/// A long random run on all tiles.
fn storm() -> Result<Figure> {
    let design = design(|_| {})?;
    let workload = Workload::Random { commands: 3000, gap: 0, slices: 64 };
    let done = run(&design, [scenario::plan(&design, &workload, 1)?])?.remove(0);
    Ok(Figure {
        what: "random storm on 8x8, no pause: every head every flit once, watchdog on".to_owned(),
        value: format!(
            "{} commands, {} flits, {} cycles, {} retries, {} violations",
            done.commands,
            done.delivered,
            done.cycles,
            done.event("retries"),
            done.violations
        ),
        goal: Goal::Met(
            done.violations == 0 && done.event("retries") == 0,
            "no violation, no retry".to_owned(),
        ),
        command: format!("meshkv fetch {REFERENCE} --pattern random --commands 3000 --gap 0 --slices 64"),
    })
}

/// Cost of the logic next to a router, in Yosys.
fn costs() -> Result<Vec<Figure>> {
    let (yosys, design) = (area::find()?, area::reference()?);
    let parts = [
        ("meshkv_duplicate_filter", "duplicate filter (two-bank Bloom filter, 16 exact tags, sets of 64)"),
        ("meshkv_request_table", "request table, 16 entries"),
        ("meshkv_home_agent", "home agent, all of the above, streamer and staging memory"),
        ("meshkv_requester", "requester, its FIFO included"),
        ("meshkv_tile_port", "port of a tile"),
    ];
    let mut figures = Vec::new();
    for (module, name) in parts {
        let Costs { area, period_ns, .. } = area::costs(&yosys, &design, module, "")?;
        figures.push(stated(
            format!("added to a router: {name}"),
            format!(
                "{} LUT ({} memory), {} FF, {} BRAM18, {} URAM, {period_ns:.2} ns",
                area.sum(),
                area.ram_luts,
                area.registers,
                area.bram18,
                area.uram
            ),
            "make bench FIGURES=mare",
        ));
    }
    Ok(figures)
}
