//! `meshkv run --fault`: a run with faults, on the core or on the device.

use crate::cli::simulate::ports::Verilog;
use crate::cli::simulate::reported::ended::Ended;
use crate::cli::simulate::reported::faults::FaultedRun;
use crate::cli::simulate::run::args::Args;
use crate::cli::simulate::run::core;
use crate::cli::simulate::run::device;
use crate::cli::simulate::run::output::RunOutput;
use crate::cosim::dut::DutError;
use crate::cosim::faults::{Depth, Injected, Outputs, Seen};
use crate::cosim::memory::Behaviour;
use crate::cosim::workloads::attention::{AttentionResult, Job};
use crate::cosim::workloads::device::{DeviceError, Recovery};
use crate::eval::AttentionRow;
use std::process::ExitCode;

/// Runs a job with its faults.
///
/// # Errors
/// A fault that the run cannot have, a missing tool, or Ctrl-C.
pub(super) fn run(
    args: &Args,
    job: &Job,
    behaviour: &Behaviour,
    verilog: &Verilog,
) -> anyhow::Result<ExitCode> {
    args.fault.fit(job.design, args.device, args.carrier.has_model())?;
    let depth = if args.device { Depth::Device } else { Depth::Core };
    let done = if args.device {
        of_device(args, job, behaviour, verilog)
    } else {
        of_core(args, job, behaviour, verilog)
    };
    match done {
        Ok(run) => args.fault.report(
            run,
            |faults| RunOutput::Faulted(Box::new(faults)),
            (job.design, depth),
            verilog.ui,
        ),
        Err(Ended::Stopped) => {
            let what = "while attending with faults; no result";
            verilog.interrupt.explain(Err(anyhow::anyhow!("the run was stopped")), what)
        }
        Err(Ended::Before(why)) => Err(why),
        Err(Ended::Differs(difference)) => anyhow::bail!("model and Verilog differ in {difference}"),
        Err(Ended::Dut(why)) => Err(why.into()),
        Err(Ended::Failed(why)) => anyhow::bail!(why),
    }
}

/// The report of a run that has ended otherwise.
fn ended(why: String) -> Seen {
    Seen {
        errors: Vec::new(),
        rules: Vec::new(),
        outputs: Outputs::NotTaken,
        ended: Some(why),
        cleared: false,
    }
}

fn of_core(
    args: &Args,
    job: &Job,
    behaviour: &Behaviour,
    verilog: &Verilog,
) -> Result<FaultedRun<AttentionRow>, Ended> {
    let faults = args.fault.faults.iter().filter_map(Injected::of_external).cloned().collect();
    let behaviour = Behaviour { faults, ..behaviour.clone() };
    let mut bench = core::bench(args, job, behaviour, verilog)?;
    if let Some(flip) = args.fault.flip(job.design) {
        bench.flip(&flip)?;
    }
    let progress = verilog.ui.progress(Some(job.outputs() as u64), "attending");
    let mut stop = |outputs| {
        progress.set(outputs as u64);
        verilog.interrupt.requested()
    };
    let result = bench.run(0, args.stall, &mut stop).map_err(Ended::from);
    let origin = (args.seed, args.carrier.name(), args.command(job));
    let none = vec![None; args.fault.faults.len()];
    Ok(match result {
        Ok(done) => FaultedRun {
            seen: seen(&done),
            reached: args.fault.reached(&done.struck, done.flipped),
            cycles: done.cycles,
            recovery: None,
            result: Some(AttentionRow::new(job, &done)),
            origin,
        },
        Err(Ended::Failed(why) | Ended::Dut(DutError::Stopped(why))) => {
            FaultedRun { seen: ended(why), reached: none, cycles: 0, recovery: None, result: None, origin }
        }
        Err(other) => return Err(other),
    })
}

/// The report of a run of the core.
fn seen(done: &AttentionResult) -> Seen {
    let outputs = match done.wrong().len() {
        0 => Outputs::Right(done.outputs.len()),
        differing => Outputs::Wrong(differing, done.outputs.len()),
    };
    Seen { errors: done.reported.clone(), rules: done.rules.clone(), outputs, ended: None, cleared: false }
}

fn of_device(
    args: &Args,
    job: &Job,
    behaviour: &Behaviour,
    verilog: &Verilog,
) -> Result<FaultedRun<AttentionRow>, Ended> {
    let mut bench = device::bench(args, job.design, Some(job), behaviour.clone(), verilog)?;
    let progress = verilog.ui.progress(None, "attending with faults");
    let most = bench.bound(job).cycles();
    let done = bench.faulted(job, &args.fault.faults, most, &mut |_| verilog.interrupt.requested());
    drop(progress);
    let done = done.map_err(|why| match why {
        DeviceError::Stopped => Ended::Stopped,
        failed => Ended::Failed(failed.to_string()),
    })?;
    let recovery = match done.recovery {
        Recovery::Right => Some(Ok(())),
        Recovery::Failed(why) => Some(Err(why)),
        Recovery::Impossible => None,
    };
    Ok(FaultedRun {
        seen: done.seen,
        reached: done.reached,
        cycles: done.cycles,
        recovery,
        result: None,
        origin: (args.seed, args.carrier.name(), args.command(job)),
    })
}
