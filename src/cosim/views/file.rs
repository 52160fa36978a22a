//! Files of views: their names, and the values of their templates.

use super::groups::{Group, Line};
use super::meaning::Meaning;
use crate::design::Design;
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tera::{Context, Tera};

/// A file of a view: its path and its text.
pub type ViewFile = (PathBuf, String);

/// The name of a wave file without its extension.
pub(super) fn stem(waves: &Path) -> String {
    waves.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

pub(super) fn filled(template: &str, context: &Context) -> String {
    Tera::one_off(template, context, false).expect("templates of this program take their values")
}

/// Name of the table of a line's values, for signals of its width; `None` for a number.
fn table(line: &Line) -> Option<String> {
    line.meaning.table().map(|name| format!("{name}-{}", line.signal.width))
}

/// The tables that groups name.
pub(super) fn tables(groups: &[&Group]) -> BTreeMap<String, (Meaning, u32)> {
    let lines = groups.iter().flat_map(|group| &group.lines);
    lines.filter_map(|line| Some((table(line)?, (line.meaning, line.signal.width)))).collect()
}

/// What waves are of.
pub(super) struct Source<'a> {
    /// Name of the design.
    pub(super) name: &'a str,
    /// The design, which gives values their meanings; none if a module of it ran by itself.
    pub(super) design: Option<&'a Design>,
}

impl<'a> Source<'a> {
    /// A design as a whole.
    pub(super) fn of(design: &'a Design) -> Source<'a> {
        Source { name: &design.name, design: Some(design) }
    }
}

/// The values of a table with their names, the values as digits.
pub(super) fn values(meaning: Meaning, source: &Source, digits: impl Fn(u64) -> String) -> Context {
    let named = source
        .design
        .map_or_else(Vec::new, |design| meaning.values(design))
        .into_iter()
        .map(|(value, name)| (digits(value), name));
    let mut context = Context::new();
    context.insert("values", &named.collect::<Vec<_>>());
    context
}

/// Groups with their signals. Headings and signals are numbered in their order, as Surfer names its items.
pub(super) fn context(waves: &Path, groups: &[&Group], source: &Source) -> Context {
    let count: usize = groups.iter().map(|group| group.lines.len() + 1).sum();
    let mut at = 0;
    let mut shown = |group: &&Group| {
        at += 1;
        let lines = group.lines.iter().zip(at..).map(|(line, at)| {
            let (path, range, width) = (&line.signal.path, &line.signal.range, line.signal.width);
            json!({
                "name": line.name, "path": path, "range": range, "width": width, "table": table(line),
                "item": letters(at, count),
            })
        });
        let lines: Vec<Value> = lines.collect();
        at += lines.len();
        json!({"name": group.name, "word": word(&group.name), "open": group.open, "lines": lines})
    };
    let mut context = Context::new();
    context.insert("design", source.name);
    context.insert("stem", &stem(waves));
    context.insert("groups", &groups.iter().map(&mut shown).collect::<Vec<_>>());
    context
}

/// A heading as one word: Surfer reads no further than that.
fn word(heading: &str) -> String {
    let words: Vec<_> =
        heading.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
    words.join("_")
}

/// The number of an item as Surfer writes it: the letters a to p as hexadecimal digits, as many for
/// each of `count` items.
fn letters(at: usize, count: usize) -> String {
    let digits = count.max(1).ilog(16) as usize + 1;
    let letter = |digit: char| char::from(b'a' + digit.to_digit(16).map_or(0, |value| value as u8));
    format!("{at:0digits$x}").chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_numbered_in_letters_from_a_to_p() {
        assert_eq!((letters(0, 9), letters(9, 10), letters(15, 15)), ("a".into(), "j".into(), "p".into()));
        assert_eq!((letters(0, 16), letters(26, 27)), ("aa".to_owned(), "bk".to_owned()));
    }

    #[test]
    fn headings_are_one_word() {
        assert_eq!(
            word("hop 1: router (0, 0), from its tile to east"),
            "hop_1_router_0_0_from_its_tile_to_east"
        );
    }
}
