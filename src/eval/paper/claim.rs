//! A number of the paper beside ours.

use crate::eval::paper::result::verdict::{Better, Verdict};
use serde_json::{json, Value};

/// Our number for a claim, in one reading of it.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// What is set beside what.
    pub name: String,
    /// The assumption under which the claim is read so; nothing for the plain reading.
    pub assumption: Option<&'static str>,
    /// The number.
    pub ours: f64,
    /// The bounds that are near.
    pub bound_by: String,
    /// Cycles over the larger of the bounds of bytes and arrays; 0 where there are none.
    pub over_bound: f64,
    /// Error to expect, as a share.
    pub error: f64,
    /// The command of the row.
    pub command: String,
}

/// Subject of a place of the paper.
pub(super) fn topic(place: &str) -> &'static str {
    match place {
        "Section III" => "size of the cache",
        "Section V" => "placement",
        "Section VII" => "array and FIFO",
        "Section VIII" => "implementation",
        "Section IX-A" => "text on the main results",
        "Section IX-B" => "energy",
        "Section IX-D" => "sensitivity",
        "Table II" => "parameters of a router",
        "Table III" => "resources",
        "Table IV" => "traffic",
        "Table V" => "use of the bisection",
        "Table VI" => "ablation",
        "Figure 1" => "breakdown of the bisection",
        "Figure 4" => "latency",
        "Figure 5" => "throughput",
        _ => "other numbers",
    }
}

/// A claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// Short name, unique.
    pub id: String,
    /// Place in the paper.
    pub place: String,
    /// Meaning of the number.
    pub what: String,
    /// The paper's number.
    pub paper: f64,
    /// Its unit.
    pub unit: String,
    /// Direction in which the number is better.
    pub(super) better: Better,
    /// Our readings: the plain one first.
    pub views: Vec<View>,
    /// A sentence why.
    pub why: String,
}

impl Claim {
    /// The verdict, and the reading that it is about.
    pub fn verdict(&self) -> (Verdict, Option<&View>) {
        let of = |view: &View| Verdict::of(self.better, self.paper, view.ours);
        let Some(plain) = self.views.first() else { return (Verdict::NotMeasured, None) };
        let met = self.views.iter().find(|view| of(view).met());
        match met {
            Some(view) if view.assumption.is_some() => (Verdict::HoldsUnderAssumption, Some(view)),
            Some(view) => (of(view), Some(view)),
            None => (Verdict::DoesNotHold, Some(plain)),
        }
    }

    /// Ours over the paper's, of the reading of the verdict.
    pub fn ratio(&self) -> Option<f64> {
        self.verdict().1.map(|view| view.ours / self.paper).filter(|ratio| ratio.is_finite())
    }

    /// As an object for `claims.json`.
    pub fn to_json(&self) -> Value {
        let (verdict, view) = self.verdict();
        let views: Vec<Value> = self.views.iter().map(|view| view.to_json()).collect();
        json!({
            "id": self.id,
            "place": self.place,
            "what": self.what,
            "unit": self.unit,
            "paper": self.paper,
            "ours": view.map(|view| view.ours),
            "ratio": self.ratio(),
            "verdict": verdict,
            "reading": view.map(|view| &view.name),
            "assumption": view.and_then(|view| view.assumption),
            "why": self.why,
            "bound_by": view.map(|view| &view.bound_by).filter(|bound| !bound.is_empty()),
            "over_bound": view.map(|view| view.over_bound).filter(|over| *over > 0.0),
            "error": view.map(|view| view.error),
            "command": view.map(|view| &view.command),
            "readings": views,
        })
    }
}

impl View {
    fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "assumption": self.assumption,
            "ours": self.ours,
            "error": self.error,
            "command": self.command,
        })
    }
}
