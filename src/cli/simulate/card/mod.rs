//! `meshkv card`: runs a program of the user's with the co-simulated device as its card.

pub(super) mod host_model;

use crate::cli::output::ui::Ui;
use crate::cli::program::found;
use crate::cli::program::scope::{Only, Scope};
use crate::cli::simulate::library::unlocked;
use crate::cli::simulate::ports::Verilog;
use crate::config::IoMemory;
use crate::cosim::build::toolchain::Toolchain;
use crate::cosim::build::{BuildForm, HostLibrary, Progress, RunLength};
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::ports::DutPorts;
use crate::cosim::dut::verilated::split_device::SplitDevice;
use crate::cosim::workloads::card::{Card, CardError, LinkUse, Server};
use crate::cosim::workloads::device::{Bench, Device, Platform};
use crate::design::Design;
use crate::emit;
use crate::tools;
use crate::tools::interrupt::{Interrupt, Interrupted};
use anyhow::Context;
use schemars::JsonSchema;
use serde::Serialize;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus, Stdio};

/// Run a program before the co-simulated device, which it drives as a card
///
/// The host's library of the design is compiled against a stand-in for XRT, and the emitted Verilog answers it: each
/// register access and each buffer goes through a socket to the device and its memory, on which the rules of AXI are
/// checked. The program finds the library in MESHKV_LIBRARY and a file to name as the bitstream in MESHKV_XCLBIN. The
/// headers are below MESHKV_HOST, and MESHKV_CXXFLAGS compiles C++ with them. Its exit code is that of this command; 1 if
/// a rule was broken. Without a program all is built, and the places are printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv card configs/tiny.toml -- ./program --its-options
  meshkv card configs/tiny.toml -- sh -c 'env | grep ^MESHKV_'              what it finds
  meshkv card configs/tiny.toml --unruly-memory -- ./program              with a memory that is late
  meshkv card configs/tiny.toml --library-only                            where the library is

The library runs before such a card alone; `make host` below scripts of the output builds the one for XRT. With --json
the program's standard output goes to standard error.")]
pub struct Args {
    /// Configuration file
    #[arg(value_name = "CONFIG", value_hint = clap::ValueHint::FilePath)]
    config: PathBuf,
    /// Program to run, with its arguments
    #[arg(last = true, value_name = "PROGRAM", value_hint = clap::ValueHint::CommandWithArguments, conflicts_with = "library_only")]
    program: Vec<OsString>,
    /// Build the library and no fabric, and print where it is
    #[arg(long)]
    library_only: bool,
    /// External memory out of order, with gaps and refusals, instead of at its best
    #[arg(long, help_heading = "Platform")]
    unruly_memory: bool,
    /// Say how long the program's calls and transfers take on a host behind a link: a file of such a host, or pcie3_x16 for the
    /// one that ships with the program. The program's own time is not part of it
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Platform")]
    host_model: Option<PathBuf>,
    /// Seed of the registers before the reset, the clocks and the memory
    #[arg(long, default_value_t = 1, help_heading = "Platform")]
    seed: u64,
    /// Compile the fabric as far as it goes, for a program that runs for many minutes
    #[arg(long, help_heading = "Engine")]
    long: bool,
    /// Verilate the whole design at once, with the wrappers that connect its parts as they are emitted. It builds longer:
    /// for small designs
    #[arg(long, help_heading = "Engine")]
    whole: bool,
}

/// Where options have an effect.
pub(in crate::cli) const SCOPES: &[Scope] = &[Scope {
    of: &["unruly_memory", "host_model", "seed", "long", "whole"],
    only: &[Only::Without(&["library_only"])],
    why: "no fabric is built",
}];

/// Result of `card`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct CardOutput {
    /// The host's library.
    library: PathBuf,
    /// The file to name as the bitstream.
    xclbin: PathBuf,
    /// Folder of headers: host, sw and xrt.
    host: PathBuf,
    /// Arguments of a compiler of C++ for a program with these headers.
    cxxflags: String,
    /// The run of the program; null without one.
    ran: Option<Ran>,
}

/// A program's run.
#[derive(Debug, Serialize, JsonSchema)]
struct Ran {
    /// Exit code of the program; 128 and the signal that ended it.
    exit_code: u8,
    /// Cycles of the device, those before the program too.
    cycles: u64,
    /// Register accesses.
    register_accesses: u64,
    /// Broken rules of AXI.
    violations: u64,
    /// The first of them.
    first_violations: Vec<String>,
    /// Times on a host behind a link, with `--host-model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<LinkUse>,
}

/// Runs the subcommand. The exit code is the program's, or 1 if that is 0 and a rule of AXI was broken.
///
/// # Errors
/// A wrong configuration, a missing tool, a program that does not start, a device that does not go on, or Ctrl-C.
pub(in crate::cli) fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let (design, _) = crate::cli::load::load(&args.config, ui)?;
    ui.made_from(&design.name, design.config_sha256());
    ui.seeded((!args.library_only).then_some(args.seed));
    let interrupt = Interrupt::listen()?;
    let host = interrupt.explain(library(&design, &interrupt, ui), "while the library was built")?;
    let ran = match args.library_only {
        true => None,
        false => {
            let mut card = args.card(&design, &interrupt, ui)?;
            match args.program.is_empty() {
                true => None,
                false => {
                    Some(args.before(&mut card, &host, design.io() == IoMemory::Host, &interrupt, ui)?)
                }
            }
        }
    };
    let code = ran.as_ref().map_or(0, |ran| match ran.exit_code {
        0 => u8::from(ran.violations > 0),
        code => code,
    });
    let cxxflags = host.cxxflags();
    let output =
        CardOutput { library: host.library(), xclbin: host.xclbin(), host: host.folder, cxxflags, ran };
    ui.result(&output, || prose(&output))?;
    Ok(ExitCode::from(code))
}

/// Places of what was built; nothing after a program, whose output this is.
fn prose(output: &CardOutput) -> String {
    match output.ran {
        Some(_) => String::new(),
        None => format!(
            "MESHKV_LIBRARY={}\nMESHKV_XCLBIN={}\nMESHKV_HOST={}\nMESHKV_CXXFLAGS={}\n",
            output.library.display(),
            output.xclbin.display(),
            output.host.display(),
            output.cxxflags
        ),
    }
}

/// Builds the host's library, or takes it from the cache.
fn library(design: &Design, interrupt: &Interrupt, ui: &Ui) -> anyhow::Result<HostLibrary> {
    let stop = || interrupt.requested();
    let cxx = found::find(&tools::CXX, &stop, ui)?;
    let program = cxx.program();
    let verilator = found::find(&tools::VERILATOR, &stop, ui)?;
    let version = Toolchain::probe(verilator.program(), program.clone())?.cxx_version;
    let progress = ui.progress(None, "compiling the host's library");
    let files = emit::emit(design)?;
    Ok(HostLibrary::build(&files, (&program, &version), None, &stop, &mut |step| match step {
        Progress::Waiting => progress.message("another process builds this library"),
        Progress::Unlocked { folder } => progress.aside(|| ui.warn_once(unlocked(folder))),
        Progress::Rebuilding { why } => {
            progress.aside(|| ui.warn(format_args!("{why}; building it again")));
        }
        _ => {}
    })?)
}

impl Args {
    /// The device out of reset, as a card.
    fn card(&self, design: &Design, interrupt: &Interrupt, ui: &Ui) -> anyhow::Result<Card> {
        let clock = &design.clock;
        let clocks = Clocks { noc_mhz: clock.noc_mhz, pe_mhz: clock.pe_mhz, jitter: 0, seed: self.seed };
        let platform = Card::platform(design);
        let platform = if self.unruly_memory { platform.unruly(self.seed) } else { platform };
        let shares = design.io() == IoMemory::Host;
        let platform = match self.host_model.as_deref().map(host_model::read).transpose()? {
            Some(model) if shares => {
                let (io, writes) = model.memory(design, &platform.io);
                Platform { io, io_writes: Some(writes), ..platform }
            }
            _ => platform,
        };
        let length = if self.long { RunLength::Long } else { RunLength::Quick };
        let of = |form| Verilog { design, form, length, cache: None, seed: self.seed, interrupt, ui };
        let dut: Box<dyn DutPorts> = if self.whole {
            of(BuildForm::WholeDevice).build()?
        } else {
            let core = if clocks.in_step() { BuildForm::CorePieces } else { BuildForm::CorePiecesTwoClocks };
            let front = of(BuildForm::FrontAlone).build()?;
            Box::new(SplitDevice::new(front, of(core).build()?, design)?)
        };
        let device = Device::new(dut, design, &platform, &clocks)?;
        let card = Card::new(Bench::new(device, design, &platform)?, design);
        Ok(if shares { card.shared() } else { card })
    }

    /// Runs the program before the card.
    fn before(
        &self,
        card: &mut Card,
        host: &HostLibrary,
        shares: bool,
        interrupt: &Interrupt,
        ui: &Ui,
    ) -> anyhow::Result<Ran> {
        let server =
            Server::new().context("the card needs a socket; TMPDIR may name a folder of a shorter path")?;
        let mut command = Command::new(&self.program[0]);
        command.args(&self.program[1..]).env("MESHKV_LIBRARY", host.library());
        command.env("MESHKV_XCLBIN", host.xclbin()).env("MESHKV_HOST", &host.folder);
        command.env("MESHKV_CXXFLAGS", host.cxxflags());
        if shares {
            command.env("MESHKV_CARD_HOST_MEMORY", "1");
        }
        if ui.json() {
            command.stdout(Stdio::from(io::stderr()));
        }
        let ended = server.run(card, &mut command, &|| interrupt.requested());
        let (violations, first_violations) = card.device().violations();
        let said = first_violations.iter().fold(String::new(), |all, one| format!("{all}\n  {one}"));
        let status = ended.map_err(|why| match why {
            CardError::Stopped => {
                anyhow::Error::from(Interrupted("while the program ran, which was ended".to_owned()))
            }
            why => anyhow::anyhow!("{:#}{said}", anyhow::Error::from(why)),
        })?;
        if violations > 0 {
            ui.error(format_args!("{violations} rules of AXI were broken:{said}"));
        }
        let (cycles, register_accesses) = (card.device().cycle(), card.device().accesses());
        ui.note(format_args!("card: {cycles} cycles, {register_accesses} register accesses"));
        let model = self.host_model.as_deref().map(host_model::read).transpose()?;
        let link = model.map(|model| card.link_use(&model));
        if let Some(link) = &link {
            ui.note(link.prose());
        }
        Ok(Ran { exit_code: code_of(status), cycles, register_accesses, violations, first_violations, link })
    }
}

/// The exit code of a program, as shells report it.
fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}
