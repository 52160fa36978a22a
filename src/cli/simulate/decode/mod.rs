//! `meshkv decode`: a decode step, or a stated sample of one, on the emitted fabric under Verilator or on its model.

mod args;
mod faulted;
mod report;

pub use args::Args;
pub(in crate::cli) use report::{DecodeOutput, DecodePrinted};

use crate::cli::compare::energy;
use crate::cli::output::pictures::Pictures;
use crate::cli::output::ui::Ui;
use crate::cli::output::views::Views;
use crate::cli::simulate::ports::Verilog;
use crate::cli::simulate::reported::ended::Ended;
use crate::config::Engine;
use crate::cosim::build::{BuildForm, LONG_RUN};
use crate::cosim::workloads::decode::{flits_of_step, step_of, Bench, Decoded, Plan, Progress};
use crate::design::Choice;
use crate::eval::{DecodeRow, DEFAULT_TIER};
use crate::tools::interrupt::Interrupt;
use std::process::ExitCode;

/// Runs the subcommand. Exit code 1 if the fabric did anything wrong.
///
/// # Errors
/// A wrong configuration or workload, a missing tool, a folder that cannot be written, or Ctrl-C.
pub(in crate::cli) fn run(args: &Args, default: Engine, ui: &Ui) -> anyhow::Result<ExitCode> {
    let mut args = args.clone();
    args.carrier = args.carrier.decided(default);
    let args = &args;
    let table = energy::table(args.energy.as_deref())?;
    let (design, _) = crate::cli::load::load(&args.config, ui)?;
    let design = match &args.tier {
        Some(tier) => energy::with_tier(design, table.tier(tier)?)?,
        None => design,
    };
    let design = design.without_refresh(args.no_refresh);
    ui.made_from(&design.name, design.config_sha256());
    ui.seeded(Some(args.seed));
    let tier = args.tier.as_deref().unwrap_or(DEFAULT_TIER);
    let (energies, sources) = (table.energies(tier, design.pe.format)?, table.sources(tier)?);
    let (mut load, streams) = args.workload(&design)?;
    let mut made = step_of(&design, &load, &streams)?;
    let chosen = args.mapping().is_none().then(|| Choice::new(&design, &made.descriptors));
    if let Some(choice) = &chosen {
        load.mapping = choice.mapping;
        made = step_of(&design, &load, &streams)?;
    }
    let chosen = chosen.as_ref();
    if let Some(beyond) = args.beyond_capacity(&design, &load, made.cache_bytes) {
        ui.note(beyond);
    }
    args.fault.fit(&design, false, args.carrier.has_model())?;
    let plan = args.plan(Plan::new(&design, made.descriptors.clone(), args.seed));
    let plan = Plan { flip: args.fault.flip(&design), ..plan };
    let interrupt = Interrupt::listen()?;
    let pictures = args.plot.as_deref().map(Pictures::open).transpose()?;
    let due = flits_of_step(&design, &plan.descriptors) * u64::from(plan.steps);
    let length = args.carrier.length(due, LONG_RUN);
    let form = if args.whole { BuildForm::WholeFabric } else { BuildForm::FabricPieces };
    let verilog =
        Verilog { design: &design, form, length, cache: None, seed: args.seed, interrupt: &interrupt, ui };
    let _views = args.carrier.waves().map(|path| Views::of(path.to_owned(), &design, ui));
    let bench = if args.carrier.is_model() {
        Bench::on_model(&design)
    } else {
        Bench::on(verilog.open(&args.carrier, &Bench::ports(&design), Bench::model)?, &design)?
    };
    let progress = ui.progress(Some(due), "decoding");
    let result = bench.run_through(&plan, &mut |done| {
        progress.set(done.flits);
        interrupt.requested()
    });
    drop(progress);
    if args.fault.any() {
        let row = |done: &Decoded| DecodeRow::priced(&design, &made, &plan, done, (load.batch, energies));
        return faulted::report(args, &load, result, &row, (pictures.as_ref(), &design, ui, &interrupt));
    }
    let done = match result.and_then(Decoded::trusted).map_err(Ended::from) {
        Ok(done) => done,
        Err(ended) => {
            return ended.explain("decoding", &args.carrier, &verilog, |socket| {
                let mut stop = |_: Progress| interrupt.requested();
                let bench = Bench::on(socket, &design).map_err(Ended::from);
                bench.and_then(|bench| bench.run(&plan, &mut stop).map_err(Ended::from)).err()
            });
        }
    };
    let row = DecodeRow::priced(&design, &made, &plan, &done, (load.batch, energies));
    if let Some(pictures) = &pictures {
        pictures.write_page(&report::page(args, &load, &design, &done)?, ui)?;
    }
    args.carrier.note_waves(ui);
    let output = DecodeOutput::new(
        args,
        (&load, &streams),
        chosen,
        made.cache_bytes,
        (&row, &sources, done.reached.as_ref()),
    );
    ui.result(&DecodePrinted::Steps(Box::new(output)), || {
        report::prose(chosen, (&row, &sources), args.more_even(&design, &load, &streams))
    })?;
    Ok(if row.violations == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
