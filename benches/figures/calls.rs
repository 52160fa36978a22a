//! Cycles that a call of the device costs: from its start to the first fetch, from the last output to
//! the end, and from one run to the next. The front is verilated, the core is its cycle-exact model.

use super::at_most;
use super::build::library;
use super::figure::{Figure, Goal};
use anyhow::{ensure, Context, Result};
use meshkv::cosim::build::{BuildForm, RunLength};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::dut::verilated::split_device::SplitDevice;
use meshkv::cosim::dut::verilated::verilated_ports::verilated;
use meshkv::cosim::workloads::attention::{Job, ModelCore};
use meshkv::cosim::workloads::device::{Bench, CallEvent, Device, Notice, Platform};
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::model::datapath::tensors::{synthetic, Logits, Synthetic};

/// The fabric for the card.
const CARD: &str = "configs/u280_4x8.toml";
const TOKENS: usize = 512;
/// Far more than a run of so many tokens takes.
const MOST: u64 = 100_000;
/// AP_START and AUTO_RESTART of CTRL.
const AGAIN: u32 = 0x81;

/// Goals in cycles: start to fetch, output to end, run to run.
const GOALS: [u64; 3] = [500, 100, 100];

pub fn measure() -> Result<Vec<Figure>> {
    let root = env!("CARGO_MANIFEST_DIR");
    let config = toml::from_str(&std::fs::read_to_string(format!("{root}/{CARD}"))?)?;
    let design = Design::from_config("u280_4x8", &config)?;
    let model = &design.model;
    let tensors = synthetic(&Synthetic {
        seed: 1,
        heads: model.heads as usize,
        kv_heads: model.kv_heads as usize,
        positions: 1,
        tokens: TOKENS,
        head_dim: design.pe.head_dim as usize,
        logits: Logits::Normal,
    });
    let job = Job::new(&design, &tensors, (0, 1), Mapping::RowAligned, Sharing::KvHead)?;
    let front = verilated(&library(&design, BuildForm::FrontAlone, RunLength::Quick, None)?, 1)?;
    let platform = Platform::of(&design);
    let socket = SplitDevice::new(front, Box::new(ModelCore::new(&job)), &design)?;
    let clocks = Clocks { noc_mhz: design.clock.noc_mhz, pe_mhz: design.clock.pe_mhz, ..Clocks::IN_STEP };
    let mut bench =
        Bench::new(Device::new(Box::new(socket), &design, &platform, &clocks)?, &design, &platform)?;

    // The first run after a reset reads all arguments, the second none.
    let mut costs = Vec::new();
    for _ in 0..2 {
        bench.driver.device.time_calls();
        let done = bench.run(&job, Notice::Interrupt, MOST, &mut |_| false)?;
        ensure!(done.bit_exact(), "outputs differ");
        let calls = bench.driver.device.take_calls().context("they were recorded")?;
        costs.push(calls.cost(CallEvent::Start, 0));
    }
    // The same by a list in memory.
    bench.driver.clear()?;
    bench.load(&job)?;
    bench.list(&job)?;
    bench.driver.device.time_calls();
    bench.driver.start()?;
    let outcome = bench.driver.wait(Notice::Interrupt, MOST, &mut |_| false)?;
    ensure!(bench.take(&job, outcome).bit_exact(), "outputs of the list differ");
    let calls = bench.driver.device.take_calls().context("they were recorded")?;
    let by_list = calls.cost(CallEvent::Start, 0).to_fetch.context("no fetch")?;
    bench.driver.write("LIST_COUNT", 0)?;
    // A run that follows by AUTO_RESTART, with queries of its own and with those that are there.
    let mut gaps = Vec::new();
    for streams in [1, 0] {
        bench.driver.clear()?;
        bench.driver.enable(Notice::Interrupt)?;
        bench.load(&job)?;
        bench.push(&job)?;
        bench.driver.device.time_calls();
        bench.driver.write("CTRL", AGAIN)?;
        bench.push(&job)?;
        bench.driver.write("QUERY_STREAMS", streams)?;
        let outcome = bench.driver.wait(Notice::Interrupt, MOST, &mut |_| false)?;
        ensure!(bench.take(&job, outcome).bit_exact(), "outputs of the first run differ");
        bench.driver.write("CTRL", 0)?;
        let outcome = bench.driver.wait(Notice::Interrupt, MOST, &mut |_| false)?;
        ensure!(bench.take(&job, outcome).bit_exact(), "outputs of the second run differ");
        let calls = bench.driver.device.take_calls().context("they were recorded")?;
        gaps.push(calls.cost(CallEvent::Done, 0).to_fetch.context("no second run")?);
    }
    let to_fetch: Vec<u64> = costs.iter().filter_map(|cost| cost.to_fetch).collect();
    let to_done = costs.iter().filter_map(|cost| cost.to_done).max().context("no end")?;
    let goal = |value: u64, goal: u64| at_most(value as f64, goal as f64, format!("{goal} cycles"));
    let figure = |what: &str, value: u64, goal: Goal| Figure {
        what: format!("`u280_4x8`, B = 1: {what}"),
        value: format!("{value} cycles"),
        goal,
        command: "cargo bench --bench figures -- calls".to_owned(),
    };
    Ok(vec![
        figure(
            "start to the first address of KV, all arguments new",
            to_fetch[0],
            goal(to_fetch[0], GOALS[0]),
        ),
        figure("the same, arguments as before", to_fetch[1], goal(to_fetch[1], GOALS[0])),
        figure(
            "start to the first address of KV, a descriptor by a list whose address is new",
            by_list,
            goal(by_list, GOALS[0]),
        ),
        figure("last beat of outputs to the interrupt", to_done, goal(to_done, GOALS[1])),
        figure(
            "interrupt to the first address of the next run (AUTO_RESTART), which keeps the queries",
            gaps[1],
            goal(gaps[1], GOALS[2]),
        ),
        figure("the same, the next run has queries of its own", gaps[0], Goal::Stated),
    ])
}
