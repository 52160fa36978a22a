//! Resources of the paper's fabric, by synthesis.

use crate::cli::output::ui::Ui;
use crate::cli::program::found;
use crate::design::{Design, Fpga, Resources as Counts};
use crate::eval::paper::{fabric, Model, Resources};
use crate::synth::{Demand, Effort, Estimate, Limits, Step, Yosys};
use crate::tools::interrupt::Interrupt;
use crate::tools::workers;
use crate::tools::Caller;
use anyhow::anyhow;

/// The fabric of the paper's table: 8 x 8 tiles, flits of 512 bits.
const FABRIC: &str = "meshkv";

/// Synthesises it; nothing if there is no Yosys, which is said.
///
/// # Errors
/// When Yosys fails, or Ctrl-C.
pub(super) fn measure(interrupt: &Interrupt, ui: &Ui) -> anyhow::Result<Option<Resources>> {
    let stop = || interrupt.requested();
    let yosys =
        match Yosys::find_for(None, &Caller { hear: &|notice| found::say(notice, ui), stop: &stop }, &stop) {
            Ok(yosys) => yosys,
            Err(error) => {
                ui.warn(format_args!("resources are not measured: {error:#}"));
                return Ok(None);
            }
        };
    let config = fabric(FABRIC, Model::Llama);
    let design =
        Design::from_config(FABRIC, &config).map_err(|_| anyhow!("configs/{FABRIC}.toml is not legal"))?;
    let progress = ui.progress(None, "synthesising");
    let demand = Demand::of(
        &design,
        &yosys,
        Effort::Synthesise,
        workers::cores().min(4),
        &mut |place, total, step| {
            if let Step::Synthesising(module) = step {
                progress.message(format!("synthesising {module}, {} of {total}", place + 1));
            }
        },
    );
    drop(progress);
    let demand = demand?;
    let fpga = Fpga::of(config.board);
    let total = Estimate::new(&demand, design.mesh, fpga, Limits::default()).total();
    let slrs = fpga.slrs.iter().map(|slr| slr.has);
    let card = slrs.fold(Counts::default(), |sum, slr| sum.plus(&slr));
    let numbers = |r: &Counts| [r.lut, r.ff, r.bram36, r.uram, r.dsp].map(|n| n as f64);
    let router = demand.part("router")?.area.resources().lut * design.mesh.tiles() as u64;
    Ok(Some(Resources {
        used: numbers(&total),
        available: numbers(&card),
        router_share: router as f64 / card.lut as f64,
        command: format!("meshkv estimate configs/{FABRIC}.toml"),
    }))
}
