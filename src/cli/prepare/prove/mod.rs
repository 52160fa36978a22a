//! `meshkv prove`: proves properties of control blocks, and refutes each on a mutant.

mod found;
mod report;

use crate::cli::output::diagnostics::junit;
use crate::cli::output::ui::Ui;
use crate::cli::prepare::subject::Subject;
use crate::cli::program::found as tool;
use crate::synth::prove::catalogue::{self, Proof};
use crate::synth::prove::{self, Decision, Design, Options, Provers, What, Work};
use crate::tools::interrupt::Interrupt;
use crate::tools::{self, workers};
use anyhow::{bail, Context, Result};
pub(in crate::cli) use report::ProveOutput;
use report::{DesignOutput, Tally};
use std::collections::BTreeSet;
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
  meshkv prove configs/tiny.toml configs/grow_4x4.toml
  meshkv prove configs/tiny.toml --module fifo --why
  meshkv prove configs/tiny.toml --json | jq '.properties[] | {module, property, verdict}'
  meshkv prove rtl_out/tiny --no-mutants --waves out/waves")]
pub struct Args {
    /// Configuration file, or a folder that was generated. Of several, each property is refuted in the first that has its
    /// mutant
    #[arg(value_name = "CONFIG", required = true, value_hint = clap::ValueHint::AnyPath)]
    configs: Vec<PathBuf>,
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
    let inputs: Vec<_> = args.configs.iter().map(|config| ("the configuration", config.as_path())).collect();
    junit::recorded(args.junit.as_deref(), &inputs, "meshkv prove", ui, || proved(args, ui))
}

fn proved(args: &Args, ui: &Ui) -> Result<ExitCode> {
    let loaded = args.configs.iter().map(|config| Subject::load(config, ui));
    let subjects = loaded.collect::<Result<Vec<_>>>()?;
    let several = subjects.len() > 1;
    if several {
        ui.made_from_several();
    }
    let proofs = wanted(args, &subjects)?;
    let designs: Vec<_> = subjects
        .iter()
        .zip(&proofs)
        .map(|(subject, proofs)| Design { files: &subject.files, proofs })
        .collect();
    let interrupt = Interrupt::listen()?;
    let stop = || interrupt.requested();
    let decided = decide(args, &subjects, &designs, &stop, ui);
    let tallies = interrupt.explain(decided, "before all proofs had ended")?;
    let mut output = ProveOutput::default();
    for (subject, tallies) in subjects.iter().zip(&tallies) {
        output.add(DesignOutput { name: subject.name.clone(), folder: subject.folder.clone() }, tallies);
    }
    let all: Vec<Proof> = if args.why { unlike(&proofs) } else { Vec::new() };
    ui.result(&output, || report::text(&output, &all))?;
    for property in &output.properties {
        let of = if several { format!("{}: ", output.design(property)) } else { String::new() };
        ui.checked(format!("{of}{}: {}", property.module, property.property), property.failure());
    }
    Ok(if output.proved { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The proofs of each design that are wanted.
fn wanted(args: &Args, subjects: &[Subject]) -> Result<Vec<Vec<Proof>>> {
    let all = subjects.iter().map(|subject| catalogue::of(&subject.files));
    let mut proofs = all.collect::<Result<Vec<_>>>()?;
    let Some(name) = &args.module else { return Ok(proofs) };
    let modules: Vec<_> = proofs.iter().flatten().map(|proof| proof.module.clone()).collect();
    proofs.iter_mut().for_each(|proofs| proofs.retain(|proof| proof.module.contains(name.as_str())));
    if proofs.iter().all(Vec::is_empty) {
        let mut listed = BTreeSet::new();
        let modules: Vec<_> = modules.into_iter().filter(|module| listed.insert(module.clone())).collect();
        bail!("--module {name}: no module with properties has this in its name\n  help: those with properties are {}", modules.join(", "));
    }
    Ok(proofs)
}

/// The proofs of all designs, each once.
fn unlike(proofs: &[Vec<Proof>]) -> Vec<Proof> {
    let mut there = BTreeSet::new();
    let all = proofs.iter().flatten();
    all.filter(|proof| there.insert((proof.module.as_str(), proof.pair.is_some()))).cloned().collect()
}

/// Finds the tools and decides everything, by design.
fn decide<'p>(
    args: &Args,
    subjects: &[Subject],
    designs: &[Design<'p>],
    stop: &(dyn Fn() -> bool + Sync),
    ui: &Ui,
) -> Result<Vec<Vec<Tally<'p>>>> {
    let provers =
        Provers { yosys: tool::find(&tools::YOSYS, stop, ui)?, abc: tool::find(&tools::ABC, stop, ui)? };
    let options = Options {
        seconds: args.limit,
        jobs: args.jobs.map_or_else(workers::cores, usize::from),
        cache: None,
        stop,
    };
    let work = prove::work(designs, !args.no_mutants);
    let progress = ui.progress(Some(work.len() as u64), "proving");
    let mut tallies: Vec<Vec<_>> =
        designs.iter().map(|design| design.proofs.iter().map(Tally::new).collect()).collect();
    let mut done = 0;
    prove::decide(&provers, &work, &options, &mut |&Work { design, proof, what, .. }, decision| {
        done += 1;
        progress.set(done);
        let name = &subjects[design].name;
        progress.message(format!("proving, last {} of {name}", proof.module));
        if let What::Prove(size) = what {
            let mut said = Ok(());
            progress.aside(|| said = kept(args, name, (proof, size), &decision, ui));
            said?;
        }
        let tally = tallies[design]
            .iter_mut()
            .find(|tally| std::ptr::eq(tally.proof, proof))
            .context("work is of a proof")?;
        tally.add(what, decision);
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
