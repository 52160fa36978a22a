//! `meshkv run`: attention of a decode step, computed by the emitted design under Verilator, or by its model.

mod args;
mod device;
mod report;

pub use args::Args;

use super::cosim::Engine;
use super::interrupt::Interrupt;
use super::library::library;
use super::pictures::Pictures;
use super::ui::Ui;
use super::whole_file;
use crate::cosim::attention::{Attended, AttentionError, Bench, Job};
use crate::cosim::memory::Behaviour;
use crate::eval::{self, AttentionRow};
use anyhow::Context;
use safetensors::tensor::{Dtype, TensorView};
use std::process::ExitCode;

/// What registers hold before the reset; any value must do.
const POWER_UP_SEED: u64 = 1;
/// Cycles of each tile that the timeline keeps.
const TIMELINE: usize = 1 << 20;

/// Why there is no result.
enum Ended {
    /// By the user.
    Stopped,
    /// By itself.
    Failed(String),
}

/// Runs the subcommand. Exit code 1 if an output differs from the model of the datapath in a bit, or anything went wrong.
///
/// # Errors
/// A wrong configuration or tensors, a missing tool, a file that cannot be written, or Ctrl-C.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        args.jitter == 0 || args.engine == Engine::Rtl,
        "--jitter is {}, and the model has edges where they belong\n  help: leave out --engine model",
        args.jitter
    );
    let (design, tensors) = args.inputs(ui)?;
    let job = Job::new(&design, &tensors, (args.query, args.batch), args.mapping(), args.sharing())?;
    let interrupt = Interrupt::listen()?;
    let pictures = args.plot.as_deref().map(Pictures::open).transpose()?;
    args.output.as_deref().map(whole_file::check).transpose()?;
    if let Some(path) = &args.wave {
        whole_file::check(path).context("--wave needs a file that can be written")?;
    }
    let behaviour = Behaviour { seed: args.seed, ..Behaviour::of(&design) };
    let behaviour = if args.unruly_memory { behaviour.unruly(args.seed) } else { behaviour };
    let timeline = if pictures.is_some() { TIMELINE } else { 0 };
    let heads = u64::from(design.config.model.heads * args.batch);
    let mut accesses = None;
    let result = if args.device {
        let mut device = device::bench(args, &job, behaviour, &interrupt, ui)?;
        let progress = ui.progress(Some(heads), "attending");
        let result = device::attend(&mut device, args, &job, timeline, &mut |outputs| {
            progress.set(outputs);
            interrupt.requested()
        });
        accesses = Some(device.driver.device.accesses());
        result
    } else {
        let mut bench = bench(args, &job, behaviour, &interrupt, ui)?;
        if let Some(path) = &args.wave {
            bench.wave_start(path)?;
        }
        let progress = ui.progress(Some(heads), "attending");
        let result = bench.run(timeline, args.stall, &mut |outputs| {
            progress.set(outputs as u64);
            interrupt.requested()
        });
        result.map_err(|why| match why {
            AttentionError::Stopped => Ended::Stopped,
            failed => Ended::Failed(failed.to_string()),
        })
    };
    let done = match result {
        Ok(done) => done,
        Err(Ended::Stopped) => {
            let waves =
                args.wave.as_ref().map(|path| format!("; waves until then are in {}", path.display()));
            let what = format!("while attending; no result{}", waves.unwrap_or_default());
            return interrupt.explain(Err(AttentionError::Stopped.into()), &what);
        }
        Err(Ended::Failed(why)) => {
            ui.error(format_args!("{why}"));
            return Ok(ExitCode::FAILURE);
        }
    };
    if let Some(path) = &args.wave {
        ui.note(format_args!("wrote {}", path.display()));
    }
    let row = AttentionRow::new(&job, &done);
    if let Some(pictures) = &pictures {
        let title = format!("{}: {}", design.name, args.title(&job));
        pictures.write(&[("timeline", eval::timeline(&title, &design, &done)?)], ui)?;
    }
    if let Some(path) = &args.output {
        whole_file::write(path, &outputs(&job, &done)?, true)?;
        ui.note(format_args!("wrote {}", path.display()));
    }
    ui.result(&report::as_json(args, &job, &row, accesses), || report::prose(&job, &row, accesses))?;
    Ok(if row.bit_exact != Some(false) && row.violations.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What the job runs on, as it was asked for.
fn bench<'a>(
    args: &Args,
    job: &'a Job<'a>,
    behaviour: Behaviour,
    interrupt: &Interrupt,
    ui: &Ui,
) -> anyhow::Result<Bench<'a>> {
    let clocks = args.clocks(job.design);
    if args.engine == Engine::Model {
        return Ok(Bench::on_model(job, behaviour, clocks, !args.timing)?);
    }
    let (form, length) = args.build(job);
    let built = library(job.design, form, length, interrupt, ui);
    let library = interrupt.explain(built, "while the design was built; nothing is left of it")?;
    let open = if args.lockstep { Bench::in_lockstep } else { Bench::with_clocks };
    Ok(open(&library, job, behaviour, POWER_UP_SEED, clocks)?)
}

/// The outputs as safetensors: `attention`, F16 of shape `[heads, streams, head_dim]`.
fn outputs(job: &Job, done: &Attended) -> anyhow::Result<Vec<u8>> {
    let model = &job.design.config.model;
    let order = (0..model.heads).flat_map(|head| (0..job.streams).map(move |stream| (stream, head)));
    let elements = order.flat_map(|of| done.outputs[&of].iter().copied());
    let bytes: Vec<u8> = elements.flat_map(u16::to_le_bytes).collect();
    let shape = vec![model.heads as usize, job.streams as usize, job.tensors.head_dim];
    let view = TensorView::new(Dtype::F16, shape, &bytes)?;
    Ok(safetensors::serialize([("attention", view)], None)?)
}
