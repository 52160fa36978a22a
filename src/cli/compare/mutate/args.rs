//! Arguments of `meshkv mutate`.

use std::path::PathBuf;

/// Plant faults in the emitted Verilog and see whether the checks find them
///
/// Each mutant changes one expression or statement. All are in one build, each chosen when a process runs: traffic,
/// fetches, attention, decode steps and runs of the device, the cheapest first, until one of them finds it. What the first
/// ones do not find is shown to Yosys, which may prove that it is no fault, and to ABC, which may break a property of
/// `meshkv prove` with it. Of several configurations the next gets what those before have not found. The same command again goes on where it was stopped.
/// Exit code 1 if a mutant survives that is neither proved equal nor explained in the list of the repository.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv mutate configs/tiny.toml
  meshkv mutate configs/tiny.toml --count 40 --module duplicate_filter
  meshkv mutate configs/tiny.toml configs/mutate_two_stages.toml configs/mutate_three_stages.toml
  meshkv mutate configs/tiny.toml --count 0             the list of the repository alone")]
pub struct Args {
    /// Configuration files, those with short checks first: a mutant that one finds is not tried on the next
    #[arg(value_name = "CONFIG", default_value = "meshkv.toml", value_hint = clap::ValueHint::FilePath)]
    pub(super) configs: Vec<PathBuf>,
    /// Mutants to draw, beside those of the list
    #[arg(long, default_value_t = 500, value_name = "N")]
    pub(super) count: u32,
    /// Seed of the draw
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// Only modules with this in their name
    #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
    pub(super) module: String,
    /// Leave out the mutants of the list
    #[arg(long)]
    pub(super) drawn_only: bool,
    /// Processes at once [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) jobs: Option<u16>,
    /// Seconds that Yosys, and ABC for each size of a proof, may take for a mutant; 0 to ask them about none
    #[arg(long, default_value_t = 10, value_name = "SECONDS")]
    pub(super) prove: u32,
    /// Folder for what is found, in one of its own for each configuration [default: out/mutate]
    #[arg(short, long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(super) output: Option<PathBuf>,
}
