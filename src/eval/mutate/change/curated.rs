//! The list of the repository: mutants that were chosen by hand, and survivors with the reason why they survive.

use super::operators::Edit;
use super::verilog::{Reading, Span};
use anyhow::Context;
use serde::Deserialize;

const LIST: &str = include_str!("curated.toml");

/// The list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::eval::mutate) struct Curated {
    /// Mutants.
    #[serde(rename = "mutant")]
    pub(in crate::eval::mutate) mutants: Vec<Listed>,
    /// Survivors that are explained.
    #[serde(rename = "explained", default)]
    pub(in crate::eval::mutate) explained: Vec<Explained>,
}

/// A mutant of the list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::eval::mutate) struct Listed {
    /// The module.
    pub(in crate::eval::mutate) module: String,
    /// A text that it has once.
    pub(in crate::eval::mutate) from: String,
    /// The text in its place.
    pub(in crate::eval::mutate) to: String,
    /// The fault, in a sentence.
    pub(in crate::eval::mutate) what: String,
    /// True if some designs have no such text.
    #[serde(default)]
    pub(in crate::eval::mutate) optional: bool,
}

/// A survivor that no check can find, or need not.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::eval::mutate) struct Explained {
    /// The module.
    pub(in crate::eval::mutate) module: String,
    /// The line that has the changed text, without spaces around it.
    pub(in crate::eval::mutate) line: String,
    /// The changed text; empty for any of the line.
    #[serde(default)]
    pub(in crate::eval::mutate) original: String,
    /// The text in its place; empty for any.
    #[serde(default)]
    pub(in crate::eval::mutate) mutated: String,
    /// The reason.
    pub(in crate::eval::mutate) why: String,
}

impl Curated {
    /// Reads the list.
    ///
    /// # Errors
    /// If it is no such TOML.
    pub(in crate::eval::mutate) fn read() -> anyhow::Result<Curated> {
        toml::from_str(LIST).context("src/eval/mutate/change/curated.toml is not read")
    }
}

impl Listed {
    /// The change as one of an expression or of a statement: of the smallest that holds all changed bytes.
    ///
    /// # Errors
    /// If the text is not there once, or lies in no such place.
    pub(in crate::eval::mutate) fn edit(&self, text: &str, reading: &Reading) -> Result<Edit, String> {
        let places: Vec<_> = text.match_indices(&self.from).map(|(at, _)| at).collect();
        let [start] = places[..] else { return Err(format!("it is there {} times", places.len())) };
        let same = |a: &mut dyn Iterator<Item = u8>, b: &mut dyn Iterator<Item = u8>| {
            a.zip(b).take_while(|(a, b)| a == b).count()
        };
        let before = same(&mut self.from.bytes(), &mut self.to.bytes());
        let most = self.from.len().min(self.to.len()) - before;
        let after = same(&mut self.from.bytes().rev(), &mut self.to.bytes().rev()).min(most);
        let changed = Span { start: start + before, end: start + self.from.len() - after };
        let expressions = reading.spots.iter().map(|spot| (spot.expression.span, false));
        let statements = reading.statements.iter().map(|statement| (statement.span, true));
        let holds = |(span, _): &(Span, bool)| span.holds(changed);
        let smallest =
            expressions.chain(statements).filter(holds).min_by_key(|(span, _)| span.end - span.start);
        let Some((span, statement)) = smallest else {
            return Err("its change lies in no expression and no statement".to_owned());
        };
        let put = &self.to[before..self.to.len() - after];
        let mutated = [&text[span.start..changed.start], put, &text[changed.end..span.end]].concat();
        Ok(Edit { span, mutated, operator: "listed", statement })
    }
}
