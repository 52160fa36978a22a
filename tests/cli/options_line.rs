//! Command lines that are made of the table of options.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// Options with their values.
pub type Options = BTreeMap<String, Option<String>>;

/// A command.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    line: String,
    /// True if its runs take no time.
    #[serde(default)]
    pub runs: bool,
    pub options: BTreeMap<String, Of>,
}

/// An option of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Of {
    value: Option<String>,
    #[serde(default)]
    with: Vec<String>,
    #[serde(default)]
    or: Vec<String>,
    #[serde(default)]
    instead: Vec<String>,
    #[serde(default)]
    refused: Vec<String>,
    /// Reason why no output shows its effect.
    pub unseen: Option<String>,
}

/// A command line.
pub struct Line {
    fixed: Vec<String>,
    options: Options,
}

/// `option` or `option=value`.
fn split(text: &str) -> (&str, Option<&str>) {
    text.split_once('=').map_or((text, None), |(option, value)| (option, Some(value)))
}

impl Of {
    /// True if it is refused without others; what `fit` makes room for is asked by the workload instead.
    pub fn needs(&self, table: &Table) -> bool {
        self.with.iter().any(|with| !table.fixed().1.contains_key(split(with).0) && split(with).0 != "fit")
    }

    /// True if it needs this option, or can have it instead.
    pub fn names(&self, option: &str) -> bool {
        self.with.iter().chain(&self.or).any(|with| split(with).0 == option)
    }
}

impl Table {
    /// Name of the command, which is the last word before what it works on.
    pub fn command(&self) -> &str {
        let mut words = self.line.split_whitespace();
        match (words.next(), words.next()) {
            (Some("sim"), Some(work)) if !work.starts_with(char::is_uppercase) => work,
            (first, _) => first.unwrap_or_default(),
        }
    }

    /// Words and options of `line`.
    fn fixed(&self) -> (Vec<String>, Options) {
        let (mut fixed, mut options) = (Vec::new(), Options::new());
        let mut words = self.line.split_whitespace().map(str::to_owned);
        while let Some(word) = words.next() {
            match word.strip_prefix("--") {
                Some(option) => drop(options.insert(option.to_owned(), words.next())),
                None => fixed.push(word),
            }
        }
        (fixed, options)
    }

    fn of(&self, option: &str) -> &Of {
        self.options.get(option).unwrap_or_else(|| panic!("options.toml has no --{option} for {}", self.line))
    }

    /// Options of `line` without those that are left out beside these.
    pub fn left_out<'a>(&self, beside: impl Iterator<Item = &'a str>) -> Options {
        let mut options = self.fixed().1;
        beside
            .for_each(|option| self.of(option).instead.iter().for_each(|other| drop(options.remove(other))));
        options
    }

    /// The line with these options, and all that is needed by `needs`.
    pub fn line(&self, needs: &[&str], given: &[&str]) -> Line {
        self.line_as(&self.left_out(needs.iter().chain(given).copied()), needs, given)
    }

    /// The same over other options of `line`.
    pub fn line_as(&self, fixed: &Options, needs: &[&str], given: &[&str]) -> Line {
        let mut options = fixed.clone();
        for with in needs.iter().flat_map(|option| &self.of(option).with) {
            let (option, value) = split(with);
            let value = value.map(str::to_owned).or_else(|| self.of(option).value.clone());
            options.insert(option.to_owned(), value);
        }
        for option in given {
            // A value that another option needs stays.
            options.entry((*option).to_owned()).or_insert_with(|| self.of(option).value.clone());
            if self.fixed().1.contains_key(*option) && !needs.contains(option) {
                options.insert((*option).to_owned(), self.of(option).value.clone());
            }
        }
        Line { fixed: self.fixed().0, options }
    }

    /// True if two options are refused together.
    pub fn refuses(&self, first: &str, second: &str) -> bool {
        let names = |one: &str, other: &str| self.of(one).refused.iter().any(|option| option == other);
        names(first, second) || names(second, first)
    }
}

impl Line {
    pub fn words(&self) -> Vec<String> {
        let options = self.options.iter();
        let options =
            options.flat_map(|(option, value)| [format!("--{option}")].into_iter().chain(value.clone()));
        self.fixed.iter().cloned().chain(options).collect()
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "meshkv {}", self.words().join(" "))
    }
}
