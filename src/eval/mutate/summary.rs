//! Counts of mutants by block and by check, and the survivors.

use super::change::curated::{Curated, Explained};
use super::change::mutant::Mutant;
use super::session::{Outcome, Proof};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Mutants of a block, or of all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "MutantsOfBlock")]
pub struct Counts {
    /// The block; `all` for the sum.
    pub block: String,
    /// Mutants that were tried.
    pub tried: u32,
    /// Those that a check found.
    pub found: u32,
    /// Those that elaboration leaves out: no library has them.
    pub absent: u32,
    /// Survivors that are proved to be equal to the original.
    pub equal: u32,
    /// Survivors that the list of the repository explains.
    pub explained: u32,
    /// All other survivors.
    pub survived: u32,
}

/// A mutant that no check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Survivor {
    /// Its number.
    pub number: u32,
    /// Its module.
    pub module: String,
    /// Line of the changed text in the file of the module.
    pub line: usize,
    /// The changed text.
    pub original: String,
    /// The text in its place.
    pub mutated: String,
    /// Kind of the change, or the sentence of the list.
    pub kind: String,
    /// True if the changed expression had another value in a check, or the statement was reached.
    pub differed: bool,
    /// Why the list of the repository explains it; null if it does not.
    pub explained: Option<String>,
}

/// Counts of mutants, and the survivors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "MutantsSummary")]
pub struct Summary {
    /// All mutants together.
    pub all: Counts,
    /// Those of the list of the repository.
    pub listed: Counts,
    /// By block.
    pub blocks: Vec<Counts>,
    /// Mutants that each check found, by its name.
    pub by_check: BTreeMap<String, u32>,
    /// Survivors that are not proved to be equal.
    pub survivors: Vec<Survivor>,
}

impl Counts {
    fn add(&mut self, of: &Counts) {
        self.tried += of.tried;
        self.found += of.found;
        self.absent += of.absent;
        self.equal += of.equal;
        self.explained += of.explained;
        self.survived += of.survived;
    }

    /// Mutants that a check could find: those that are there and not proved to be equal.
    pub fn findable(&self) -> u32 {
        self.found + self.explained + self.survived
    }
}

impl Summary {
    /// Sums up what is known.
    ///
    /// # Errors
    /// If the list of the repository is not read.
    pub fn of(mutants: &[Mutant], outcomes: &[Outcome], proofs: &[Proof]) -> anyhow::Result<Summary> {
        let explained = Curated::read()?.explained;
        let outcomes: BTreeMap<u32, &Outcome> = outcomes.iter().map(|o| (o.number, o)).collect();
        let equal: BTreeMap<u32, bool> = proofs.iter().map(|p| (p.number, p.equal)).collect();
        let mut summary = Summary::default();
        (summary.all.block, summary.listed.block) = ("all".to_owned(), "listed".to_owned());
        let mut blocks: BTreeMap<&str, Counts> = BTreeMap::new();
        for mutant in mutants {
            let Some(outcome) = outcomes.get(&mutant.number) else { continue };
            let mut one = Counts { tried: 1, ..Counts::default() };
            if let Some(check) = &outcome.found {
                one.found = 1;
                *summary.by_check.entry(check.clone()).or_default() += 1;
            } else if outcome.absent {
                one.absent = 1;
            } else if equal.get(&mutant.number) == Some(&true) {
                one.equal = 1;
            } else {
                let why = explained.iter().find(|entry| entry.is(mutant)).map(|entry| entry.why.clone());
                *(if why.is_some() { &mut one.explained } else { &mut one.survived }) = 1;
                summary.survivors.push(survivor(mutant, outcome, why));
            }
            summary.all.add(&one);
            if mutant.listed {
                summary.listed.add(&one);
            }
            blocks.entry(&mutant.block).or_default().add(&one);
        }
        let named = blocks.into_iter().map(|(block, counts)| Counts { block: block.to_owned(), ..counts });
        summary.blocks = named.collect();
        Ok(summary)
    }
}

impl Explained {
    fn is(&self, mutant: &Mutant) -> bool {
        let matches = |part: &str, whole: &str| part.is_empty() || part == whole;
        self.module == mutant.module
            && self.line == mutant.text
            && matches(&self.original, &mutant.original)
            && matches(&self.mutated, &mutant.mutated)
    }
}

fn survivor(mutant: &Mutant, outcome: &Outcome, explained: Option<String>) -> Survivor {
    Survivor {
        number: mutant.number,
        module: mutant.module.clone(),
        line: mutant.line,
        original: mutant.original.clone(),
        mutated: mutant.mutated.clone(),
        kind: mutant.kind.clone(),
        differed: outcome.differed,
        explained,
    }
}
