//! `meshkv run --device`: runs the job as a host does.

use crate::cli::simulate::ports::Verilog;
use crate::cli::simulate::reported::ended::Ended;
use crate::cli::simulate::run::args::Args;
use crate::cosim::build::BuildForm;
use crate::cosim::dut::ports::DutPorts;
use crate::cosim::dut::verilated::split_device::SplitDevice;
use crate::cosim::dut::DutError;
use crate::cosim::memory::Behaviour;
use crate::cosim::workloads::attention::{AttentionResult, Bench as Core, Job, ModelCore};
use crate::cosim::workloads::device::{Bench, CallTimes, Device, DeviceError, Finished, HostModel, Platform};
use crate::design::Design;
use anyhow::bail;

/// A device with its driver.
pub(super) type Host = Bench;

/// Opens the device that the options select; the model of its core is for one job.
///
/// # Errors
/// If the model is asked for without a job, or Verilog cannot be built.
pub(super) fn bench(
    args: &Args,
    design: &Design,
    job: Option<&Job>,
    hbm: Behaviour,
    verilog: &Verilog,
) -> anyhow::Result<Bench> {
    bench_behind(args, design, job, hbm, verilog, None)
}

/// The same with queries and outputs in the memory of a host.
///
/// # Errors
/// As [`bench()`].
pub(super) fn bench_behind(
    args: &Args,
    design: &Design,
    job: Option<&Job>,
    hbm: Behaviour,
    verilog: &Verilog,
    host: Option<&HostModel>,
) -> anyhow::Result<Bench> {
    let clocks = args.clocks(design);
    let platform = Platform { hbm, ..Platform::of(design) };
    let platform = if args.unruly_memory { platform.unruly(args.seed) } else { platform };
    let io =
        Behaviour { request_stall: args.stall, beat_gap: args.stall, seed: args.seed, ..platform.io.clone() };
    let platform = if args.stall > 0 { Platform { io, ..platform } } else { platform };
    let platform = match host.map(|host| host.memory(design, &platform.io)) {
        Some((io, writes)) => Platform { io, io_writes: Some(writes), ..platform },
        None => platform,
    };
    let socket: Box<dyn DutPorts> = match verilog.form {
        BuildForm::WholeDevice => verilog.alone(&args.carrier)?,
        _ => {
            let front = Verilog { form: BuildForm::FrontAlone, ..*verilog }.build()?;
            let core: Box<dyn DutPorts> = match (args.carrier.is_model(), job) {
                (true, _) if args.timing => Core::model(design),
                (true, Some(job)) => Box::new(ModelCore::new(job)),
                (true, None) => bail!(
                    "--device with --steps needs the Verilog of the core: its model computes one job\n  \
                     help: add --engine rtl or --timing, or leave --device out"
                ),
                (false, _) => verilog.open(&args.carrier, &Core::ports(design), Core::model)?,
            };
            Box::new(SplitDevice::new(front, core, design)?)
        }
    };
    let device = Device::new(socket, design, &platform, &clocks)?;
    let bench = Bench::new(device, design, &platform)?;
    Ok(if args.timing { bench.without_numbers() } else { bench })
}

/// Runs the job; `stop` is called from time to time with the number of outputs so far.
pub(super) fn attend(
    bench: &mut Bench,
    args: &Args,
    job: &Job,
    timeline: usize,
    stop: &mut dyn FnMut(u64) -> bool,
) -> Result<AttentionResult, Ended> {
    let numbers = u64::from(job.design.pe.head_dim);
    let bytes =
        if job.partials { 4 * numbers + u64::from(job.design.flit.data_width / 8) } else { 2 * numbers };
    let mut look = |device: &Device| stop(device.output_bytes() / bytes);
    let result = bench.watch(job, args.clocks(job.design), timeline, &mut look);
    result.map_err(|why| ended(bench, why))
}

/// Calls the device by its doorbell: the result, times at the pins, and writes and reads of registers.
pub(super) fn called(
    bench: &mut Bench,
    job: &Job,
    most: u64,
    stop: &mut dyn FnMut() -> bool,
) -> Result<(Finished, CallTimes, [u64; 2]), Ended> {
    let result = bench.call(job, most, &mut |_| stop());
    result.map_err(|why| ended(bench, why))
}

/// Runs a step on what external memory has.
pub(super) fn step(
    bench: &mut Bench,
    args: &Args,
    job: &Job,
    stop: &mut dyn FnMut() -> bool,
) -> Result<AttentionResult, Ended> {
    let result = bench.step(job, args.clocks(job.design), &mut |_| stop());
    result.map_err(|why| ended(bench, why))
}

/// The reason, with the violations of channels.
fn ended(bench: &Bench, why: DeviceError) -> Ended {
    match why {
        DeviceError::Stopped => Ended::Stopped,
        DeviceError::Dut(DutError::Differ(difference)) => Ended::Failed(format!(
            "model and Verilog differ at the ports of the core in {difference}, counted from its last reset\n  \
             help: meshkv run --lockstep without --device writes waves of a difference"
        )),
        failed => {
            let found = bench.driver.device.violations().1;
            Ended::Failed(found.into_iter().fold(failed.to_string(), |all, one| format!("{all}\n  {one}")))
        }
    }
}
