//! `meshkv mutate`: plants faults in the emitted Verilog and sees whether the checks find them.

mod args;
mod child;
mod output;

pub use child::{run_one, OneArgs};
pub(in crate::cli) use output::MutateOutput;

use crate::cli::load::load;
use crate::cli::output::ui::Ui;
use crate::cli::simulate::library::library_of;
use crate::cosim::build::RunLength;
use crate::design::Design;
use crate::emit::{self, SourceFile};
use crate::eval::mutate::equal::proof;
use crate::eval::mutate::mutant::{mutants, Mutant, Wanted};
use crate::eval::mutate::session::{Folder, Outcome, Session};
use crate::eval::mutate::summary::Summary;
use crate::eval::mutate::{forms, guarded, under_check};
use crate::tools::interrupt::{Interrupt, Interrupted};
use crate::tools::{self, workers};
use anyhow::{bail, Context};
pub use args::Args;
use output::prose;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Runs the subcommand.
///
/// # Errors
/// A configuration that is refused, a missing tool, a design whose checks fail without a mutant, or Ctrl-C.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    ui.seeded(Some(args.seed));
    let (design, _) = load(&args.config, ui)?;
    let interrupt = Interrupt::listen()?;
    let files = under_check(&emit::emit(&design)?);
    let wanted =
        Wanted { count: args.count, seed: args.seed, module: args.module.clone(), listed: !args.drawn_only };
    let all = mutants(&design, &files, &wanted)?;
    if all.is_empty() {
        bail!("there is no mutant\n  help: raise --count, or leave --module out");
    }
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from("out/mutate").join(&design.name));
    let work = Work {
        args,
        design: &design,
        files: &files,
        folder: Folder::open(&path)?,
        interrupt: &interrupt,
        ui,
    };
    let session = work.session(wanted, all)?;
    work.try_all(&session)?;
    work.prove_all(&session)?;
    let summary = Summary::of(&session.mutants, &work.folder.outcomes()?, &work.folder.proofs()?)?;
    let bad = summary.all.survived > 0;
    let output = MutateOutput::new(args, &design, summary);
    ui.result(&output, || prose(&output))?;
    Ok(if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

struct Work<'a> {
    args: &'a Args,
    design: &'a Design,
    files: &'a [SourceFile],
    folder: Folder,
    interrupt: &'a Interrupt,
    ui: &'a Ui,
}

/// A check may take so many times as long as without a mutant, and so many seconds more.
const LIMIT: (f64, f64) = (8.0, 20.0);

impl Work<'_> {
    /// Builds the libraries, and tries the checks without a mutant; takes both from the folder if they are there.
    fn session(&self, wanted: Wanted, mutants: Vec<Mutant>) -> anyhow::Result<Session> {
        let files = guarded(self.files, &mutants);
        let mut libraries = Vec::new();
        for form in forms(self.design) {
            let built =
                library_of(&files, None, self.design, form, RunLength::Quick, self.interrupt, self.ui);
            let library = self.interrupt.explain(built, "while the mutants were built")?;
            libraries.push((form.name().to_owned(), library.path().to_owned()));
        }
        let config = self.design.configuration().clone();
        let (name, version) = (self.design.name.clone(), env!("CARGO_PKG_VERSION").to_owned());
        let mut session = Session { version, name, config, wanted, mutants, libraries, limits: Vec::new() };
        if let Some(before) = self.folder.session()? {
            if (&before.mutants, &before.libraries) == (&session.mutants, &session.libraries) {
                session.limits = before.limits;
                return Ok(session);
            }
        }
        self.folder.begin(&session)?;
        let progress = self.ui.progress(None, "the checks without a mutant");
        let tried = child::attempt(&self.folder, 0, Duration::MAX, self.interrupt)?;
        drop(progress);
        self.interrupt.check("in the checks without a mutant; nothing was found yet")?;
        if let Some(check) = &tried.outcome.found {
            bail!(
                "without a mutant the check `{check}` fails: {}\n  help: it must pass before it can find anything",
                tried.outcome.what
            );
        }
        let limit = |(name, seconds): &(String, f64)| (name.clone(), seconds * LIMIT.0 + LIMIT.1);
        session.limits = tried.took.iter().map(limit).collect();
        for (name, seconds) in &tried.took {
            self.ui.detail(format_args!("{name}: {seconds:.2} s"));
        }
        self.folder.begin(&session)?;
        Ok(session)
    }

    fn jobs(&self) -> usize {
        self.args.jobs.map_or_else(workers::cores, usize::from)
    }

    /// Tries each mutant that has no outcome yet.
    fn try_all(&self, session: &Session) -> anyhow::Result<()> {
        let done: BTreeSet<u32> = self.folder.outcomes()?.iter().map(|outcome| outcome.number).collect();
        let left: Vec<&Mutant> = session.mutants.iter().filter(|m| !done.contains(&m.number)).collect();
        let all = session.mutants.len() as u64;
        let most: f64 = session.limits.iter().map(|(_, seconds)| seconds).sum();
        let most = Duration::from_secs_f64(most + LIMIT.1);
        let progress = self.ui.progress(Some(all), "mutants");
        let (mut tried, mut survived) = (done.len() as u64, 0);
        progress.set(tried);
        let run = |mutant: &&Mutant| child::attempt(&self.folder, mutant.number, most, self.interrupt);
        let ended = workers::work(&left, self.jobs(), &run, &mut |mutant, found| {
            self.interrupt.check("")?;
            let outcome: Outcome = found?.outcome;
            self.folder.add(&outcome)?;
            tried += 1;
            progress.set(tried);
            if outcome.found.is_none() && !outcome.absent {
                survived += 1;
                progress.aside(|| self.ui.detail(format_args!("survives: {}", mutant.title())));
            }
            progress.message(format!("{survived} survive"));
            Ok(())
        });
        self.stopped(ended, tried, all)
    }

    fn stopped(&self, ended: anyhow::Result<()>, done: u64, all: u64) -> anyhow::Result<()> {
        if self.interrupt.requested() {
            let folder = self.folder.path().display();
            return Err(Interrupted(format!(
                "after {done} of {all} mutants; the same command goes on in {folder}"
            ))
            .into());
        }
        ended
    }

    /// Asks Yosys about each survivor that it was not asked about.
    fn prove_all(&self, session: &Session) -> anyhow::Result<()> {
        if self.args.prove == 0 {
            return Ok(());
        }
        let asked: BTreeSet<u32> = self.folder.proofs()?.iter().map(|proof| proof.number).collect();
        let survived: BTreeSet<u32> = self
            .folder
            .outcomes()?
            .iter()
            .filter(|o| o.found.is_none() && !o.absent)
            .map(|o| o.number)
            .collect();
        let open = |m: &&Mutant| survived.contains(&m.number) && !asked.contains(&m.number);
        let left: Vec<&Mutant> = session.mutants.iter().filter(open).collect();
        if left.is_empty() {
            return Ok(());
        }
        let stop = || self.interrupt.requested();
        let yosys = tools::find(&tools::SYNTHESIS)
            .context("survivors are shown to Yosys; --prove 0 leaves that out")?;
        let limit = Duration::from_secs(self.args.prove);
        let progress = self.ui.progress(Some(left.len() as u64), "survivors shown to Yosys");
        let begun = Instant::now();
        let mut count = 0;
        let run = |mutant: &&Mutant| proof(&yosys.program(), self.files, mutant, limit, &stop);
        let ended = workers::work(&left, self.jobs(), &run, &mut |_, found| {
            self.interrupt.check("")?;
            self.folder.prove(&found?)?;
            count += 1;
            progress.set(count);
            Ok(())
        });
        self.ui.detail(format_args!("Yosys took {:.0} s", begun.elapsed().as_secs_f64()));
        self.stopped(ended, session.mutants.len() as u64, session.mutants.len() as u64)
    }
}
