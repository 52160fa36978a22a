//! `meshkv run --device`: runs the job as a host does.

use super::args::Args;
use super::ended::Ended;
use crate::cli::ports::Verilog;
use crate::cosim::build::BuildForm;
use crate::cosim::dut::ports::DutPorts;
use crate::cosim::dut::split_device::SplitDevice;
use crate::cosim::memory::Behaviour;
use crate::cosim::workloads::attention::{AttentionResult, Job, ModelCore};
use crate::cosim::workloads::device::{Bench, Device, DeviceError, Platform};

/// Opens the device of the job that the options select.
pub(super) fn bench(args: &Args, job: &Job, hbm: Behaviour, verilog: &Verilog) -> anyhow::Result<Bench> {
    let (design, clocks) = (job.design, args.clocks(job.design));
    let platform = Platform { hbm, ..Platform::of(design) };
    let platform = if args.unruly_memory { platform.unruly(args.seed) } else { platform };
    let io =
        Behaviour { request_stall: args.stall, beat_gap: args.stall, seed: args.seed, ..platform.io.clone() };
    let platform = if args.stall > 0 { Platform { io, ..platform } } else { platform };
    let socket: Box<dyn DutPorts> = match verilog.form {
        BuildForm::WholeDevice => verilog.alone(&args.carrier)?,
        _ => {
            let front = Verilog { form: BuildForm::FrontAlone, ..*verilog }.build()?;
            let core: Box<dyn DutPorts> = match args.carrier.is_model() {
                true => Box::new(ModelCore::new(job)),
                false => verilog.build()?,
            };
            Box::new(SplitDevice::new(front, core, design)?)
        }
    };
    let device = Device::new(socket, design, &platform, &clocks)?;
    Ok(Bench::new(device, design, &platform)?)
}

/// Runs the job; `stop` is called from time to time with the number of outputs so far.
pub(super) fn attend(
    bench: &mut Bench,
    args: &Args,
    job: &Job,
    timeline: usize,
    stop: &mut dyn FnMut(u64) -> bool,
) -> Result<AttentionResult, Ended> {
    let numbers = u64::from(job.design.config.pe.head_dim);
    let bytes =
        if job.partials { 4 * numbers + u64::from(job.design.flit.data_width / 8) } else { 2 * numbers };
    let mut look = |device: &Device| stop(device.output_bytes() / bytes);
    bench.watch(job, args.clocks(job.design), timeline, &mut look).map_err(|why| match why {
        DeviceError::Stopped => Ended::Stopped,
        // Violations of channels are reported, too.
        failed => {
            let found = bench.driver.device.violations().1;
            Ended::Failed(found.into_iter().fold(failed.to_string(), |all, one| format!("{all}\n  {one}")))
        }
    })
}
