//! The list of proofs: which module, at which sizes, which properties, and the fault that refutes each.
//!
//! The properties themselves stand in the templates of the modules, under `FORMAL`. The list stands in
//! `templates/formal/`, a file a block. It knows neither tools nor designs.

use crate::emit::SourceFile;
use anyhow::{bail, ensure, Context, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Lists of blocks, in the order of blocks.
const LISTS: &[(&str, &str)] = &[
    ("common", include_str!("../../../templates/formal/common.toml")),
    ("mare", include_str!("../../../templates/formal/mare.toml")),
];

/// What labels of assertions begin with that only help to prove others.
const LEMMA: &str = "lemma_";

/// Properties of one module, proved together: each may lean on the others.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// Block of the hardware, by the file of the list.
    #[serde(skip)]
    pub block: String,
    /// The module.
    pub module: String,
    /// Values of its parameters, once for each proof.
    pub sizes: Vec<Size>,
    /// Reason why these sizes stand for all.
    pub suffices: String,
    /// What its neighbours must do; each is an assumption in the template.
    #[serde(default)]
    pub assumes: String,
    /// Clocks that have no relation to each other; none if the module has one clock.
    #[serde(default)]
    pub clocks: Vec<String>,
    /// The properties.
    #[serde(rename = "property")]
    pub properties: Vec<Property>,
}

/// One property.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Property {
    /// Label of its assertion.
    pub label: String,
    /// The property as a sentence.
    pub says: String,
    /// A fault that refutes it.
    pub mutant: Mutant,
}

/// A fault: one text of a module is replaced by another.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// The module that is changed, if it is not that of the proof.
    pub module: Option<String>,
    /// Text of the module, which it has once.
    pub from: String,
    /// Text in its place.
    pub to: String,
}

/// Values of parameters by name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Size(BTreeMap<String, Value>);

/// Value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum Value {
    Number(u32),
    /// A constant of Verilog in binary, such as `4'b0110`.
    Bits(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Value::Number(number) => write!(f, "{number}"),
            Value::Bits(bits) => f.write_str(bits),
        }
    }
}

impl Size {
    /// Names and values.
    pub fn values(&self) -> impl Iterator<Item = (&str, String)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.to_string()))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let values: Vec<_> = self.values().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&if values.is_empty() { "as emitted".to_owned() } else { values.join(" ") })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    proof: Vec<Proof>,
}

/// All proofs, in the order of blocks.
///
/// # Errors
/// If a list is not well formed, which a test of this program detects.
pub fn all() -> Result<Vec<Proof>> {
    let mut proofs = Vec::new();
    for (block, text) in LISTS {
        let list: List = toml::from_str(text).with_context(|| format!("templates/formal/{block}.toml"))?;
        proofs.extend(list.proof.into_iter().map(|proof| Proof { block: (*block).to_owned(), ..proof }));
    }
    Ok(proofs)
}

/// The proofs of the modules that `files` have. Those of modules that a design has not are left out.
///
/// # Errors
/// If a proof and the assertions of its module do not agree, or a mutant names a text that is not there once.
pub fn of(files: &[SourceFile]) -> Result<Vec<Proof>> {
    let has = |module: &str| files.iter().any(|file| module_of(file) == Some(module));
    let mut proofs = all()?;
    proofs.retain(|proof| has(&proof.module));
    for proof in &proofs {
        agrees(proof, files).with_context(|| format!("the proof of {}", proof.module))?;
    }
    Ok(proofs)
}

/// Name of the module of an emitted file.
pub(super) fn module_of(file: &SourceFile) -> Option<&str> {
    file.path.strip_prefix("rtl/")?.rsplit('/').next()?.strip_suffix(".v")
}

/// Text of a module.
pub(super) fn text_of<'f>(files: &'f [SourceFile], module: &str) -> Result<&'f str> {
    let found = files.iter().find(|file| module_of(file) == Some(module));
    found.map(|file| file.text.as_str()).with_context(|| format!("{module} is not in the design"))
}

fn agrees(proof: &Proof, files: &[SourceFile]) -> Result<()> {
    ensure!(!proof.sizes.is_empty(), "it has no sizes");
    let asserted = labels(text_of(files, &proof.module)?);
    let listed: BTreeSet<_> = proof.properties.iter().map(|property| property.label.clone()).collect();
    let named: BTreeSet<_> = asserted.iter().filter(|label| !label.starts_with(LEMMA)).cloned().collect();
    if let Some(label) = listed.symmetric_difference(&named).next() {
        let without = if named.contains(label) { "in the list" } else { "an assertion" };
        bail!("{label} is not {without}");
    }
    for Property { label, mutant, .. } in &proof.properties {
        let module = mutant.module.as_deref().unwrap_or(&proof.module);
        let times = text_of(files, module)?.matches(&mutant.from).count();
        ensure!(times == 1, "the mutant of {label}: {module} has `{}` {times} times", mutant.from);
    }
    Ok(())
}

/// Labels of the assertions of a module.
pub(super) fn labels(text: &str) -> BTreeSet<String> {
    let of_line = |line: &str| {
        let (label, rest) = line.trim().split_once(':')?;
        let name = !label.is_empty() && label.trim().chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        (name && rest.trim_start().starts_with("assert")).then(|| label.trim().to_owned())
    };
    text.lines().filter_map(of_line).collect()
}
