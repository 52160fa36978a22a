//! `meshkv cosim`: the emitted fabric under Verilator, loaded with traffic and measured.

mod args;
mod fabric;
mod report;

pub use args::Args;

use super::ui::Ui;
use crate::cosim::dut::Dut;
use crate::cosim::packet::Packet;
use crate::cosim::run::RunError;
use crate::cosim::trace;
use crate::cosim::traffic::{Generator, Traffic};
use crate::design::Design;
use crate::eval::{self, MeasureError, Row, Setup, Sweep};
use anyhow::Context;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// What the command line asks for, read and checked before anything is built.
enum Job {
    One(Traffic),
    Sweep(Traffic, (f64, f64)),
    Trace(Vec<Packet>),
}

/// Runs the subcommand. Exit code 1 if the fabric did anything wrong.
///
/// # Errors
/// A wrong configuration, argument or trace, a missing tool, or a file that cannot be written.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let (design, _) = super::load(&args.config, ui)?;
    let job = job(args, &design)?;
    if let Some(dir) = &args.plot {
        fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    }
    let mut dut = fabric::open(args, &design, ui)?;
    let result = match job {
        Job::One(traffic) => one(args, &design, &mut dut, &traffic, ui),
        Job::Sweep(traffic, range) => sweep(args, &design, &mut dut, &traffic, range, ui),
        Job::Trace(packets) => replay(args, &design, &mut dut, packets, ui),
    };
    // What the fabric does wrong is a failed check; everything else is for the caller to report.
    match result.as_ref().err().and_then(|error| error.downcast_ref::<MeasureError>()) {
        Some(MeasureError::Run(failed)) => {
            ui.error(format_args!("{failed}"));
            if let RunError::Stalled { .. } = failed {
                ui.note(
                    "the run is deterministic: add --wave FILE.fst and shorten --cycles to see it happen",
                );
            }
            Ok(ExitCode::from(1))
        }
        _ => result,
    }
}

fn job(args: &Args, design: &Design) -> anyhow::Result<Job> {
    if let Some(path) = &args.trace {
        let file = path.display().to_string();
        let text = fs::read_to_string(path).with_context(|| format!("cannot read the trace {file}"))?;
        return Ok(Job::Trace(trace::parse(&file, &text, design.mesh)?));
    }
    let traffic = args.traffic();
    // Refused here, before minutes are spent on building.
    Generator::new(design, &traffic)?;
    Ok(match args.sweep_load {
        Some(range) => Job::Sweep(traffic, range),
        None => Job::One(traffic),
    })
}

fn one(args: &Args, design: &Design, dut: &mut Dut, traffic: &Traffic, ui: &Ui) -> anyhow::Result<ExitCode> {
    let zero_load = eval::zero_load_latency(dut, design, traffic)?;
    dut.reset()?;
    let phases = args.phases();
    let progress = ui.progress(Some(phases.warmup + phases.measure), "simulating");
    if let Some(path) = &args.wave {
        dut.wave_start(path)?;
    }
    let mut observe = |_, cycle| progress.set(cycle);
    let mut setup = Setup { design, phases, observe: &mut observe };
    let row = eval::measure(dut, &mut setup, traffic, zero_load)?;
    drop(progress);
    finish(args, design, dut, row, ui)
}

fn replay(
    args: &Args,
    design: &Design,
    dut: &mut Dut,
    packets: Vec<Packet>,
    ui: &Ui,
) -> anyhow::Result<ExitCode> {
    let progress = ui.progress(packets.last().map(|p| p.cycle), "replaying");
    if let Some(path) = &args.wave {
        dut.wave_start(path)?;
    }
    let mut observe = |_, cycle| progress.set(cycle);
    let mut setup = Setup { design, phases: args.phases(), observe: &mut observe };
    let row = eval::replay(dut, &mut setup, packets)?;
    drop(progress);
    finish(args, design, dut, row, ui)
}

fn finish(args: &Args, design: &Design, dut: &mut Dut, row: Row, ui: &Ui) -> anyhow::Result<ExitCode> {
    dut.wave_stop();
    let row = Row { command: args.command(), ..row };
    if let Some(dir) = &args.plot {
        picture(dir, "link-utilisation", &heatmap(design, &row)?, ui)?;
    }
    ui.result(&row, || report::row(design, &row))?;
    Ok(verdict(row.violations, &row, ui))
}

fn sweep(
    args: &Args,
    design: &Design,
    dut: &mut Dut,
    traffic: &Traffic,
    range: (f64, f64),
    ui: &Ui,
) -> anyhow::Result<ExitCode> {
    let progress = ui.progress(None, "measuring the latency without load");
    let zero_load = eval::zero_load_latency(dut, design, traffic)?;
    let mut phases = args.phases();
    phases.latency_limit = Some(eval::NOT_SHOWN_ABOVE * zero_load);
    let mut point = |load: f64| -> anyhow::Result<Row> {
        progress.message(format!("offering {load:.4}"));
        dut.reset()?;
        let mut setup = Setup { design, phases, observe: &mut |_, _| {} };
        Ok(eval::measure(dut, &mut setup, &Traffic { load, ..traffic.clone() }, zero_load)?)
    };
    let found = eval::sweep(range, traffic.shape.fanout(), zero_load, &mut point)?;
    drop(progress);
    let command = args.command();
    // The loaded links are those just below saturation; an overloaded mesh shows its edges only.
    let shown = found.points.iter().rev().find(|row| !row.saturated).or(found.points.last());
    if let (Some(dir), Some(row)) = (&args.plot, shown) {
        picture(dir, "link-utilisation", &heatmap(design, row)?, ui)?;
        picture(dir, "latency-load", &eval::latency_plot(&title(design, row), &found)?, ui)?;
    }
    let points = found.points.into_iter();
    let points = points.map(|row| Row { links: Vec::new(), command: args.command_at(row.load), ..row });
    let found = Sweep { points: points.collect(), command, ..found };
    ui.result(&found, || report::sweep(design, &found))?;
    let worst = found.points.iter().max_by_key(|row| row.violations);
    Ok(worst.map_or(ExitCode::SUCCESS, |row| verdict(found.violations, row, ui)))
}

/// Reports what went wrong, if anything did, and picks the exit code.
fn verdict(violations: u64, row: &Row, ui: &Ui) -> ExitCode {
    if violations == 0 {
        return ExitCode::SUCCESS;
    }
    for violation in &row.violation_list {
        ui.stderr(format_args!("  {}", violation.message));
    }
    ui.error(format_args!("the fabric broke {violations} promises; the first are listed above"));
    ExitCode::from(1)
}

fn title(design: &Design, row: &Row) -> String {
    format!("{}: {}", fabric_title(design), traffic_title(row))
}

fn fabric_title(design: &Design) -> String {
    let (mesh, router) = (design.mesh, design.router);
    let vcs = format!("{} + {} VCs x {}", router.vn0_vcs, router.vn1_vcs, router.vc_depth);
    format!("{}, {} x {}, {vcs}", design.name, mesh.cols(), mesh.rows())
}

fn traffic_title(row: &Row) -> String {
    let packet = row.packet.map_or(String::new(), |flits| {
        format!(", packets of {flits} {}", if flits == 1 { "flit" } else { "flits" })
    });
    format!("{}{packet}", row.traffic)
}

fn heatmap(design: &Design, row: &Row) -> anyhow::Result<String> {
    let load = row.load.map_or(String::new(), |load| format!(", offered load {load}"));
    let subtitle = format!("{}{load}", traffic_title(row));
    eval::heatmap(&fabric_title(design), &subtitle, design.mesh, row)
}

/// Writes a picture as SVG and as PNG.
fn picture(dir: &Path, name: &str, svg: &str, ui: &Ui) -> anyhow::Result<()> {
    let png = eval::svg_to_png(svg)?;
    for (extension, bytes) in [("svg", svg.as_bytes()), ("png", &png)] {
        let path = dir.join(format!("{name}.{extension}"));
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
        ui.note(format_args!("wrote {}", path.display()));
    }
    Ok(())
}
