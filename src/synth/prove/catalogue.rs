//! The list of proofs: which module, at which sizes, which properties, and the fault that refutes each.
//!
//! The properties themselves stand in the templates of the modules, under `FORMAL`. The list stands in
//! `templates/formal/`, a file a block. It knows neither tools nor designs.

use super::pair::{Pair, LABEL, LEMMA, PAIR};
use crate::emit::SourceFile;
use anyhow::{bail, ensure, Context, Result};
use serde::{Deserialize, Deserializer};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Lists of blocks in their order, then the rules of AXI, and resets.
const LISTS: &[(&str, &str)] = &[
    ("common", include_str!("../../../templates/formal/common.toml")),
    ("network", include_str!("../../../templates/formal/network.toml")),
    ("mare", include_str!("../../../templates/formal/mare.toml")),
    ("takv", include_str!("../../../templates/formal/takv.toml")),
    ("device", include_str!("../../../templates/formal/device.toml")),
    ("axi", include_str!("../../../templates/formal/axi.toml")),
    ("board", include_str!("../../../templates/formal/board.toml")),
    ("reset", include_str!("../../../templates/formal/reset.toml")),
];

/// What an assertion begins with.
const ASSERTION: &str = "assert (";

/// Properties of one module, proved together: each may lean on the others.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// Block of the hardware.
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
    /// Modules in it whose outputs are free: they have proofs of their own, and do what is assumed of them at most.
    #[serde(default)]
    pub free: Vec<String>,
    /// Two copies that are compared after a reset; none where the module has properties of its own.
    pub pair: Option<Pair>,
    /// The properties.
    #[serde(rename = "property")]
    pub properties: Vec<Property>,
}

impl Proof {
    /// The module that is decided.
    pub(super) fn top(&self) -> &str {
        if self.pair.is_some() {
            PAIR
        } else {
            &self.module
        }
    }
}

/// One property.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Property {
    /// Label of its assertion.
    pub label: String,
    /// The property as a sentence.
    pub says: String,
    /// A fault that refutes it. Where a module has several forms, one for each: the first whose text is there is used.
    #[serde(deserialize_with = "one_or_several")]
    pub mutant: Vec<Mutant>,
}

/// A mutant, or an array of them.
fn one_or_several<'d, D: Deserializer<'d>>(list: D) -> Result<Vec<Mutant>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        One(Mutant),
        Several(Vec<Mutant>),
    }
    Ok(match Either::deserialize(list)? {
        Either::One(mutant) => vec![mutant],
        Either::Several(mutants) => mutants,
    })
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
    for (name, text) in LISTS {
        let list: List = toml::from_str(text).with_context(|| format!("templates/formal/{name}.toml"))?;
        proofs.extend(list.proof);
    }
    Ok(proofs)
}

/// The proofs of the modules that `files` have. Those of modules, and of forms of modules, that a design has not are left
/// out.
///
/// # Errors
/// If a proof and the assertions of its module do not agree, or a mutant names a text that is there twice.
pub fn of(files: &[SourceFile]) -> Result<Vec<Proof>> {
    let file = |module: &str| files.iter().find(|file| module_of(file) == Some(module));
    let mut proofs = all()?;
    proofs.retain(|proof| {
        let found = file(&proof.module);
        found.is_some_and(|file| proof.pair.is_some() || file.text.contains(ASSERTION))
    });
    for proof in &mut proofs {
        let (path, text) =
            file(&proof.module).map_or(("", ""), |file| (file.path.as_str(), file.text.as_str()));
        let is_of_form = |size: &Size| {
            OF_FORMS
                .iter()
                .all(|form| has_parameter(text, form) == size.values().any(|(name, _)| name == *form))
        };
        proof.sizes.retain(is_of_form);
        proof.block = path.split('/').nth(1).unwrap_or_default().to_owned();
        agrees(proof, files).with_context(|| format!("the proof of {}", proof.module))?;
    }
    Ok(proofs)
}

/// Parameters that modules have in one form only: sizes of that form name them, those of the other do not.
const OF_FORMS: [&str; 1] = ["KEY_BASE"];

/// True if a module has a parameter of this name.
pub(super) fn has_parameter(text: &str, name: &str) -> bool {
    let parameter = |line: &str| {
        let (before, _) = line.trim_start().strip_prefix("parameter ")?.split_once(" = ")?;
        Some(before.split_whitespace().next_back() == Some(name))
    };
    text.lines().any(|line| parameter(line) == Some(true))
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
    let asserted = asserted(proof, files)?;
    let listed: BTreeSet<_> = proof.properties.iter().map(|property| property.label.clone()).collect();
    let named: BTreeSet<_> = asserted.iter().filter(|label| !label.starts_with(LEMMA)).cloned().collect();
    if let Some(label) = listed.symmetric_difference(&named).next() {
        let without = if named.contains(label) { "in the list" } else { "an assertion" };
        bail!("{label} is not {without}");
    }
    for Property { label, mutant, .. } in &proof.properties {
        let twice = mutant.iter().find(|mutant| times(proof, mutant, files) > 1);
        if let Some(Mutant { from, .. }) = twice {
            bail!("the mutant of {label}: `{from}` is there more than once");
        }
    }
    Ok(())
}

/// The mutant of a property that these files have; none if their form of the module has none of its texts.
pub(super) fn mutant_of<'p>(
    proof: &Proof,
    property: &'p Property,
    files: &[SourceFile],
) -> Option<&'p Mutant> {
    property.mutant.iter().find(|mutant| times(proof, mutant, files) == 1)
}

/// How often a module has the text of a mutant.
fn times(proof: &Proof, mutant: &Mutant, files: &[SourceFile]) -> usize {
    let module = mutant.module.as_deref().unwrap_or(&proof.module);
    text_of(files, module).map_or(0, |text| text.matches(&mutant.from).count())
}

/// Labels of the assertions of a proof.
pub(super) fn asserted(proof: &Proof, files: &[SourceFile]) -> Result<BTreeSet<String>> {
    let own = || text_of(files, &proof.module).map(labels);
    if proof.pair.is_some() {
        Ok(BTreeSet::from([LABEL.to_owned()]))
    } else {
        own()
    }
}

/// Labels of the assertions of a module: `label : assert (...)`, also over two lines.
pub(super) fn labels(text: &str) -> BTreeSet<String> {
    let part_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let before = |(at, _): (usize, &str)| {
        let head = text[..at].trim_end().strip_suffix(':')?.trim_end();
        let begin = head.rfind(|c| !part_of_name(c)).map_or(0, |last| last + 1);
        Some(head[begin..].to_owned())
    };
    text.match_indices(ASSERTION).filter_map(before).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::Design;
    use crate::emit;
    use std::path::Path;

    #[test]
    fn labels_are_those_of_assertions_on_one_line_or_two() {
        let text = "one : assert (a);\n    two :\n    assert (b);\n    assume (c); // three: no\n    wire x = y ? p : q;\n";
        assert_eq!(labels(text), BTreeSet::from(["one".to_owned(), "two".to_owned()]));
    }

    #[test]
    fn every_property_of_the_list_is_in_a_module_and_has_a_mutant_there() {
        let mut left: BTreeSet<_> = all().unwrap().iter().flat_map(names).collect();
        let of_sizes = |proof: &Proof| {
            let sizes = proof.sizes.iter().flat_map(Size::values);
            let everywhere = sizes.filter(|(name, _)| !OF_FORMS.contains(name));
            everywhere.map(|(name, _)| format!("{}#{name}", proof.module)).collect::<Vec<_>>()
        };
        left.extend(all().unwrap().iter().flat_map(of_sizes));
        for name in [
            "tiny",
            "mutate_two_stages",
            "mutate_three_stages",
            "grow_4x4",
            "parity_3x3",
            "pages_3x3",
            "u280_shell",
        ] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("configs/{name}.toml"));
            let files = emit::emit(&Design::load(&path).unwrap().0).unwrap();
            let proofs = of(&files).unwrap();
            for proof in &proofs {
                let text = text_of(&files, &proof.module).unwrap();
                left.retain(|one| match one.split_once('#') {
                    Some((module, name)) => module != proof.module || !has_parameter(text, name),
                    None => true,
                });
                for property in &proof.properties {
                    if mutant_of(proof, property, &files).is_some() {
                        left.remove(&format!("{}.{}", proof.module, property.label));
                    }
                }
            }
            let asserted = files.iter().filter(|file| file.text.contains(ASSERTION)).filter_map(module_of);
            let listed: BTreeSet<_> = proofs.iter().map(|proof| proof.module.as_str()).collect();
            let without: Vec<_> = asserted.filter(|module| !listed.contains(module)).collect();
            assert_eq!(without, [""; 0], "modules with assertions have proofs");
        }
        assert_eq!(left, BTreeSet::new());
    }

    fn names(proof: &Proof) -> Vec<String> {
        proof.properties.iter().map(|property| format!("{}.{}", proof.module, property.label)).collect()
    }

    #[test]
    fn a_list_that_does_not_fit_its_module_is_refused_by_name() {
        let file = SourceFile {
            path: "rtl/common/meshkv_fifo.v".to_owned(),
            text: "module meshkv_fifo; occupancy : assert (1); endmodule".to_owned(),
        };
        let error = format!("{:#}", of(&[file]).unwrap_err());
        assert_eq!(error, "the proof of meshkv_fifo: order is not an assertion");
    }
}
