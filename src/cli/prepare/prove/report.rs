//! The table of proofs: a row a property.

use crate::cli::output::table;
use crate::cli::prepare::subject::Folder;
use crate::synth::prove::catalogue::{Proof, Property};
use crate::synth::prove::{Decision, Method, Verdict, What};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Decisions on one proof.
pub(super) struct Tally<'p> {
    pub(super) proof: &'p Proof,
    /// By size.
    proved: Vec<Option<Decision>>,
    /// By property; none where the mutant was not tried.
    refuted: Vec<Option<Decision>>,
}

impl<'p> Tally<'p> {
    pub(super) fn new(proof: &'p Proof) -> Tally<'p> {
        Tally { proof, proved: vec![None; proof.sizes.len()], refuted: vec![None; proof.properties.len()] }
    }

    pub(super) fn add(&mut self, what: What, decision: Decision) {
        match what {
            What::Prove(size) => self.proved[size] = Some(decision),
            What::Refute(property) => self.refuted[property] = Some(decision),
        }
    }
}

/// Verdicts on all properties.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(in crate::cli) struct ProveOutput {
    /// True if every property is proved at every size and refuted on its mutant.
    pub(super) proved: bool,
    /// The designs, in the order of the command.
    pub(super) designs: Vec<DesignOutput>,
    /// The properties, by design and block.
    pub(super) properties: Vec<PropertyOutput>,
}

/// A design.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ProvedDesign")]
pub(in crate::cli) struct DesignOutput {
    /// Name of the configuration.
    pub(super) name: String,
    /// The folder that was read; absent if a configuration was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) folder: Option<Folder>,
}

/// Verdict on one property.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct PropertyOutput {
    /// Number of the design in `designs`.
    design: usize,
    /// Block of the hardware.
    block: String,
    /// Module.
    pub(super) module: String,
    /// Label of the assertion in the module.
    pub(super) property: String,
    /// The property as a sentence.
    says: String,
    /// Parameters of each proof.
    sizes: Vec<String>,
    /// Ways of the proofs, of all assertions of a module at once: induction, pdr (property-directed reachability), sat
    /// (there is no state).
    methods: Vec<&'static str>,
    /// proved, falls or open: the worst of all sizes.
    verdict: &'static str,
    /// The sizes at which it falls, or is not decided.
    fails_at: Vec<String>,
    /// Seconds of the proofs, of all properties of the module, when they were made.
    seconds: f64,
    /// Registers of the largest proof.
    registers: u32,
    /// Clauses of the largest inductive invariant.
    invariants: u32,
    /// True if it falls on its mutant; null if that was not tried, if a design before has the mutant, or if the design has
    /// another form of the module.
    refuted: Option<bool>,
    /// Steps to the fall on the mutant; null if it does not fall.
    refuted_at: Option<u32>,
}

impl PropertyOutput {
    fn of(design: usize, tally: &Tally, number: usize, property: &Property) -> PropertyOutput {
        let proof = tally.proof;
        let decisions: Vec<_> = proof.sizes.iter().zip(tally.proved.iter().flatten()).collect();
        let falls = |decision: &Decision| {
            matches!(decision.verdict, Verdict::Refuted { .. })
                && (decision.broken.is_empty() || decision.broken.contains(&property.label))
        };
        let proves = |decision: &Decision| matches!(decision.verdict, Verdict::Proved { .. });
        let verdict = match () {
            () if decisions.iter().any(|(_, decision)| falls(decision)) => "falls",
            () if decisions.iter().all(|(_, decision)| proves(decision)) => "proved",
            () => "open",
        };
        let failing = decisions.iter().filter(|(_, decision)| !proves(decision));
        let clauses = |decision: &Decision| match decision.verdict {
            Verdict::Proved { clauses } => clauses,
            _ => 0,
        };
        let all = || decisions.iter().map(|(_, decision)| *decision);
        let methods: BTreeSet<_> = all().map(|decision| decision.method).collect();
        let mutant = tally.refuted.get(number).and_then(Option::as_ref).map(|decision| &decision.verdict);
        PropertyOutput {
            design,
            block: proof.block.clone(),
            module: proof.module.clone(),
            property: property.label.clone(),
            says: property.says.clone(),
            sizes: proof.sizes.iter().map(ToString::to_string).collect(),
            methods: methods.into_iter().map(Method::name).collect(),
            verdict,
            fails_at: failing.map(|(size, _)| size.to_string()).collect(),
            seconds: (all().map(|decision| decision.seconds).sum::<f64>() * 10.0).round() / 10.0,
            registers: all().map(|decision| decision.registers).max().unwrap_or(0),
            invariants: all().map(clauses).max().unwrap_or(0),
            refuted: mutant.map(|verdict| matches!(verdict, Verdict::Refuted { .. })),
            refuted_at: mutant.and_then(|verdict| match verdict {
                Verdict::Refuted { frame } => Some(*frame),
                _ => None,
            }),
        }
    }

    /// What is wrong with it.
    pub(super) fn failure(&self) -> Option<String> {
        let at = self.fails_at.join("; ");
        match self.verdict {
            "falls" => Some(format!("it falls at {at}")),
            "open" => Some(format!("not decided at {at}")),
            _ => (self.refuted == Some(false)).then(|| "its mutant does not break it".to_owned()),
        }
    }

    fn row(&self) -> Vec<String> {
        let mutant = match (self.refuted, self.refuted_at) {
            (_, Some(step)) => format!("falls at step {step}"),
            (Some(false), _) => "NOT FOUND".to_owned(),
            _ => "-".to_owned(),
        };
        let verdict =
            if self.verdict == "proved" { self.verdict.to_owned() } else { self.verdict.to_uppercase() };
        vec![
            self.block.clone(),
            self.module.trim_start_matches("meshkv_").to_owned(),
            self.property.clone(),
            verdict,
            self.sizes.len().to_string(),
            self.methods.join(", "),
            format!("{:.1}", self.seconds),
            self.registers.to_string(),
            self.invariants.to_string(),
            mutant,
        ]
    }
}

impl ProveOutput {
    /// Adds a design and the verdicts on its properties.
    pub(super) fn add(&mut self, design: DesignOutput, tallies: &[Tally]) {
        let number = self.designs.len();
        self.designs.push(design);
        for tally in tallies {
            let numbered = tally.proof.properties.iter().enumerate();
            self.properties
                .extend(numbered.map(|(at, property)| PropertyOutput::of(number, tally, at, property)));
        }
        self.proved = self.properties.iter().all(|property| property.failure().is_none());
    }

    /// The name of the design that a property is of.
    pub(super) fn design(&self, property: &PropertyOutput) -> &str {
        &self.designs[property.design].name
    }
}

/// The tables, and what `why` asks for.
pub(super) fn text(output: &ProveOutput, why: &[Proof]) -> String {
    let head = [
        "block",
        "module",
        "property",
        "verdict",
        "sizes",
        "method",
        "s",
        "registers",
        "invariants",
        "mutant",
    ];
    let mut text = String::new();
    // Writing to a String cannot fail.
    for (number, design) in output.designs.iter().enumerate() {
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        let of_design = output.properties.iter().filter(|property| property.design == number);
        rows.extend(of_design.map(PropertyOutput::row));
        if output.designs.len() > 1 {
            let _ = writeln!(text, "{}{}", if number > 0 { "\n" } else { "" }, design.name);
        }
        text += &table::columns(&rows);
    }
    for proof in why {
        let sizes: Vec<_> = proof.sizes.iter().map(ToString::to_string).collect();
        let _ = write!(text, "\n{} at {}\n  sizes: {}\n", proof.module, sizes.join("; "), proof.suffices);
        if !proof.assumes.is_empty() {
            let _ = writeln!(text, "  assumed: {}", proof.assumes);
        }
        for property in &proof.properties {
            let _ = writeln!(text, "  {}: {}", property.label, property.says);
        }
    }
    let count = output.properties.len();
    let held = output.properties.iter().filter(|property| property.failure().is_none()).count();
    let mutants = output.properties.iter().filter(|property| property.refuted == Some(true)).count();
    let _ = writeln!(text, "\n{held} of {count} properties proved; {mutants} refuted on their mutants");
    text
}
