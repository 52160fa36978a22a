//! Proofs of control blocks: what is asserted in a module, under `FORMAL`, holds in every state that it can reach.
//!
//! Yosys reads the emitted modules of a design at the sizes of the list; ABC proves all assertions of a module at once
//! by induction or property-directed reachability, or finds a run that breaks one. Each property is then refuted on a mutant, so that no
//! assertion holds for the wrong reason. `docs/prove.md` says what the proofs are of, and what they leave out.
//!
//! * `catalogue`: the list of proofs.
//! * `source`: the text that is decided; `pair`: two copies of a module, for its reset; `header`: ports of modules.
//! * `engine`: the tools, and the cache of their verdicts, by `key`.
//! * `verdict`: what ABC prints.

pub mod catalogue;
mod engine;
mod header;
mod key;
mod pair;
mod source;
mod verdict;

pub use engine::{Decision, Provers};
pub use header::{Header, Port};
pub use verdict::{Method, Verdict};

use crate::emit::SourceFile;
use crate::tools::{workers, WorkError};
use anyhow::{Context, Result};
use catalogue::{Mutant, Proof};
use engine::{Limits, Task};
use pair::LEMMA;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A design: its modules, and the proofs of them.
#[derive(Debug, Clone, Copy)]
pub struct Design<'p> {
    /// All emitted files.
    pub files: &'p [SourceFile],
    /// Proofs that are wanted.
    pub proofs: &'p [Proof],
}

/// One thing to decide.
#[derive(Debug, Clone, Copy)]
pub struct Work<'p> {
    /// Number of the design.
    pub design: usize,
    /// Its modules.
    files: &'p [SourceFile],
    /// The proof.
    pub proof: &'p Proof,
    /// What of it.
    pub what: What,
}

/// What of a proof is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// All its assertions at the size of this number.
    Prove(usize),
    /// The property of this number on its mutant: falls at one of the sizes.
    Refute(usize),
}

/// How to work.
pub struct Options<'o> {
    /// Seconds for each attempt.
    pub seconds: u32,
    /// Attempts at once.
    pub jobs: usize,
    /// Place of the cache; that of the environment if none.
    pub cache: Option<PathBuf>,
    /// True once the caller gives up.
    pub stop: &'o (dyn Fn() -> bool + Sync),
}

/// All work on `designs`: every size of every proof, then, if `mutants` are wanted, every property on its mutant, in the first
/// design whose form of the module has it.
pub fn work<'p>(designs: &[Design<'p>], mutants: bool) -> Vec<Work<'p>> {
    let of_each = || {
        designs.iter().enumerate().flat_map(|(design, Design { files, proofs })| {
            proofs.iter().map(move |proof| Work { design, files, proof, what: What::Prove(0) })
        })
    };
    let proved = of_each().flat_map(|work| {
        (0..work.proof.sizes.len()).map(move |size| Work { what: What::Prove(size), ..work })
    });
    let mut there = BTreeSet::new();
    let refuted = of_each()
        .flat_map(|work| {
            work.proof
                .properties
                .iter()
                .enumerate()
                .map(move |(number, property)| (Work { what: What::Refute(number), ..work }, property))
        })
        .filter(|(work, property)| {
            mutants
                && catalogue::mutant_of(work.proof, property, work.files).is_some()
                && there.insert((work.proof.module.as_str(), property.label.as_str()))
        });
    proved.chain(refuted.map(|(work, _)| work)).collect()
}

/// Decides all of `work`, several at once, and passes each decision on as it comes.
///
/// # Errors
/// The first error of a tool, of a file, or of `receive`; when the caller gives up.
pub fn decide<'w>(
    provers: &Provers,
    work: &'w [Work<'w>],
    options: &Options,
    receive: &mut dyn FnMut(&'w Work<'w>, Decision) -> Result<()>,
) -> Result<()> {
    let run = |work: &'w Work<'w>| one(provers, work, options);
    workers::work(work, options.jobs, &run, &mut |work, decision: Result<Decision>| receive(work, decision?))
}

/// Proofs that say most of a module: its own; where it has none, those of the modules around it.
///
/// # Errors
/// If a proof does not fit the modules.
pub fn about<'p>(proofs: &'p [Proof], module: &str, files: &[SourceFile]) -> Result<Vec<&'p Proof>> {
    let own: Vec<&Proof> = proofs.iter().filter(|proof| proof.module == module).collect();
    if !own.is_empty() {
        return Ok(own);
    }
    let mut around = Vec::new();
    for proof in proofs.iter().filter(|proof| proof.pair.is_none()) {
        if source::read_in(proof, files)?.iter().any(|name| name == module) {
            around.push(proof);
        }
    }
    Ok(around)
}

/// True if some run of limited length breaks an assertion of a proof, in modules that need not be those of the list.
///
/// # Errors
/// If a tool fails, or when the caller gives up.
pub fn falls(provers: &Provers, proof: &Proof, files: &[SourceFile], options: &Options) -> Result<bool> {
    for size in 0..proof.sizes.len() {
        let decision = at(provers, proof, files, options, &At { size, mutant: None, falls: true })?;
        if matches!(decision.verdict, Verdict::Refuted { .. }) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What of a proof is given to the tools.
struct At<'m> {
    /// Number of its size.
    size: usize,
    /// A mutant, and the label of the one assertion that counts.
    mutant: Option<(&'m Mutant, &'m str)>,
    /// True if only runs of limited length are looked at.
    falls: bool,
}

fn at(
    provers: &Provers,
    proof: &Proof,
    files: &[SourceFile],
    options: &Options,
    at: &At,
) -> Result<Decision> {
    let own = catalogue::text_of(files, &proof.module)?;
    let same = proof.pair.as_ref().map_or_else(Vec::new, |pair| pair.same(own));
    // A form of the module may lack a parameter.
    let values = proof.sizes[at.size].values().filter(|(name, _)| catalogue::has_parameter(own, name));
    let lemmas = same.iter().map(|name| format!("{LEMMA}{}", pair::flat(name)));
    let task = Task {
        top: proof.top().to_owned(),
        text: source::of(proof, files, at.mutant.map(|(mutant, _)| mutant))?,
        parameters: values.map(|(name, value)| (name.to_owned(), value)).collect(),
        only: at.mutant.map(|(_, label)| label.to_owned()),
        labels: catalogue::asserted(proof, files)?.into_iter().chain(lemmas).collect(),
        same,
        any_state: proof.pair.as_ref().map(|pair| pair.keeps.clone()),
        steps: !proof.clocks.is_empty(),
        falls: at.falls,
    };
    let cache: Option<&Path> = options.cache.as_deref();
    Ok(engine::decide(provers, &task, &Limits { seconds: options.seconds, cache, stop: options.stop })?)
}

fn one(provers: &Provers, work: &Work, options: &Options) -> Result<Decision> {
    let Work { files, proof, .. } = *work;
    match work.what {
        What::Prove(size) => at(provers, proof, files, options, &At { size, mutant: None, falls: false }),
        What::Refute(property) => {
            let property = &proof.properties[property];
            let mutant = catalogue::mutant_of(proof, property, files).context("its mutant is there")?;
            let mut last = None;
            for size in 0..proof.sizes.len() {
                let mutant = Some((mutant, property.label.as_str()));
                let decision = at(provers, proof, files, options, &At { size, mutant, falls: true })?;
                let refuted = matches!(decision.verdict, Verdict::Refuted { .. });
                last = Some(decision);
                if refuted {
                    break;
                }
            }
            Ok(last.ok_or(WorkError::Stopped)?)
        }
    }
}
