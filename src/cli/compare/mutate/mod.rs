//! `meshkv mutate`: plants faults in the emitted Verilog and sees whether the checks find them.

mod args;
mod child;
mod output;
mod work;

pub use child::{run_one, OneArgs};
pub(in crate::cli) use output::MutateOutput;

use crate::cli::load::load;
use crate::cli::output::ui::Ui;
use crate::cli::program::found as tool;
use crate::design::Design;
use crate::emit::{self, SourceFile};
use crate::eval::mutate::mutant::{mutants, Mutant, Wanted};
use crate::eval::mutate::session::Folder;
use crate::eval::mutate::summary::{Known, Summary};
use crate::eval::mutate::under_check;
use crate::synth::prove::Provers;
use crate::tools;
use crate::tools::interrupt::Interrupt;
use anyhow::{bail, Context};
pub use args::Args;
use output::prose;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use work::Work;

/// Runs the subcommand.
///
/// # Errors
/// A configuration that is refused, a missing tool, a design whose checks fail without a mutant, or Ctrl-C.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    ui.seeded(Some(args.seed));
    let interrupt = Interrupt::listen()?;
    let designs = designs(args, ui)?;
    if designs.len() > 1 {
        ui.made_from_several();
    }
    let wanted =
        Wanted { count: args.count, seed: args.seed, module: args.module.clone(), listed: !args.drawn_only };
    let texts: Vec<_> = designs.iter().map(|(design, files)| (design, files.as_slice())).collect();
    let of_each = mutants(&texts, &wanted)?;
    if of_each.iter().all(Vec::is_empty) {
        bail!("there is no mutant\n  help: raise --count, or leave --module out");
    }
    let stop = || interrupt.requested();
    let provers = match args.prove {
        0 => None,
        _ => Some(
            tool::find(&tools::YOSYS, &stop, ui)
                .and_then(|yosys| Ok(Provers { yosys, abc: tool::find(&tools::ABC, &stop, ui)? }))
                .context("survivors are shown to Yosys and ABC; --prove 0 leaves that out")?,
        ),
    };
    let root = args.output.clone().unwrap_or_else(|| PathBuf::from("out/mutate"));
    let (mut found, mut tried) = (BTreeSet::new(), BTreeSet::new());
    let mut folders: Vec<Folder> = Vec::new();
    for ((design, files), mutants) in designs.iter().zip(&of_each) {
        let folder = Folder::open(&root.join(&design.name))?;
        folders.push(folder.clone());
        let work = Work { args, design, files, folder, provers: provers.as_ref(), interrupt: &interrupt, ui };
        let left: Vec<&Mutant> = mutants.iter().filter(|mutant| !found.contains(&mutant.number)).collect();
        if !left.is_empty() {
            found.extend(work.run(&wanted, mutants, &left, &tried)?);
        }
        tried.extend(mutants.iter().map(|mutant| mutant.number));
    }
    let known = folders.iter().zip(&of_each).map(|(folder, mutants)| {
        Ok(Known { mutants, outcomes: folder.outcomes()?, proofs: folder.proofs()? })
    });
    let summary = Summary::of(&known.collect::<anyhow::Result<Vec<_>>>()?)?;
    let bad = summary.all.survived > 0;
    let names = designs.iter().map(|(design, _)| design.name.clone());
    let output = MutateOutput::new(args, names.collect(), summary);
    ui.result(&output, || prose(&output))?;
    Ok(if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The designs with their files as the checks use them.
fn designs(args: &Args, ui: &Ui) -> anyhow::Result<Vec<(Design, Vec<SourceFile>)>> {
    let mut designs: Vec<(Design, Vec<SourceFile>)> = Vec::new();
    for config in &args.configs {
        let (design, _) = load(config, ui)?;
        if designs.iter().any(|(other, _)| other.name == design.name) {
            bail!(
                "two configurations have the name {}\n  help: rename one; its folder has its name",
                design.name
            );
        }
        let files = under_check(&emit::emit(&design)?);
        designs.push((design, files));
    }
    Ok(designs)
}
