//! The mutants of one design: its libraries, its checks without a mutant, and each mutant until something decides it.

use super::args::Args;
use super::child;
use crate::cli::output::ui::Ui;
use crate::cli::simulate::library::library_of;
use crate::cosim::build::RunLength;
use crate::design::Design;
use crate::emit::SourceFile;
use crate::eval::mutate::equal::unequal;
use crate::eval::mutate::mutant::{Mutant, Wanted};
use crate::eval::mutate::properties::broken;
use crate::eval::mutate::session::{Folder, Outcome, Proof, Session};
use crate::eval::mutate::{check_names, forms, guarded};
use crate::synth::prove::catalogue::{self, Proof as Properties};
use crate::synth::prove::{Options, Provers};
use crate::tools::interrupt::{Interrupt, Interrupted};
use crate::tools::workers;
use anyhow::{bail, Context};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Seconds of checks before Yosys and ABC are asked about a mutant: what is found at all is mostly found soon.
const FIRST: f64 = 4.0;

/// The mutants of a design.
pub(super) struct Work<'a> {
    pub(super) args: &'a Args,
    pub(super) design: &'a Design,
    /// Its files as the checks use them.
    pub(super) files: &'a [SourceFile],
    pub(super) folder: Folder,
    /// None if nothing is to be proved.
    pub(super) provers: Option<&'a Provers>,
    pub(super) interrupt: &'a Interrupt,
    pub(super) ui: &'a Ui,
}

impl Work<'_> {
    /// Tries each of the mutants that are `left` and have no outcome yet; returns the numbers of all that were found. Of
    /// those that were `tried` on another design before, most are no fault: Yosys is asked first.
    pub(super) fn run(
        &self,
        wanted: &Wanted,
        mutants: &[Mutant],
        left: &[&Mutant],
        tried: &BTreeSet<u32>,
    ) -> anyhow::Result<BTreeSet<u32>> {
        let session = self.session(wanted, mutants)?;
        let properties = match self.provers {
            Some(_) => catalogue::of(self.files)?,
            None => Vec::new(),
        };
        let done: BTreeSet<u32> = self.folder.outcomes()?.iter().map(|outcome| outcome.number).collect();
        let proofs = self.folder.proofs()?.into_iter().map(|proof| (proof.number, proof)).collect();
        let trial = Trial { work: self, session: &session, properties: &properties, proofs, tried };
        let open: Vec<&Mutant> = left.iter().filter(|m| !done.contains(&m.number)).copied().collect();
        let all = left.len() as u64;
        let progress = self.ui.progress(Some(all), &format!("mutants of {}", self.design.name));
        let (mut count, mut survived) = (all - open.len() as u64, 0);
        progress.set(count);
        let run = |mutant: &&Mutant| trial.run(mutant);
        let ended = workers::work(&open, self.jobs(), &run, &mut |mutant, outcome| {
            self.interrupt.check("")?;
            let (outcome, proof) = outcome?;
            let equal = proof.as_ref().is_some_and(|proof| proof.equal);
            if let Some(proof) = proof.filter(|proof| !trial.proofs.contains_key(&proof.number)) {
                self.folder.prove(&proof)?;
            }
            self.folder.add(&outcome)?;
            count += 1;
            progress.set(count);
            if outcome.found.is_none() && !outcome.absent && !equal {
                survived += 1;
                progress.aside(|| self.ui.detail(format_args!("survives: {}", mutant.title())));
            }
            progress.message(format!("{survived} survive"));
            Ok(())
        });
        if self.interrupt.requested() {
            let folder = self.folder.path().display();
            return Err(Interrupted(format!(
                "after {count} of {all} mutants; the same command goes on in {folder}"
            ))
            .into());
        }
        ended?;
        let outcomes = self.folder.outcomes()?;
        Ok(outcomes.iter().filter(|outcome| outcome.found.is_some()).map(|outcome| outcome.number).collect())
    }

    /// Builds the libraries, and tries the checks without a mutant; takes both from the folder if they are there.
    fn session(&self, wanted: &Wanted, mutants: &[Mutant]) -> anyhow::Result<Session> {
        let files = guarded(self.files, mutants);
        let mut libraries = Vec::new();
        for form in forms(self.design) {
            let built =
                library_of(&files, None, self.design, form, RunLength::Quick, self.interrupt, self.ui);
            let library = self.interrupt.explain(built, "while the mutants were built")?;
            libraries.push((form.name().to_owned(), library.path().to_owned()));
        }
        let mut session = Session {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            name: self.design.name.clone(),
            config: self.design.configuration().clone(),
            wanted: wanted.clone(),
            mutants: mutants.to_vec(),
            libraries,
            checks: BTreeMap::new(),
        };
        if let Some(before) = self.folder.session()? {
            if (&before.mutants, &before.libraries) == (&session.mutants, &session.libraries) {
                session.checks = before.checks;
            }
        }
        if session.checks.is_empty() {
            self.folder.begin(&session)?;
            self.without(&mut session)?;
            self.folder.begin(&session)?;
        }
        Ok(session)
    }

    /// Runs each check without a mutant: it must pass, and says how long it takes and which mutants it reaches.
    fn without(&self, session: &mut Session) -> anyhow::Result<()> {
        let names = check_names(self.design);
        let progress = self.ui.progress(Some(names.len() as u64), "the checks without a mutant");
        let mut done = 0;
        let run = |name: &&str| {
            let checks = [(*name).to_owned()];
            child::attempt(&self.folder, 0, &checks, Duration::MAX, self.interrupt)
        };
        let ended = workers::work(&names, self.jobs(), &run, &mut |name, tried| {
            self.interrupt.check("")?;
            let tried = tried?;
            if tried.outcome.found.is_some() {
                bail!(
                    "without a mutant the check `{name}` fails: {}\n  help: it must pass before it can find anything",
                    tried.outcome.what
                );
            }
            let without =
                tried.without.with_context(|| format!("the check `{name}` has not said what it reaches"))?;
            progress.aside(|| self.ui.detail(format_args!("{name}: {:.2} s", without.seconds)));
            session.checks.insert((*name).to_owned(), without);
            done += 1;
            progress.set(done);
            Ok(())
        });
        self.interrupt.check("in the checks without a mutant; nothing was found yet")?;
        ended
    }

    fn jobs(&self) -> usize {
        self.args.jobs.map_or_else(workers::cores, usize::from)
    }
}

/// What a mutant is tried with.
struct Trial<'a> {
    work: &'a Work<'a>,
    session: &'a Session,
    /// Proofs of the design.
    properties: &'a [Properties],
    /// What was said of mutants before.
    proofs: BTreeMap<u32, Proof>,
    /// Mutants that another design was tried with.
    tried: &'a BTreeSet<u32>,
}

impl Trial<'_> {
    /// The first checks that reach the mutant, then proofs, then all other checks, until one decides.
    fn run(&self, mutant: &Mutant) -> anyhow::Result<(Outcome, Option<Proof>)> {
        let number = mutant.number;
        let plan = self.session.plan(number);
        let first = if self.tried.contains(&number) { 0.0 } else { FIRST };
        let (first, rest): (Vec<_>, Vec<_>) = plan.into_iter().partition(|(_, sum)| *sum <= first);
        let absent = !self.session.is_present(number);
        let nothing =
            Outcome { number, found: None, what: String::new(), differed: false, absent, seconds: 0.0 };
        if absent {
            return Ok((nothing, None));
        }
        let tried = self.under(&first, nothing)?;
        if tried.found.is_some() {
            return Ok((tried, None));
        }
        let proof = match self.proofs.get(&number) {
            Some(proof) => Some(proof.clone()),
            None => self.proof(mutant)?,
        };
        if let Some(Proof { breaks: Some(module), .. }) = &proof {
            let what = format!("a property of {module} falls");
            return Ok((Outcome { found: Some("properties".to_owned()), what, ..tried }, proof));
        }
        if proof.as_ref().is_some_and(|proof| proof.equal) {
            return Ok((tried, proof));
        }
        Ok((self.under(&rest, tried)?, proof))
    }

    /// The outcome of some more checks.
    fn under(&self, checks: &[(String, f64)], before: Outcome) -> anyhow::Result<Outcome> {
        if checks.is_empty() {
            return Ok(before);
        }
        let names: Vec<String> = checks.iter().map(|(name, _)| name.clone()).collect();
        // A check ends by itself when it takes too long; this is for a process that does not.
        let most: f64 = names.iter().map(|name| self.session.limit(name)).sum();
        let most = Duration::from_secs_f64(most + 10.0);
        let work = self.work;
        let tried = child::attempt(&work.folder, before.number, &names, most, work.interrupt)?.outcome;
        let (differed, seconds) = (before.differed || tried.differed, before.seconds + tried.seconds);
        Ok(Outcome { differed, seconds, ..tried })
    }

    /// What Yosys and ABC say of a mutant.
    fn proof(&self, mutant: &Mutant) -> anyhow::Result<Option<Proof>> {
        let Some(provers) = self.work.provers else { return Ok(None) };
        let (files, number) = (self.work.files, mutant.number);
        let stop = || self.work.interrupt.requested();
        let limit = Duration::from_secs(u64::from(self.work.args.prove));
        let yosys = provers.yosys.program();
        let Some(unequal) = unequal(&yosys, files, mutant, limit, &stop)? else {
            return Ok(Some(Proof { number, equal: true, breaks: None, why: String::new() }));
        };
        let options = Options { seconds: self.work.args.prove, jobs: 1, cache: None, stop: &stop };
        let broken = broken(provers, files, self.properties, mutant, &options);
        let (breaks, why) = match broken {
            Ok(breaks) => (breaks, unequal),
            // What the tools cannot read with the mutant is left to the checks.
            Err(why) => {
                let why = format!("{why:#}");
                (None, format!("{unequal}; properties: {}", why.lines().next().unwrap_or_default()))
            }
        };
        Ok(Some(Proof { number, equal: false, breaks, why }))
    }
}
