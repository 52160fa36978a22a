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
    /// Those that elaboration leaves out of every design: no library has them.
    pub absent: u32,
    /// Survivors that are proved to be equal to the original in each design that has them.
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
    /// Line of the changed text in the file of the module, in the first design that has it.
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
    /// Mutants that each check found, by its name; `properties` are those of `meshkv prove`.
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

/// What is known of the mutants of a design.
pub struct Known<'k> {
    /// Its mutants.
    pub mutants: &'k [Mutant],
    /// What became of them under its checks.
    pub outcomes: Vec<Outcome>,
    /// What Yosys and ABC say of them.
    pub proofs: Vec<Proof>,
}

/// A mutant in all designs that have it.
#[derive(Default)]
struct Everywhere<'k> {
    mutant: Option<&'k Mutant>,
    found: Option<String>,
    differed: bool,
    present: bool,
    /// True while each design that has it is proved to be equal with it.
    equal: bool,
}

impl<'k> Everywhere<'k> {
    fn add(&mut self, mutant: &'k Mutant, outcome: &Outcome, proof: Option<&Proof>) {
        if self.mutant.is_none() {
            (self.mutant, self.equal) = (Some(mutant), true);
        }
        if self.found.is_none() {
            self.found.clone_from(&outcome.found);
        }
        if !outcome.absent {
            self.present = true;
            self.differed |= outcome.differed;
            self.equal &= proof.is_some_and(|proof| proof.equal);
        }
    }
}

impl Summary {
    /// Sums up what is known of designs, in their order. A mutant is found if it is in one of them.
    ///
    /// # Errors
    /// If the list of the repository is not read.
    pub fn of(designs: &[Known<'_>]) -> anyhow::Result<Summary> {
        let explained = Curated::read()?.explained;
        let mut all: BTreeMap<u32, Everywhere> = BTreeMap::new();
        for known in designs {
            let outcomes: BTreeMap<u32, &Outcome> = known.outcomes.iter().map(|o| (o.number, o)).collect();
            let proofs: BTreeMap<u32, &Proof> = known.proofs.iter().map(|p| (p.number, p)).collect();
            for mutant in known.mutants {
                let number = mutant.number;
                let Some(outcome) = outcomes.get(&number) else { continue };
                all.entry(number).or_default().add(mutant, outcome, proofs.get(&number).copied());
            }
        }
        let mut summary = Summary::default();
        (summary.all.block, summary.listed.block) = ("all".to_owned(), "listed".to_owned());
        let mut blocks: BTreeMap<&str, Counts> = BTreeMap::new();
        for everywhere in all.values() {
            let Some(mutant) = everywhere.mutant else { continue };
            let one = summary.count(mutant, everywhere, &explained);
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

    /// The count of one mutant, which is named where it is found, or survives.
    fn count(&mut self, mutant: &Mutant, everywhere: &Everywhere, explained: &[Explained]) -> Counts {
        let mut one = Counts { tried: 1, ..Counts::default() };
        if let Some(check) = &everywhere.found {
            one.found = 1;
            *self.by_check.entry(check.clone()).or_default() += 1;
        } else if !everywhere.present {
            one.absent = 1;
        } else if everywhere.equal {
            one.equal = 1;
        } else {
            let why = explained.iter().find(|entry| entry.is(mutant)).map(|entry| entry.why.clone());
            *(if why.is_some() { &mut one.explained } else { &mut one.survived }) = 1;
            self.survivors.push(survivor(mutant, everywhere.differed, why));
        }
        one
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

fn survivor(mutant: &Mutant, differed: bool, explained: Option<String>) -> Survivor {
    Survivor {
        number: mutant.number,
        module: mutant.module.clone(),
        line: mutant.line,
        original: mutant.original.clone(),
        mutated: mutant.mutated.clone(),
        kind: mutant.kind.clone(),
        differed,
        explained,
    }
}
