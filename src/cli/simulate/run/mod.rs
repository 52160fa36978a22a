//! `meshkv run`: attention of a decode step, computed by the emitted design under Verilator, or by its model.

mod args;
mod called;
mod core;
mod device;
mod faulted;
mod output;
mod report;
mod steps;
mod trace;
mod vectors;

pub use args::Args;
pub(in crate::cli) use args::SCOPES;
pub(in crate::cli) use output::RunOutput;

use crate::cli::output::diagnostics::junit;
use crate::cli::output::pictures::Pictures;
use crate::cli::output::ui::Ui;
use crate::cli::output::views::Views;
use crate::cli::simulate::ports::Verilog;
use crate::cli::simulate::reported::ended::Ended;
use crate::config::Engine;
use crate::cosim::memory::Behaviour;
use crate::cosim::workloads::attention::{AttentionResult, Bench, Job};
use crate::design::device::registers::DESC_QUEUE;
use crate::eval::report::{Figure, RunPage};
use crate::eval::{self, AttentionRow, PartialsRow};
use crate::tools::interrupt::Interrupt;
use crate::tools::whole_file;
use report::AttentionOutput;
use safetensors::tensor::{Dtype, TensorView};
use std::process::ExitCode;

/// Cycles of each tile that the timeline keeps.
const TIMELINE: usize = 1 << 20;

/// Runs the subcommand. Exit code 1 if an output differs from the model of the datapath in a bit, a logit is beyond the
/// range of the datapath, or anything went wrong.
///
/// # Errors
/// A wrong configuration or tensors, a missing tool, a file that cannot be written, or Ctrl-C.
pub(in crate::cli) fn run(args: &Args, default: Engine, ui: &Ui) -> anyhow::Result<ExitCode> {
    junit::recorded(args.junit.as_deref(), &args.files(), "meshkv run", ui, || attention(args, default, ui))
}

fn attention(args: &Args, default: Engine, ui: &Ui) -> anyhow::Result<ExitCode> {
    let mut args = args.clone();
    args.carrier = args.carrier.decided(default);
    let args = &args;
    args.timing_fits()?;
    if let Some(of) = &args.trace.trace {
        return trace::run(args, of, ui);
    }
    if args.grow.steps.is_some() {
        return steps::run(args, ui);
    }
    let (design, tensors) = args.inputs(ui)?;
    let design = design.without_refresh(args.no_refresh);
    ui.made_from(&design.name, design.config_sha256());
    ui.seeded(Some(args.seed));
    let (job, chosen) = args.job(&design, &tensors)?;
    fits(args, &job)?;
    let chosen = chosen.as_ref();
    let interrupt = Interrupt::listen()?;
    let pictures = args.plot.as_deref().map(Pictures::open).transpose()?;
    writable(args)?;
    let folder = args.vectors.as_deref().map(vectors::Folder::open).transpose()?;
    let behaviour = args.behaviour(&design);
    let timeline = if pictures.is_some() { TIMELINE } else { 0 };
    let (form, length) = args.build(&job);
    let verilog =
        Verilog { design: &design, form, length, cache: None, seed: args.seed, interrupt: &interrupt, ui };
    let _views = args.carrier.waves().map(|path| Views::of(path.to_owned(), &design, ui));
    if args.fault.any() {
        return faulted::run(args, &job, &behaviour, &verilog);
    }
    let mut accesses = None;
    let mut call = None;
    let done = match attend(args, &job, &behaviour, &verilog, timeline, &mut accesses) {
        Ok(done) => done,
        Err(ended) => return explain(ended, args, &job, &behaviour, &verilog),
    };
    if let Some(path) = &args.host_model {
        match called::call(args, path, &job, &behaviour, &verilog, &done) {
            Ok(done) => call = Some(done),
            Err(ended) => return explain(ended, args, &job, &behaviour, &verilog),
        }
    }
    args.carrier.note_waves(ui);
    let row = AttentionRow::new(&job, &done);
    let mut parts = Vec::new();
    for rows in args.partials.map(|cards| job.ranges(cards)).unwrap_or_default() {
        let part = job.part(rows);
        match attend(args, &part, &behaviour, &verilog, 0, &mut accesses) {
            Ok(done) => parts.push((part, done)),
            Err(ended) => return explain(ended, args, &part, &behaviour, &verilog),
        }
    }
    let partials = args.partials.map(|_| PartialsRow::new(&job, &done, &row, &parts));
    if let Some(pictures) = &pictures {
        pictures.write_page(&page(args, &job, &done)?, ui)?;
    }
    if let Some(path) = &args.output {
        whole_file::write(path, &outputs(&job, &done)?, true)?;
        ui.note(format_args!("wrote {}", path.display()));
    }
    if let Some(path) = &args.save_tensors {
        whole_file::write(path, &tensors.to_safetensors(0)?, true)?;
        ui.note(format_args!("wrote {}", path.display()));
    }
    if let Some(folder) = &folder {
        folder.write(&job, &done.outputs, ui)?;
    }
    let told = call.as_ref().map(called::CallOutput::prose).unwrap_or_default();
    let output = AttentionOutput::new(args, &job, chosen, (&row, &done), partials.as_ref(), accesses, call);
    ui.result(&RunOutput::Attention(output), || {
        report::prose(&job, chosen, &row, partials.as_ref(), accesses) + &told
    })?;
    Ok(if checked(&row, partials.as_ref(), ui) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Checks that the files can be written.
fn writable(args: &Args) -> anyhow::Result<()> {
    for path in [&args.output, &args.save_tensors].into_iter().flatten() {
        whole_file::spares(path, &args.files())?;
        whole_file::check(path)?;
    }
    anyhow::ensure!(
        args.output.is_none() || args.output != args.save_tensors,
        "--output and --save-tensors name the same file\n  help: give two names"
    );
    Ok(())
}

/// Checks that the options fit the job.
fn fits(args: &Args, job: &Job) -> anyhow::Result<()> {
    let (tokens, descriptors) = (job.rows.end - job.rows.start, job.descriptors()?.len());
    anyhow::ensure!(
        args.partials.is_none_or(|cards| cards <= tokens),
        "--partials is {}, and there are {tokens} tokens: each card needs one\n  help: choose at most {tokens}",
        args.partials.unwrap_or_default()
    );
    anyhow::ensure!(
        !args.device || descriptors <= DESC_QUEUE as usize,
        "a run has {descriptors} descriptors, and the queue of the device takes {DESC_QUEUE}\n  \
         help: give --lengths of {DESC_QUEUE} streams at most, or leave --device out"
    );
    Ok(())
}

/// The page of `--plot`.
fn page(args: &Args, job: &Job, done: &AttentionResult) -> anyhow::Result<RunPage> {
    let title = format!("{}: {}", job.design.name, args.title(job));
    let caption =
        "Activity of the stages of the busiest tile over time: the whole run, and its first slices.";
    let figure = Figure::new("timeline", eval::timeline(&title, job.design, done)?, caption.to_owned());
    Ok(RunPage { title, command: args.command(job), figures: vec![figure], ..RunPage::default() })
}

/// Names what was checked; true if nothing failed.
fn checked(row: &AttentionRow, partials: Option<&PartialsRow>, ui: &Ui) -> bool {
    let differing = (row.bit_exact == Some(false)).then(|| {
        format!("{} of {} outputs differ from the model of the datapath", row.differing, row.outputs)
    });
    let lines = |lines: Vec<String>| (!lines.is_empty()).then(|| lines.join("\n"));
    let mut checks = vec![
        ("no promise is broken", lines(row.violations.iter().map(ToString::to_string).collect())),
        ("no logit is beyond the range", lines(row.saturated.iter().map(ToString::to_string).collect())),
    ];
    if row.bit_exact.is_some() {
        checks.push(("every output equals the model of the datapath", differing));
    }
    if let Some(partials) = partials {
        let wrong =
            (!partials.is_good()).then(|| "the merged outputs differ, or exceed their bound".to_owned());
        checks.push(("merged partial results are within their bound", wrong));
    }
    let right = checks.iter().all(|(_, failure)| failure.is_none());
    checks.into_iter().for_each(|(name, failure)| ui.checked(name, failure));
    right
}

/// Runs a job, and counts `accesses` to registers if it runs on a device.
fn attend(
    args: &Args,
    job: &Job,
    behaviour: &Behaviour,
    verilog: &Verilog,
    timeline: usize,
    accesses: &mut Option<u64>,
) -> Result<AttentionResult, Ended> {
    let heads = u64::from(job.design.model.heads * job.streams);
    let (ui, interrupt) = (verilog.ui, verilog.interrupt);
    if args.device {
        let mut device = device::bench(args, job.design, Some(job), behaviour.clone(), verilog)?;
        let progress = ui.progress(Some(heads), "attending");
        let result = device::attend(&mut device, args, job, timeline, &mut |outputs| {
            progress.set(outputs);
            interrupt.requested()
        });
        *accesses = Some(accesses.unwrap_or(0) + device.driver.device.accesses());
        return result;
    }
    let bench = core::bench(args, job, behaviour.clone(), verilog)?;
    let progress = ui.progress(Some(heads), "attending");
    let mut stop = |outputs| {
        progress.set(outputs as u64);
        interrupt.requested()
    };
    Ok(bench.run(timeline, args.stall, &mut stop)?)
}

/// Says why a run of a job has no result.
fn explain(
    ended: Ended,
    args: &Args,
    job: &Job,
    behaviour: &Behaviour,
    verilog: &Verilog,
) -> anyhow::Result<ExitCode> {
    ended.explain("attending", &args.carrier, verilog, |socket| {
        let bench = Bench::on(socket, job, behaviour.clone(), args.clocks(job.design));
        let run = |bench: Bench| bench.run(0, args.stall, &mut |_| verilog.interrupt.requested());
        bench.map_err(Ended::from).and_then(|bench| run(bench).map_err(Ended::from)).err()
    })
}

/// The outputs as safetensors: `attention`, F16 of shape `[heads, streams, head_dim]`.
fn outputs(job: &Job, done: &AttentionResult) -> anyhow::Result<Vec<u8>> {
    let model = &job.design.model;
    let order = (0..model.heads).flat_map(|head| (0..job.streams).map(move |stream| (stream, head)));
    let elements = order.flat_map(|of| job.tensors.of_model(&done.outputs[&of]));
    let bytes: Vec<u8> = elements.flat_map(u16::to_le_bytes).collect();
    let shape = vec![model.heads as usize, job.streams as usize, job.tensors.model_dim];
    let view = TensorView::new(Dtype::F16, shape, &bytes)?;
    Ok(safetensors::serialize([("attention", view)], None)?)
}
