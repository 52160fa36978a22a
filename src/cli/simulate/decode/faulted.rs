//! `meshkv decode --fault`: the report of a run with faults.

use crate::cli::output::pictures::Pictures;
use crate::cli::output::ui::Ui;
use crate::cli::simulate::decode::report::page;
use crate::cli::simulate::decode::{Args, DecodePrinted};
use crate::cli::simulate::reported::faults::FaultedRun;
use crate::cosim::dut::DutError;
use crate::cosim::faults::{Depth, Outputs, Seen};
use crate::cosim::workloads::decode::{DecodeError, Decoded, Workload};
use crate::design::Design;
use crate::eval::DecodeRow;
use crate::tools::interrupt::Interrupt;
use std::process::ExitCode;

/// Reports a run with faults.
///
/// # Errors
/// Ctrl-C, a difference between model and Verilog, or a result that cannot be printed.
pub(super) fn report(
    args: &Args,
    load: &Workload,
    result: Result<Decoded, DecodeError>,
    row: &dyn Fn(&Decoded) -> DecodeRow,
    (pictures, design, ui, interrupt): (Option<&Pictures>, &Design, &Ui, &Interrupt),
) -> anyhow::Result<ExitCode> {
    if let (Some(pictures), Ok(done)) = (pictures, &result) {
        pictures.write_page(&page(args, load, design, done)?, ui)?;
    }
    args.carrier.note_waves(ui);
    let origin = (args.seed, args.carrier.name(), args.command(load));
    let run = match result {
        Ok(done) => FaultedRun {
            seen: done.seen(design),
            reached: args.fault.reached(&done.struck, done.flipped),
            cycles: done.cycles,
            recovery: None,
            result: Some(row(&done)),
            origin,
        },
        Err(DecodeError::Stopped) => {
            let what = "while decoding with faults; no result";
            return interrupt.explain(Err(anyhow::anyhow!("the run was stopped")), what);
        }
        Err(DecodeError::Dut(why)) if !matches!(why, DutError::Stopped(_)) => {
            anyhow::bail!("the run with faults failed: {why}")
        }
        Err(why) => FaultedRun {
            seen: Seen {
                errors: Vec::new(),
                rules: Vec::new(),
                outputs: Outputs::NotTaken,
                ended: Some(why.to_string()),
                cleared: false,
            },
            reached: vec![None; args.fault.faults.len()],
            cycles: 0,
            recovery: None,
            result: None,
            origin,
        },
    };
    args.fault.report(run, |faults| DecodePrinted::Faulted(Box::new(faults)), (design, Depth::Core), ui)
}
