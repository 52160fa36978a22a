//! The core that `meshkv run` opens: its Verilog, its model, or both.

use crate::cli::simulate::ports::Verilog;
use crate::cli::simulate::run::args::Args;
use crate::cosim::memory::Behaviour;
use crate::cosim::workloads::attention::{Bench, Job};

/// Opens the simulation of the job that the options select.
///
/// # Errors
/// A missing tool, or clocks that the model cannot have.
pub(super) fn bench<'a>(
    args: &Args,
    job: &'a Job<'a>,
    behaviour: Behaviour,
    verilog: &Verilog,
) -> anyhow::Result<Bench<'a>> {
    let clocks = args.clocks(job.design);
    if args.carrier.is_model() {
        return Ok(Bench::on_model(job, behaviour, clocks, !args.timing)?);
    }
    let socket = verilog.open(&args.carrier, &Bench::ports(job.design), Bench::model)?;
    Ok(Bench::on(socket, job, behaviour, clocks)?)
}
