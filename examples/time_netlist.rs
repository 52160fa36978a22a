//! Times a flat netlist of UltraScale+ cells in Yosys' RTLIL: `time_netlist NETLIST.il MODULE`.
//!
//! `scripts/calibrate_timing.sh` compares the result with placed and routed designs.

use anyhow::{Context, Result};
use meshkv::synth::{Netlist, PartTiming};

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let (file, top) = (args.next().context("no netlist")?, args.next().context("no module")?);
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {file}"))?;
    let timing = PartTiming::of(&Netlist::parse(&text, &top)?)?;
    for (clock, paths) in &timing.clocks {
        println!("{clock}: {:.3} ns, at most {} levels", paths.worst_ns, paths.worst_levels);
        for path in &paths.paths {
            println!("{:.3} ns, {} levels: {} -> {}", path.ns, path.levels, path.from, path.to);
            for step in &path.steps {
                println!(
                    "    {:<9} fan-out {:>4}  net {:.3}  cell {:.3}  {}",
                    step.cell, step.fanout, step.net_ns, step.cell_ns, step.net
                );
            }
        }
    }
    println!("with ports: {:.3} ns, at most {} levels", timing.worst_ns(), timing.worst_levels());
    Ok(())
}
