//! The command line as a whole: parses it, runs one subcommand, and turns an error into words and an exit code.

use crate::cli::compare::{mutate, paper, report, sweep};
use crate::cli::output::diagnostics;
use crate::cli::output::ui::{Ui, UiArgs};
use crate::cli::prepare::{check, estimate, generate, init, lint, plan, prove};
use crate::cli::program::scope::{self, Scope};
use crate::cli::program::{completions, doctor, examples, man, schema};
use crate::cli::simulate::cosim::sim;
use crate::cli::simulate::work::Work;
use crate::cli::simulate::{card, cosim, engine, fetch, soak};
use crate::config::{Engine, Report};
use crate::tools::interrupt::{self, Interrupted};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

/// Turns one TOML file into a KV-cache network-on-chip fabric
#[derive(Debug, Parser)]
#[command(name = "meshkv", version, about, max_term_width = 100)]
#[command(after_help = "Examples:
  meshkv init                                        write a commented meshkv.toml
  meshkv examples                                    write the files that examples use
  meshkv check meshkv.toml                           what follows from it
  meshkv generate meshkv.toml -o rtl_out/meshkv      the Verilog
  meshkv cosim meshkv.toml --load 0.2                that Verilog under traffic
  meshkv sim meshkv.toml --sweep-load 0.05:1.0       the same traffic on its cycle-exact model, fast
  meshkv fetch meshkv.toml --pattern broadcast       slices fetched from their homes, on that Verilog
  meshkv decode meshkv.toml --tokens 4096            a decode step, or a sample of one, on that Verilog
  meshkv sim decode meshkv.toml --tokens 4096        the same on the model; also: sim fetch, sim run
  meshkv sweep sweeps/latency_load.toml              every point of a grid, a row each, resumable
  meshkv report out/latency_load                     tables, pictures and a page of those rows
  meshkv paper --quick -o out/paper                  every number of the paper beside ours
  meshkv estimate meshkv.toml                        what it takes on the device, and whether it fits
  meshkv mutate meshkv.toml --count 50                faults planted in that Verilog, to see each found
  meshkv plan meshkv.toml --cards 4 --layers 32      a model whose cache exceeds a card, on several
  meshkv run meshkv.toml --tokens 512                attention computed by that Verilog, in every bit
  meshkv card meshkv.toml -- ./program               a program of yours, with that Verilog as its card
  meshkv prove meshkv.toml                           properties of its control blocks, proved

Exit codes: 0 success, 1 a check failed, 2 bad input or a missing tool, 130 interrupted.")]
struct Cli {
    #[command(flatten)]
    ui: UiArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Args),
    Examples(examples::Args),
    Check(check::Args),
    Generate(generate::Args),
    Lint(lint::Args),
    Prove(prove::Args),
    Cosim(Box<cosim::Args>),
    Sim(Box<sim::Args>),
    #[command(flatten)]
    Work(Work),
    Card(card::Args),
    Soak(soak::Args),
    Mutate(mutate::Args),
    #[command(hide = true)]
    MutateOne(mutate::OneArgs),
    Sweep(sweep::Args),
    #[command(hide = true)]
    SweepChunk(sweep::ChunkArgs),
    Report(report::Args),
    Paper(paper::Args),
    Estimate(estimate::Args),
    Plan(plan::Args),
    Doctor(doctor::Args),
    Schema(schema::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// The command line: every subcommand with its options and help text.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Parses a command line, and refuses options that are out of place or have no effect with the others.
///
/// # Errors
/// As clap has them, for it to print.
pub fn parsed(
    line: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<ArgMatches, clap::Error> {
    let mut cli = command();
    let matches = cli.try_get_matches_from_mut(line)?;
    misplaced(&mut cli, &matches)?;
    scope::check(&mut cli, &matches, &scopes)?;
    Ok(matches)
}

/// Where options of a subcommand have an effect.
fn scopes(name: &str) -> Vec<&'static Scope> {
    let all: &[&'static [Scope]] = match name {
        "init" => &[init::SCOPES],
        "check" => &[check::SCOPES],
        "cosim" | "sim" => &[cosim::SCOPES, engine::SCOPES],
        "run" => &[crate::cli::simulate::run::SCOPES, engine::SCOPES],
        "decode" => &[engine::SCOPES],
        "card" => &[card::SCOPES],
        "fetch" => &[fetch::SCOPES, engine::SCOPES],
        "sweep" => &[sweep::SCOPES, sweep::SLURM_SCOPES],
        "paper" => &[paper::SCOPES, sweep::SLURM_SCOPES],
        _ => &[],
    };
    all.iter().copied().flatten().collect()
}

/// Parses the command line and runs one subcommand.
pub fn run() -> ExitCode {
    let matches = parsed(std::env::args_os()).unwrap_or_else(|error| refuse(&error));
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| refuse(&error));
    let ui = Ui::new(&cli.ui);
    match dispatch(&cli.command, &ui) {
        Ok(code) => {
            // If it is success, nothing failed.
            ui.explain_failure(FAILED);
            code
        }
        Err(error) => {
            let code = fail(&error, &ui);
            ui.explain_failure(code);
            ExitCode::from(code)
        }
    }
}

/// Rows and columns of a screen, which problems of a file that are printed do not leave.
const SCREEN: (usize, usize) = (40, 100);

/// Exit code of a check that failed.
const FAILED: u8 = 1;

/// Ends the process at a command line that is wrong, or asks for help.
fn refuse(error: &clap::Error) -> ! {
    let asked = std::env::args_os().any(|arg| arg == "--json");
    if asked && error.use_stderr() {
        let text = error.render().to_string();
        let message = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
        // Standard error has the message already.
        let ui = Ui::json_only();
        ui.note_error(message);
        ui.explain_failure(error.exit_code().try_into().unwrap_or(FAILED));
    }
    error.exit()
}

/// Rejects options of traffic before a subcommand of `cosim` or `sim` that runs something else.
fn misplaced(cli: &mut clap::Command, matches: &ArgMatches) -> Result<(), clap::Error> {
    let Some((name, given)) = matches.subcommand() else { return Ok(()) };
    let Some((work, _)) = given.subcommand() else { return Ok(()) };
    let Some(command) = cli.find_subcommand_mut(name) else { return Ok(()) };
    let typed = |arg: &&Arg| given.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
    let own = command.get_arguments().filter(|arg| !arg.is_global_set()).filter(typed);
    let own: Vec<_> = own.map(|arg| arg.to_string()).collect();
    if own.is_empty() {
        return Ok(());
    }
    let problem = format!(
        "options before `{work}` apply only to traffic: {}\n\n  tip: write the configuration and all options of \
         `meshkv {name} {work}` after `{work}`",
        own.join(", ")
    );
    Err(command.error(ErrorKind::ArgumentConflict, problem))
}

fn dispatch(command: &Command, ui: &Ui) -> anyhow::Result<ExitCode> {
    match command {
        Command::Init(args) => init::run(args, ui),
        Command::Examples(args) => examples::run(args, ui),
        Command::Check(args) => check::run(args, ui),
        Command::Generate(args) => generate::run(args, ui),
        Command::Lint(args) => lint::run(args, ui),
        Command::Prove(args) => prove::run(args, ui),
        Command::Cosim(args) => cosim::run(args, ui),
        Command::Sim(args) => sim::run(args, ui),
        Command::Work(work) => work.run(Engine::Rtl, ui),
        Command::Card(args) => card::run(args, ui),
        Command::Soak(args) => soak::run(args, ui),
        Command::Mutate(args) => mutate::run(args, ui),
        Command::MutateOne(args) => mutate::run_one(args),
        Command::Sweep(args) => sweep::run(args, ui),
        Command::SweepChunk(args) => sweep::run_chunk(args),
        Command::Report(args) => report::run(args, ui),
        Command::Paper(args) => paper::run(args, ui),
        Command::Estimate(args) => estimate::run(args, ui),
        Command::Plan(args) => plan::run(args, ui),
        Command::Doctor(args) => doctor::run(args, ui),
        Command::Schema(args) => schema::run(args, ui),
        Command::Completions(args) => completions::run(args, self::command(), ui),
        Command::Man(args) => man::run(args, self::command(), ui),
    }
}

/// An error and its causes in one line, without a cause that the words before it end with.
fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string).filter(|cause| !cause.is_empty()) {
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text += &format!(": {cause}");
        }
    }
    text
}

/// Reports an error and picks the exit code.
fn fail(error: &anyhow::Error, ui: &Ui) -> u8 {
    // `meshkv check x | head` closes the pipe on purpose: that is no failure.
    let broken_pipe = |e: &io::Error| e.kind() == io::ErrorKind::BrokenPipe;
    if error.chain().filter_map(|e| e.downcast_ref::<io::Error>()).any(broken_pipe) {
        return 0;
    }
    if let Some(interrupted) = error.downcast_ref::<Interrupted>() {
        ui.stderr(interrupted);
        ui.note_error(interrupted);
        return interrupt::EXIT_CODE;
    }
    if let Some(report) = error.downcast_ref::<Report>() {
        // Its lines start with the place in the file, as editors expect.
        let (first, others) = report.on_a_screen(SCREEN.0, SCREEN.1);
        ui.stderr(format_args!("{first:#}"));
        if others > 0 {
            ui.stderr(format_args!("{}: and {others} more problems", report.path));
        }
        ui.note_error(first);
        ui.diagnose(diagnostics::of_report(report));
    } else if let Some(refused) = error.downcast_ref::<crate::emit::WriteError>() {
        // Its message already contains the cause.
        ui.error(refused);
    } else {
        ui.error(chain(error));
    }
    2
}
