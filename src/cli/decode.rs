//! `meshkv decode`: a decode step, or a stated sample of one, on the emitted fabric under Verilator or on its model.

mod args;
mod report;

pub use args::Args;
pub(super) use report::DecodeOutput;

use super::energy;
use super::interrupt::Interrupt;
use super::pictures::Pictures;
use super::ports::Verilog;
use super::ui::Ui;
use super::views::Views;
use crate::config::Engine;
use crate::cosim::build::{BuildForm, LONG_RUN};
use crate::cosim::dut::DutError;
use crate::cosim::workloads::decode::{flits_of_step, step_of, Bench, DecodeError, Plan, Progress};
use crate::design::{Choice, Design};
use crate::eval::report::{Figure, RunPage};
use crate::eval::{self, DecodeRow, DEFAULT_TIER};
use std::process::ExitCode;

/// Form of the build.
const FORM: BuildForm = BuildForm::FabricPieces;

/// Runs the subcommand. Exit code 1 if the fabric did anything wrong.
///
/// # Errors
/// A wrong configuration or workload, a missing tool, a folder that cannot be written, or Ctrl-C.
pub(super) fn run(args: &Args, default: Engine, ui: &Ui) -> anyhow::Result<ExitCode> {
    let mut args = args.clone();
    args.carrier = args.carrier.decided(default);
    let args = &args;
    let table = energy::table(args.energy.as_deref())?;
    let (design, _) = super::load::load(&args.config, ui)?;
    let design = match &args.tier {
        Some(tier) => energy::with_tier(design, table.tier(tier)?)?,
        None => design,
    };
    let design = design.without_refresh(args.no_refresh);
    ui.made_from(&design.name, design.config_sha256());
    ui.seeded(Some(args.seed));
    let tier = args.tier.as_deref().unwrap_or(DEFAULT_TIER);
    let (energies, sources) = (table.energies(tier)?, table.sources(tier)?);
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
    let plan = args.plan(Plan::new(&design, made.descriptors.clone(), args.seed));
    let interrupt = Interrupt::listen()?;
    let pictures = args.plot.as_deref().map(Pictures::open).transpose()?;
    let due = flits_of_step(&design, &plan.descriptors) * u64::from(plan.steps);
    let length = args.carrier.length(due, LONG_RUN);
    let verilog = Verilog { design: &design, form: FORM, length, cache: None, interrupt: &interrupt, ui };
    let _views = args.carrier.waves().map(|path| Views::of(path.to_owned(), &design, ui));
    let bench = if args.carrier.is_model() {
        Bench::on_model(&design)
    } else {
        Bench::on(verilog.open(&args.carrier, &Bench::ports(&design), Bench::model)?, &design)?
    };
    let progress = ui.progress(Some(due), "decoding");
    let result = bench.run(&plan, &mut |done| {
        progress.set(done.flits);
        interrupt.requested()
    });
    drop(progress);
    match result {
        Ok(done) => {
            let row = DecodeRow::priced(&design, &made, &plan, &done, (load.batch, energies));
            if let Some(pictures) = &pictures {
                let links = heatmap(&args.title(&load), &design, &done)?;
                let caption =
                    "Flits a cycle of each directed link, and in the tiles KV flits a cycle, over the run.";
                pictures.write_page(
                    &RunPage {
                        title: format!("{}: decode steps", design.name),
                        subtitle: args.title(&load),
                        command: args.command(&load),
                        warnings: Vec::new(),
                        figures: vec![Figure::new("link-utilisation", links, caption.to_owned())],
                        tables: Vec::new(),
                    },
                    ui,
                )?;
            }
            args.carrier.note_waves(ui);
            let output =
                DecodeOutput::new(args, (&load, &streams), chosen, made.cache_bytes, (&row, &sources));
            ui.result(&output, || {
                report::prose(chosen, (&row, &sources), args.more_even(&design, &load, &streams))
            })?;
            Ok(if row.violations == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Err(DecodeError::Stopped) => {
            let what = format!("while decoding; no result{}", args.carrier.waves_until_then());
            interrupt.explain(Err(DecodeError::Stopped.into()), &what)
        }
        Err(DecodeError::Dut(DutError::Differ(difference))) => {
            let mut stop = |_: Progress| interrupt.requested();
            let again = |socket| match Bench::on(socket, &design).map(|bench| bench.run(&plan, &mut stop)) {
                Ok(Err(DecodeError::Dut(end))) | Err(end) => Some(end),
                Ok(_) => None,
            };
            verilog.differs(&difference, &args.carrier, again)?;
            Ok(ExitCode::FAILURE)
        }
        Err(failed) => {
            ui.error(format_args!("{failed}"));
            Ok(ExitCode::FAILURE)
        }
    }
}

fn heatmap(
    of: &str,
    design: &Design,
    done: &crate::cosim::workloads::decode::Decoded,
) -> anyhow::Result<String> {
    let title = format!("{}, {} x {}", design.name, design.mesh.cols(), design.mesh.rows());
    eval::heatmap(&title, of, design.mesh, &eval::link_row(design, done))
}
