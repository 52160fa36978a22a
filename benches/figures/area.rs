//! One router in Yosys: LUTs, registers, LUT levels, and the estimated period.
//!
//! Area is counted as that of its peers: `synth_xilinx -family xcup -noiopad -flatten`, 8 LUTs for each
//! RAM32M16. Timing is that of `meshkv estimate`, which maps for few levels: static analysis of the
//! mapped netlist, with nets by their fan-out (docs/estimate.md).

use super::at_most;
use super::figure::{Figure, Goal};
use anyhow::{ensure, Result};
use meshkv::config::Config;
use meshkv::design::Design;
use meshkv::emit::{emit_block, SourceFile, ROUTER};
use meshkv::synth::{Costs, Effort, Yosys};

/// Undoes what the estimate tells Yosys, so that a router is mapped as its peers were.
const AS_PEERS: &str = "scratchpad -unset abc9.script; scratchpad -unset synth_xilinx.abc9.W";

pub fn measure() -> Result<Vec<Figure>> {
    let yosys = find()?;
    // Levels, shares and periods take several runs of Yosys: only this bench has them.
    let command = "make bench FIGURES=area".to_owned();
    let mut figures = Vec::new();
    for (stages, name) in [(2, "two stages"), (3, "three stages")] {
        let design = of_stages(stages)?;
        let area = costs(&yosys, &design, ROUTER, AS_PEERS)?.area;
        // The same router with flits that carry only the mark of the last.
        let narrow = format!("{AS_PEERS}; chparam -set HEAD_WIDTH 1 meshkv_router");
        let bare = costs(&yosys, &design, ROUTER, &narrow)?.area;
        let Costs { area: deep, levels, period_ns } = costs(&yosys, &design, ROUTER, "")?;
        // Routers of three stages are those of the card.
        let fast = |goal: Goal| if stages == 3 { goal } else { Goal::Stated };
        let mut figure = |what: &str, value: String, goal: Goal| {
            let (what, command) = (format!("one router of {name}: {what}"), command.clone());
            figures.push(Figure { what, value, goal, command });
        };
        figure(
            "512 bit, 4 VCs x 8, counters included",
            format!("{} LUT ({} logic, {} memory)", area.sum(), area.luts, area.ram_luts),
            at_most(area.sum() as f64, 6500.0, "6500"),
        );
        figure("registers", format!("{} FF", area.registers), at_most(area.registers as f64, 8500.0, "8500"));
        figure(
            "the header fields' share of it",
            format!(
                "{} LUT, {} FF",
                area.sum().saturating_sub(bare.sum()),
                area.registers.saturating_sub(bare.registers)
            ),
            Goal::Stated,
        );
        figure("mapped for few levels, as in the estimate", format!("{} LUT", deep.sum()), Goal::Stated);
        figure(
            "LUT levels between registers",
            levels.to_string(),
            fast(at_most(f64::from(levels), 12.0, "12")),
        );
        figure(
            "estimated period, ports included",
            format!("{period_ns:.2} ns"),
            fast(at_most(period_ns, 4.0, "4 ns")),
        );
    }
    Ok(figures)
}

/// Cost of a module of a design by itself, with its instances. `change` is a command of Yosys that
/// comes before.
pub fn costs(yosys: &Yosys, design: &Design, module: &str, change: &str) -> Result<Costs> {
    of_files(yosys, &emit_block(design, module)?, module, change)
}

/// Cost of a module of these files.
pub fn of_files(yosys: &Yosys, files: &[SourceFile], module: &str, change: &str) -> Result<Costs> {
    Ok(yosys.costs(files, module, change, Effort::Synthesise, &mut |_| ())?)
}

/// Cost of a module by itself, with what it instantiates, as a figure.
pub fn block(yosys: &Yosys, design: &Design, module: &str, what: String, command: &str) -> Result<Figure> {
    let Costs { area, period_ns, .. } = costs(yosys, design, module, "")?;
    Ok(Figure {
        what,
        value: format!(
            "{} LUT ({} memory), {} FF, {} BRAM18, {} DSP, {period_ns:.2} ns",
            area.sum(),
            area.ram_luts,
            area.registers,
            area.bram18,
            area.dsp
        ),
        goal: at_most(period_ns, 4.0, "4 ns"),
        command: command.to_owned(),
    })
}

/// A Yosys whose results are comparable with the goals. Earlier results come from the cache.
pub fn find() -> Result<Yosys<'static>> {
    let yosys = Yosys::find(None, &|| false)?;
    ensure!(
        yosys.calibrated(),
        "Yosys {} is too old for the figures: run `make tools-synth`, or set MESHKV_SYNTH_YOSYS",
        yosys.version()
    );
    Ok(yosys)
}

/// The paper's parameters, which are the defaults.
pub fn reference() -> Result<Design> {
    of_stages(Config::default().noc.router_stages)
}

/// The paper's parameters with routers of `stages`.
fn of_stages(stages: u32) -> Result<Design> {
    let mut config = Config::default();
    config.noc.router_stages = stages;
    Ok(Design::from_config("meshkv", &config)?)
}
