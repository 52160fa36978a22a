//! `meshkv prove`: proves properties of control blocks, and refutes each on a mutant.

mod found;
mod report;

use crate::cli::output::diagnostics::junit;
use crate::cli::output::ui::Ui;
use crate::cli::prepare::subject::Subject;
use crate::cli::program::found as tool;
use crate::emit::SourceFile;
use crate::synth::prove::catalogue::{self, Proof};
use crate::synth::prove::{self, Decision, Options, Provers, Work};
use crate::tools::interrupt::Interrupt;
use crate::tools::{self, workers};
use anyhow::{bail, Context, Result};
pub(in crate::cli) use report::ProveOutput;
use report::Tally;
use std::path::PathBuf;
use std::process::ExitCode;

/// Prove properties of control blocks, and refute each on a mutant
///
/// A property that is proved holds in every state that the block can reach.
/// The properties stand in the emitted modules, under FORMAL. Yosys turns a module into a graph at the sizes that the
/// table names, with every input free but for what its neighbours promise, and ABC proves all its assertions at once
/// by induction or by property-directed reachability. Then each property must fall on a mutant that was made for it. A run that breaks a
/// property is written as waves, with views for GTKWave and Surfer. Verdicts are kept in the build cache
/// (MESHKV_CACHE), by the text of the modules. A folder that `meshkv generate` wrote is read as it is, edited or not. Ends with exit code 1 if a property falls or stays open, or
/// if a mutant is not found.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv prove configs/tiny.toml
  meshkv prove configs/tiny.toml --module fifo --why
  meshkv prove configs/tiny.toml --json | jq '.properties[] | {module, property, verdict}'
  meshkv prove rtl_out/tiny --no-mutants --waves out/waves")]
pub struct Args {
    /// Configuration file, or a folder that was generated
    #[arg(value_name = "CONFIG", value_hint = clap::ValueHint::AnyPath)]
    config: PathBuf,
    /// Only modules whose name contains this
    #[arg(long, value_name = "NAME")]
    module: Option<String>,
    /// Do not refute the properties on their mutants
    #[arg(long)]
    no_mutants: bool,
    /// Seconds for a proof; what is not decided by then stays open
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    limit: u32,
    /// Proofs at once [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Folder for waves of runs that break a property
    #[arg(long, value_name = "DIR", default_value = ".", value_hint = clap::ValueHint::DirPath)]
    waves: PathBuf,
    /// Write a test for each property as JUnit's XML, for CI servers; an existing file is replaced
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    junit: Option<PathBuf>,
    /// Say of each module why its sizes suffice and what is assumed of its neighbours
    #[arg(long)]
    why: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// All problems of the configuration; tools that are missing or fail; a list of proofs that does not fit the modules.
pub fn run(args: &Args, ui: &Ui) -> Result<ExitCode> {
    let inputs = [("the configuration", args.config.as_path())];
    junit::recorded(args.junit.as_deref(), &inputs, "meshkv prove", ui, || proved(args, ui))
}

fn proved(args: &Args, ui: &Ui) -> Result<ExitCode> {
    let subject = Subject::load(&args.config, ui)?;
    let proofs = proofs(args, &subject.files)?;
    let interrupt = Interrupt::listen()?;
    let stop = || interrupt.requested();
    let tallies =
        interrupt.explain(decide(args, &subject, &proofs, &stop, ui), "before all proofs had ended")?;
    let output = ProveOutput::of(subject.name, subject.folder, &tallies);
    ui.result(&output, || report::text(&output, args.why.then_some(&proofs[..])))?;
    for property in &output.properties {
        ui.checked(format!("{}: {}", property.module, property.property), property.failure());
    }
    Ok(if output.proved { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The proofs that are wanted.
fn proofs(args: &Args, files: &[SourceFile]) -> Result<Vec<Proof>> {
    let mut proofs = catalogue::of(files)?;
    let Some(name) = &args.module else { return Ok(proofs) };
    let all: Vec<_> = proofs.iter().map(|proof| proof.module.clone()).collect();
    proofs.retain(|proof| proof.module.contains(name.as_str()));
    if proofs.is_empty() {
        bail!("--module {name}: no module with properties has this in its name\n  help: those with properties are {}", all.join(", "));
    }
    Ok(proofs)
}

/// Finds the tools and decides everything.
fn decide<'p>(
    args: &Args,
    subject: &Subject,
    proofs: &'p [Proof],
    stop: &(dyn Fn() -> bool + Sync),
    ui: &Ui,
) -> Result<Vec<Tally<'p>>> {
    let provers =
        Provers { yosys: tool::find(&tools::YOSYS, stop, ui)?, abc: tool::find(&tools::ABC, stop, ui)? };
    let options = Options {
        seconds: args.limit,
        jobs: args.jobs.map_or_else(workers::cores, usize::from),
        cache: None,
        stop,
    };
    let work = prove::work(proofs, &subject.files, !args.no_mutants);
    let progress = ui.progress(Some(work.len() as u64), "proving");
    let mut tallies: Vec<_> = proofs.iter().map(|proof| Tally::new(proof, args.no_mutants)).collect();
    let mut done = 0;
    prove::decide(&provers, &subject.files, &work, &options, &mut |work, decision| {
        done += 1;
        progress.set(done);
        let proof = work.proof();
        progress.message(format!("proving, last {}", proof.module));
        if let Work::Prove { size, .. } = work {
            let mut said = Ok(());
            progress.aside(|| said = kept(args, &subject.name, (proof, *size), &decision, ui));
            said?;
        }
        let tally = tallies
            .iter_mut()
            .find(|tally| std::ptr::eq(tally.proof, proof))
            .context("work is of a proof")?;
        tally.add(work, decision);
        Ok(())
    })?;
    Ok(tallies)
}

/// Keeps the waves of a proof that failed.
fn kept(args: &Args, name: &str, of: (&Proof, usize), decision: &Decision, ui: &Ui) -> Result<()> {
    match &decision.waves {
        Some(waves) => found::keep(&args.waves, name, of, (waves, decision), ui),
        None => Ok(()),
    }
}
