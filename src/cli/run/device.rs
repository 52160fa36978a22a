//! `meshkv run --device`: the same job, as a host has it.

use super::{Args, Ended, Engine, POWER_UP_SEED};
use crate::cli::interrupt::Interrupt;
use crate::cli::library::library;
use crate::cli::ui::Ui;
use crate::cosim::attention::{Attended, Job, NumberedCore};
use crate::cosim::device::joined::Joined;
use crate::cosim::device::{Bench, Device, DeviceError, Platform};
use crate::cosim::memory::Behaviour;
use crate::cosim::socket::{verilated, Socket};
use crate::cosim::verilate::{Form, RunLength};

/// The device that the job runs on, as it was asked for.
pub(super) fn bench(
    args: &Args,
    job: &Job,
    hbm: Behaviour,
    interrupt: &Interrupt,
    ui: &Ui,
) -> anyhow::Result<Bench> {
    let (design, clocks) = (job.design, args.clocks(job.design));
    let platform = Platform { hbm, ..Platform::of(design) };
    let platform = if args.unruly_memory { platform.unruly(args.seed) } else { platform };
    let io =
        Behaviour { request_stall: args.stall, beat_gap: args.stall, seed: args.seed, ..platform.io.clone() };
    let platform = if args.stall > 0 { Platform { io, ..platform } } else { platform };
    let build = |form, length| -> anyhow::Result<Box<dyn Socket>> {
        let built = library(design, form, length, interrupt, ui);
        let library = interrupt.explain(built, "while the device was built; nothing is left of it")?;
        Ok(verilated(&library, POWER_UP_SEED)?)
    };
    let (form, length) = args.build(job);
    let socket = match form {
        Form::Device => build(form, length)?,
        _ => {
            let core: Box<dyn Socket> = match args.engine {
                Engine::Model => Box::new(NumberedCore::new(job)),
                Engine::Rtl => build(form, length)?,
            };
            Box::new(Joined::new(build(Form::Front, RunLength::Quick)?, core, design)?)
        }
    };
    let mut device = Device::new(socket, design, &platform, &clocks)?;
    if let Some(path) = &args.wave {
        device.wave_start(path)?;
    }
    Ok(Bench::new(device, design, &platform)?)
}

/// Runs the job; `stop` is asked now and then, with outputs so far.
pub(super) fn attend(
    bench: &mut Bench,
    args: &Args,
    job: &Job,
    timeline: usize,
    stop: &mut dyn FnMut(u64) -> bool,
) -> Result<Attended, Ended> {
    let bytes = u64::from(job.design.config.pe.head_dim) * 2;
    let mut look = |device: &Device| stop(device.output_bytes() / bytes);
    bench.watch(job, args.clocks(job.design), timeline, &mut look).map_err(|why| match why {
        DeviceError::Stopped => Ended::Stopped,
        // What a channel did wrong is as good a reason.
        failed => {
            let found = bench.driver.device.violations().1;
            Ended::Failed(found.into_iter().fold(failed.to_string(), |all, one| format!("{all}\n  {one}")))
        }
    })
}
