//! `meshkv run --trace`: requests that join and leave the batch, step by step over the pages of the cache.

mod args;
mod report;

pub use args::TraceArgs;
pub(in crate::cli) use report::TraceOutput;

use crate::cli::load::load;
use crate::cli::output::pictures::Pictures;
use crate::cli::output::ui::Ui;
use crate::cli::simulate::ports::Verilog;
use crate::cli::simulate::reported::ended::Ended;
use crate::cli::simulate::run::args::Args;
use crate::cli::simulate::run::device;
use crate::cli::simulate::run::output::RunOutput;
use crate::cli::simulate::run::steps::{mapping, Simulation, Work};
use crate::cosim::memory::Behaviour;
use crate::cosim::workloads::attention::Bench;
use crate::cosim::workloads::requests::{kv_bytes, runs, Batching, OneRun, Rules, Stream};
use crate::cosim::workloads::steps::{Difference, Stepped};
use crate::design::{Design, LayerKind};
use crate::eval::report::{Figure, RunPage};
use crate::eval::{batching_plots, BatchingLog, BatchingRow, StepsLog};
use crate::tools::interrupt::Interrupt;
use args::Trace;
use std::process::ExitCode;

/// Runs on a design, with what they gave so far.
struct Runs<'a> {
    args: &'a Args,
    design: &'a Design,
    behaviour: &'a Behaviour,
    verilog: &'a Verilog<'a>,
    log: StepsLog,
    memory: Option<Difference>,
    /// Runs so far.
    count: u64,
}

/// Runs the subcommand with `--trace`. Exit code 1 as with `--steps`.
///
/// # Errors
/// A wrong configuration or trace, a missing tool, a file that cannot be written, or Ctrl-C.
pub(super) fn run(args: &Args, trace: &Trace, ui: &Ui) -> anyhow::Result<ExitCode> {
    let (design, _) = load(&args.config, ui)?;
    let design = design.without_refresh(args.no_refresh);
    let Some(rules) = Rules::of(&design) else {
        anyhow::bail!(
            "--trace needs a cache in pages, to which tokens are appended: {} has kv.append = {} and kv.pages = {}\n  help: set \
             both to true; `meshkv init --preset llama-3-8b` writes such a configuration",
            args.config.display(),
            design.append.is_some(),
            design.pages.is_some()
        );
    };
    let requests = args.trace.read(trace, args.seed, &rules)?;
    ui.made_from(&design.name, design.config_sha256());
    ui.seeded(Some(args.seed));
    let interrupt = Interrupt::listen()?;
    let pictures = args.plot.as_deref().map(Pictures::open).transpose()?;
    let behaviour = args.behaviour(&design);
    let attended = requests.iter().map(|one| u64::from(one.prompt) * u64::from(one.output)).sum();
    let (form, length) = args.build_of(&design, attended);
    let verilog =
        Verilog { design: &design, form, length, cache: None, seed: args.seed, interrupt: &interrupt, ui };
    let outputs: u64 = requests.iter().map(|one| u64::from(one.output)).sum();
    let progress = ui.progress(Some(outputs), "decoding");
    let (mut log, mut batching) = (BatchingLog::default(), Batching::new(rules, &requests));
    let mut runs = Runs {
        args,
        design: &design,
        behaviour: &behaviour,
        verilog: &verilog,
        log: StepsLog::default(),
        memory: None,
        count: 0,
    };
    let (mut step, mut rate) = (0, f64::NAN);
    while args.grow.steps.is_none_or(|most| step < most) {
        let Some(streams) = batching.step() else { break };
        let (count, simulated) = (streams.len(), step % args.trace.every == 0);
        let kv_bytes = bytes(&design, streams);
        if simulated {
            match runs.step(streams) {
                Ok(us) => rate = us / kv_bytes as f64,
                Err(ended) => return ended.explain("decoding", &args.carrier, &verilog, |_| None),
            }
        }
        let us = rate * kv_bytes as f64;
        log.add(&design, &batching, count, (us, kv_bytes), simulated);
        batching.over(us / 1e6);
        step += 1;
        progress.set(batching.counts().decoded);
        progress.message(format!("step {step}: {count} of {} requests in the batch", requests.len()));
    }
    drop(progress);
    let numbers = runs.log.row(&[], runs.memory.as_ref());
    let row = log.row(requests.len(), &batching, &rules, numbers);
    let output = TraceOutput::new(args, trace, &row);
    if let Some(pictures) = &pictures {
        pictures.write_page(&page(&design, &row, output.command())?, ui)?;
    }
    ui.result(&RunOutput::Trace(output), || report::prose(&design, args.trace.every, &row))?;
    Ok(if row.runs.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Bytes of K and V that a step needs in all layers.
fn bytes(design: &Design, streams: &[Stream]) -> u64 {
    let of_kind = |(kind, layers, _): (LayerKind, u32, u32)| {
        let runs = runs(streams, design.model.max_streams, kind);
        u64::from(layers) * runs.iter().map(|run| kv_bytes(design, kind, run)).sum::<u64>()
    };
    design.layer_kinds().into_iter().map(of_kind).sum()
}

impl Runs<'_> {
    /// Runs a step in a layer of each kind. Returns the microseconds of all layers.
    fn step(&mut self, streams: &[Stream]) -> Result<f64, Ended> {
        let mut cycles = 0;
        for (kind, layers, first) in self.design.layer_kinds() {
            for streams in runs(streams, self.design.model.max_streams, kind) {
                cycles += u64::from(layers) * self.run(&OneRun::new(self.design, first, &streams))?;
            }
        }
        Ok(cycles as f64 / self.design.clock.noc_mhz)
    }

    /// Runs one. Returns its cycles until its new tokens are in memory.
    fn run(&mut self, run: &OneRun) -> Result<u64, Ended> {
        let Runs { args, verilog, behaviour, .. } = *self;
        let count = self.count;
        self.count += 1;
        let seed = args.seed.wrapping_add(count);
        let tensors = run.tensors((!args.timing).then_some((seed, args.logits)));
        let tensors = if args.timing { tensors } else { args.sunk(&run.design, tensors) };
        let (mapping, _) = mapping(args, &run.design, &run.schedule, &tensors)?;
        let work = Work {
            args,
            design: &run.design,
            schedule: &run.schedule,
            tensors: &tensors,
            mapping,
            behaviour: behaviour.clone(),
        };
        let simulation = if args.device {
            Simulation::Device(Box::new(device::bench(args, &run.design, None, behaviour.clone(), verilog)?))
        } else if args.carrier.is_model() {
            Simulation::Model
        } else {
            Simulation::Core(verilog.open(&args.carrier, &Bench::ports(self.design), Bench::model)?)
        };
        let (log, mut cycles) = (&mut self.log, 0);
        let (_, memory) = work.decode(simulation, &mut || verilog.interrupt.requested(), &mut |stepped| {
            cycles += stepped.done.query_cycles + stepped.done.cycles + stepped.done.settle_cycles;
            log.add(&Stepped { step: count as u32, ..stepped });
        })?;
        self.memory = match (self.memory, memory) {
            (Some(all), Some(one)) => Some(all.and(&one)),
            (all, one) => all.or(one),
        };
        Ok(cycles)
    }
}

/// The page of `--plot`.
fn page(design: &Design, row: &BatchingRow, command: &str) -> anyhow::Result<RunPage> {
    let title = format!("{}: {} requests in {} steps", design.name, row.requests, row.steps);
    let [memory, requests] = batching_plots(&title, row, design.placement.segment_tokens)?;
    let figures = vec![
        Figure::new(
            "memory",
            memory,
            "What each step takes of the memory's rate, and what its pages hold.".to_owned(),
        ),
        Figure::new(
            "requests",
            requests,
            "Requests in the batch of each step, and those that wait for pages.".to_owned(),
        ),
    ];
    Ok(RunPage { title, command: command.to_owned(), figures, ..RunPage::default() })
}
