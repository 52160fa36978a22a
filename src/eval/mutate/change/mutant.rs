//! Mutants of a design: all that its text offers, some drawn, and those of the list of the repository.

use super::curated::{Curated, Listed};
use super::operators::{edits, Edit};
use super::verilog::{Reading, Span};
use crate::cosim::hash::mix;
use crate::design::Design;
use crate::emit::{self, Block, SourceFile};
use anyhow::{anyhow, bail, Context};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A mutant, with its place in the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mutant {
    /// Its number, from 1 on.
    pub number: u32,
    /// Block of the module.
    pub block: String,
    /// The module.
    pub module: String,
    /// Path of its file.
    pub path: String,
    /// Line of the changed text, from 1 on.
    pub line: usize,
    /// All of that line.
    pub text: String,
    /// First byte of the changed text, and the one behind its last.
    pub(in crate::eval::mutate) bytes: (usize, usize),
    /// The changed text.
    pub original: String,
    /// The text in its place.
    pub mutated: String,
    /// Kind of the change; of a listed mutant the sentence of the list.
    pub kind: String,
    /// True if it is of the list.
    pub listed: bool,
    /// True if the text is a statement.
    pub(in crate::eval::mutate) statement: bool,
}

impl Mutant {
    /// A change of a module's text, whose file has this path.
    pub(in crate::eval::mutate) fn of_edit(
        number: u32,
        (module, path): (&str, &str),
        text: &str,
        edit: &Edit,
    ) -> Mutant {
        let line = Reading::line(text, edit.span.start);
        Mutant {
            number,
            block: String::new(),
            module: module.to_owned(),
            path: path.to_owned(),
            line,
            text: text.lines().nth(line - 1).unwrap_or_default().trim().to_owned(),
            bytes: (edit.span.start, edit.span.end),
            original: edit.span.of(text).to_owned(),
            mutated: edit.mutated.clone(),
            kind: edit.operator.to_owned(),
            listed: false,
            statement: edit.statement,
        }
    }

    /// Its change of the file.
    pub(in crate::eval::mutate) fn edit(&self) -> Edit {
        let span = Span { start: self.bytes.0, end: self.bytes.1 };
        Edit { span, mutated: self.mutated.clone(), operator: "", statement: self.statement }
    }

    /// Its place and its change, in a line.
    pub fn title(&self) -> String {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (original, mutated) = (one_line(&self.original), one_line(&self.mutated));
        format!("{}:{}: `{original}` -> `{mutated}` ({})", self.module, self.line, self.kind)
    }
}

/// Mutants that are wanted of a design.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// Mutants to draw.
    pub count: u32,
    /// Seed of the draw.
    pub seed: u64,
    /// Part of the names of modules; empty for all.
    pub module: String,
    /// True for the mutants of the list.
    pub listed: bool,
}

/// A file whose text is changed.
struct Source<'f> {
    file: &'f SourceFile,
    module: String,
    block: Block,
    reading: Reading,
}

/// Files of the modules that the device is made of, in the order of their paths.
fn sources<'f>(design: &Design, files: &'f [SourceFile], part: &str) -> anyhow::Result<Vec<Source<'f>>> {
    let modules: BTreeMap<String, _> = emit::modules(design)
        .into_iter()
        .map(|module| (module.path(), (module.name, module.block)))
        .collect();
    let mut found = Vec::new();
    for file in files {
        let Some((module, block)) = modules.get(&file.path) else { continue };
        if *block == Block::Board || !module.contains(part) {
            continue;
        }
        let reading = Reading::of(&file.text).with_context(|| format!("{} is not read", file.path))?;
        found.push(Source { file, module: (*module).to_owned(), block: *block, reading });
    }
    Ok(found)
}

/// What tells a mutant from all others, in every design whose text has it: module, line, change, kind, and which of those
/// that are alike.
type Key = (String, String, String, String, String, usize);

/// Mutants of a design.
struct Offer {
    listed: Vec<(Key, Mutant)>,
    others: Vec<(Key, Mutant)>,
}

impl Offer {
    fn of(design: &Design, files: &[SourceFile], wanted: &Wanted) -> anyhow::Result<Offer> {
        let sources = sources(design, files, &wanted.module)?;
        let mut list: Vec<Mutant> = Vec::new();
        if wanted.listed {
            listed(design, &sources, &mut list)?;
        }
        let taken: BTreeSet<_> = list.iter().map(|m| (m.path.clone(), m.bytes, m.mutated.clone())).collect();
        let mut others: Vec<Mutant> = Vec::new();
        for source in &sources {
            let edits = edits(&source.file.text, &source.reading).into_iter();
            others.extend(edits.map(|edit| of(source, &edit, edit.operator.to_owned(), false)));
        }
        others.retain(|m| !taken.contains(&(m.path.clone(), m.bytes, m.mutated.clone())));
        Ok(Offer { listed: keyed(list), others: keyed(others) })
    }
}

fn keyed(mutants: Vec<Mutant>) -> Vec<(Key, Mutant)> {
    let mut alike: BTreeMap<Key, usize> = BTreeMap::new();
    let key = |m: &Mutant| {
        (m.module.clone(), m.text.clone(), m.original.clone(), m.mutated.clone(), m.kind.clone(), 0)
    };
    let keyed = mutants.into_iter().map(|mutant| {
        let mut key = key(&mutant);
        let before = alike.entry(key.clone()).or_default();
        key.5 = *before;
        *before += 1;
        (key, mutant)
    });
    keyed.collect()
}

/// The mutants that are wanted, of each design those that its text has. Each has one number in all of them, from 1 on:
/// those of the list first.
///
/// # Errors
/// If a text is not read, an entry of the list is not found, or no module is meant.
pub fn mutants(designs: &[(&Design, &[SourceFile])], wanted: &Wanted) -> anyhow::Result<Vec<Vec<Mutant>>> {
    let offers = designs.iter().map(|(design, files)| Offer::of(design, files, wanted));
    let offers = offers.collect::<anyhow::Result<Vec<Offer>>>()?;
    if offers.iter().all(|offer| offer.listed.is_empty() && offer.others.is_empty()) {
        bail!(
            "no module has `{}` in its name\n  help: `meshkv generate` writes one file a module",
            wanted.module
        );
    }
    let mut known = BTreeSet::new();
    let mut union = |of: fn(&Offer) -> &Vec<(Key, Mutant)>| -> Vec<&Key> {
        let keys = offers.iter().flat_map(|offer| of(offer).iter().map(|(key, _)| key));
        keys.filter(|key| known.insert(*key)).collect()
    };
    let (listed, others) = (union(|offer| &offer.listed), union(|offer| &offer.others));
    let numbers: BTreeMap<&Key, u32> = listed.into_iter().chain(drawn(others, wanted)).zip(1..).collect();
    let of_design = |offer: &Offer| {
        let all = offer.listed.iter().chain(&offer.others);
        let mut chosen: Vec<Mutant> = all
            .filter_map(|(key, mutant)| Some(Mutant { number: *numbers.get(key)?, ..mutant.clone() }))
            .collect();
        chosen.sort_by_key(|mutant| mutant.number);
        chosen
    };
    Ok(offers.iter().map(of_design).collect())
}

/// As many as are wanted, in the order of the draw: more of them begin with the same.
fn drawn<T>(mut offered: Vec<T>, wanted: &Wanted) -> Vec<T> {
    let mut state = mix(wanted.seed);
    let count = (wanted.count as usize).min(offered.len());
    for at in 0..count {
        state = mix(state);
        let other = at + ((state >> 16) % (offered.len() - at) as u64) as usize;
        offered.swap(at, other);
    }
    offered.truncate(count);
    offered
}

fn of(source: &Source, edit: &Edit, kind: String, listed: bool) -> Mutant {
    let of = (source.module.as_str(), source.file.path.as_str());
    let block = source.block.name().to_owned();
    Mutant { block, kind, listed, ..Mutant::of_edit(0, of, &source.file.text, edit) }
}

/// Adds the mutants of the list whose modules the design has.
fn listed(design: &Design, sources: &[Source], all: &mut Vec<Mutant>) -> anyhow::Result<()> {
    for entry in &Curated::read()?.mutants {
        let Some(source) = sources.iter().find(|source| source.module == entry.module) else { continue };
        match entry.edit(&source.file.text, &source.reading) {
            Ok(edit) => all.push(of(source, &edit, entry.what.clone(), true)),
            Err(_) if entry.optional => {}
            Err(why) => return Err(not_found(design, entry, &why)),
        }
    }
    Ok(())
}

fn not_found(design: &Design, entry: &Listed, why: &str) -> anyhow::Error {
    anyhow!(
        "the list of mutants names `{}` of {}: {why} in {}\n  help: write the text of today into \
         src/eval/mutate/change/curated.toml, or set `optional` where designs differ",
        entry.from,
        entry.module,
        design.name
    )
}
