//! `meshkv sim`: does the same as `meshkv cosim`, by default on the model.

use crate::cli::output::ui::Ui;
use crate::cli::simulate::cosim::{run_on, Options, TRACE_HELP};
use crate::cli::simulate::work::Work;
use crate::config::Engine;
use std::process::ExitCode;

/// Simulate the fabric with its cycle-exact model and measure it
///
/// The same traffic, figures and checks as `meshkv cosim`, in the same cycles, without Verilator:
/// `meshkv cosim --lockstep` compares both. Latencies are cycles from the source queue to the ejection of a
/// packet's last flit; loads are flits per node and cycle. A subcommand runs something else than traffic: fetches, a
/// decode step, attention.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("Examples:
  meshkv sim configs/u280_8x8.toml --traffic uniform --load 0.2 --packet 4 --vn both
  meshkv sim configs/mesh_16x16.toml --sweep-load 0.05:1.0 --plot out
  meshkv sim configs/tiny.toml --trace examples/packets.csv --json
  meshkv sim decode configs/meshkv.toml --tokens 32768 --segments all
  meshkv sim run configs/minilm.toml --tensors examples/minilm.safetensors --plot out

{TRACE_HELP}"))]
// `misplaced` rejects options before a subcommand: clap would also reject options that every command takes.
#[command(
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    override_usage = "meshkv sim [OPTIONS] <CONFIG>\n       meshkv sim <COMMAND>"
)]
pub struct Args {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    work: Option<Work>,
}

/// Runs the subcommand. Exit code 1 if the fabric did anything wrong.
///
/// # Errors
/// A wrong configuration, argument or trace, a file that cannot be written, or Ctrl-C.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    run_on(Engine::Model, &args.options, args.work.as_ref(), ui)
}
