//! `meshkv decode`: a decode step, or a stated sample of one, on the emitted fabric under Verilator.

mod args;
mod report;

pub use args::Args;

use super::cosim::Engine;
use super::interrupt::Interrupt;
use super::library::library;
use super::pictures::Pictures;
use super::ui::Ui;
use crate::cosim::decode::{flits_of_step, step, Bench, DecodeError, Plan};
use crate::cosim::verilate::{Form, RunLength};
use crate::design::Design;
use crate::eval::{self, DecodeRow};
use std::process::ExitCode;

/// What registers hold before the reset; any value must do.
const POWER_UP_SEED: u64 = 1;

/// Flits that tiles take from which the better optimised build is worth its longer compilation.
const LONG_RUN: u64 = 400_000;

/// What is verilated.
const FORM: Form = Form::Pieces;

/// Runs the subcommand. Exit code 1 if the fabric did anything wrong.
///
/// # Errors
/// A wrong configuration or workload, a missing tool, a folder that cannot be written, or Ctrl-C.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let (design, _) = super::load(&args.config, ui)?;
    let load = args.workload(&design)?;
    let made = step(&design, &load)?;
    let plan = args.plan(Plan::new(&design, made.descriptors.clone(), args.seed));
    let interrupt = Interrupt::listen()?;
    let pictures = args.plot.as_deref().map(Pictures::open).transpose()?;
    let due = flits_of_step(&design, &plan.descriptors) * u64::from(plan.steps);
    let length = if due >= LONG_RUN { RunLength::Long } else { RunLength::Quick };
    let bench = if args.engine == Engine::Model {
        Bench::on_model(&design)
    } else {
        let built = library(&design, FORM, length, &interrupt, ui);
        let library = interrupt.explain(built, "while the fabric was built; nothing is left of it")?;
        let open = if args.lockstep { Bench::in_lockstep } else { Bench::new };
        open(&library, &design, POWER_UP_SEED)?
    };
    let progress = ui.progress(Some(due), "decoding");
    let result = bench.run(&plan, &mut |done| {
        progress.set(done.flits);
        interrupt.requested()
    });
    drop(progress);
    match result {
        Ok(done) => {
            let row = DecodeRow::new(&design, &made, &plan, &done, load.batch);
            if let Some(pictures) = &pictures {
                pictures.write(&[("link-utilisation", heatmap(args, &design, &done)?)], ui)?;
            }
            ui.result(&report::as_json(args, &load, &row), || report::prose(&row))?;
            Ok(if row.violations == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Err(DecodeError::Stopped) => {
            interrupt.explain(Err(DecodeError::Stopped.into()), "while decoding; no result")
        }
        Err(failed) => {
            ui.error(format_args!("{failed}"));
            Ok(ExitCode::FAILURE)
        }
    }
}

fn heatmap(args: &Args, design: &Design, done: &crate::cosim::decode::Decoded) -> anyhow::Result<String> {
    let title = format!("{}, {} x {}", design.name, design.mesh.cols(), design.mesh.rows());
    eval::heatmap(&title, &args.title(), design.mesh, &eval::link_row(design, done))
}
