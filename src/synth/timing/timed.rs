//! The timing of a whole design: its parts, and the paths that run through several of them.

use crate::design::Design;
use crate::emit;
use crate::synth::parts::{as_instantiated, parts, Scale};
use crate::synth::timing::{time_whole, Placed, Timing};
use crate::synth::yosys::{Effort, Step, Yosys};
use anyhow::Result;

/// The parts that the top instantiates, each with what its synthesis does before.
pub(in crate::synth) fn boxes(design: &Design) -> Vec<(&'static str, String)> {
    let parts = parts(design).into_iter().filter(|part| !part.scale.is_bare());
    parts.map(|part| (part.module, as_instantiated(design, &part))).collect()
}

/// Times a design. Its parts are taken from the cache, as [`Demand::of`](crate::synth::Demand::of) left them there.
///
/// # Errors
/// When Yosys fails or is stopped, or when a netlist cannot be timed.
pub fn design_timing(
    design: &Design,
    yosys: &Yosys,
    effort: Effort,
    progress: &mut dyn FnMut(Step),
) -> Result<Timing> {
    let (converters, parts): (Vec<_>, Vec<_>) = parts(design).into_iter().partition(|p| p.scale.is_bare());
    let described = boxes(design);
    let files = emit::emit_block(design, emit::TOP)?;
    let mut timing = yosys.whole(&files, emit::TOP, &described, effort, progress, &mut |assembly| {
        let mut timings = Vec::new();
        for (part, (_, change)) in parts.iter().zip(&described) {
            let files = emit::emit_block(design, part.module)?;
            timings.push(yosys.timing(&files, part.module, change, effort, &mut |_| ())?);
        }
        let placed = parts.iter().zip(&timings).map(|(part, timing)| {
            let row0 = match part.scale {
                Scale::Bottom => Some(true),
                Scale::Above => Some(false),
                _ => None,
            };
            Placed { module: part.module, row0, timing }
        });
        time_whole(assembly, &placed.collect::<Vec<_>>())
    })?;
    // The top does not instantiate the converters: their ports end their paths.
    for part in &converters {
        let files = emit::emit_block(design, part.module)?;
        timing.add(part.module, &yosys.timing(&files, part.module, "", effort, &mut |_| ())?);
    }
    Ok(timing)
}
