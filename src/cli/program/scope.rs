//! Options that have an effect only together with others, or only without them.
//!
//! Each subcommand declares them once, and a command line with an option that would have no effect is refused before
//! anything is read. Clap's own `requires` is not used: clap drops it wherever an option is given that excludes the
//! required one, so that `--timing` would make `--prefix` legal without `--steps`.

use crate::config::Engine;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

/// Options of a subcommand, and where they have an effect.
pub(in crate::cli) struct Scope {
    /// Names of their fields.
    pub(in crate::cli) of: &'static [&'static str],
    /// One of these must be met.
    pub(in crate::cli) only: &'static [Only],
    /// Reason why they have no effect elsewhere; empty where the options themselves say it.
    pub(in crate::cli) why: &'static str,
}

/// Condition under which an option has an effect. Options are named by their fields.
pub(in crate::cli) enum Only {
    /// One of these options is given.
    With(&'static [&'static str]),
    /// None of these options is given.
    Without(&'static [&'static str]),
    /// An option has one of these values, given or by default; one without a value has all.
    Where(&'static str, &'static [&'static str]),
    /// An option has none of these values.
    Unless(&'static str, &'static [&'static str]),
    /// The run needs the Verilog.
    OnVerilog,
}

/// A command line after parsing: the subcommand that runs, and its place.
struct Line<'a> {
    command: &'a Command,
    matches: &'a ArgMatches,
    /// Engine that the subcommand has by default.
    default: Engine,
}

/// Refuses the first option that has no effect with the others. `scopes` gives those of a subcommand by its name.
///
/// # Errors
/// Names the option, the reason and the way out.
pub(in crate::cli) fn check(
    cli: &mut Command,
    matches: &ArgMatches,
    scopes: &dyn Fn(&str) -> Vec<&'static Scope>,
) -> Result<(), clap::Error> {
    let (mut command, mut matches, mut default) = (cli, matches, Engine::Rtl);
    while let Some((name, given)) = matches.subcommand() {
        let Some(found) = command.find_subcommand_mut(name) else { return Ok(()) };
        (command, matches) = (found, given);
        if name == "sim" {
            default = Engine::Model;
        }
    }
    let line = Line { command, matches, default };
    let unmet = scopes(command.get_name()).into_iter().find_map(|scope| line.unmet(scope));
    match unmet {
        Some(problem) => Err(command.error(ErrorKind::ArgumentConflict, problem)),
        None => Ok(()),
    }
}

impl Line<'_> {
    /// The problem of a scope, if one of its options is given and has no effect.
    fn unmet(&self, scope: &Scope) -> Option<String> {
        let given = scope.of.iter().find(|id| self.given(id))?;
        if scope.only.iter().any(|only| self.met(only)) {
            return None;
        }
        let option = self.shown(given);
        let (places, ways): (Vec<_>, Vec<_>) = scope.only.iter().map(|only| self.words(only)).unzip();
        let why = if scope.why.is_empty() { String::new() } else { format!(": {}", scope.why) };
        Some(format!(
            "{option} has no effect {}{why}\n\n  tip: {}, or leave {option} out",
            places.join(" and "),
            ways.join(", or ")
        ))
    }

    fn met(&self, only: &Only) -> bool {
        let has =
            |id: &str, values: &[&str]| self.values(id).iter().any(|value| values.contains(&value.as_str()));
        match only {
            Only::With(ids) => ids.iter().any(|id| self.given(id)),
            Only::Without(ids) => !ids.iter().any(|id| self.given(id)),
            Only::Where(id, values) => self.values(id).is_empty() || has(id, values),
            Only::Unless(id, values) => !has(id, values),
            Only::OnVerilog => self.given("lockstep") || self.engine() == Engine::Rtl,
        }
    }

    /// Words for a condition that is not met, and for the way to meet it.
    fn words(&self, only: &Only) -> (String, String) {
        let all = |ids: &[&str]| ids.iter().map(|id| self.shown(id)).collect::<Vec<_>>().join(" or ");
        let present = |id: &str| format!("with {} {}", self.shown(id), self.values(id).join(" "));
        match only {
            Only::With(ids) => (format!("without {}", all(ids)), format!("add {}", all(ids))),
            Only::Without(ids) => {
                let given: Vec<&str> = ids.iter().copied().filter(|id| self.given(id)).collect();
                (format!("with {}", all(&given)), format!("leave {} out", all(&given)))
            }
            Only::Where(id, values) => {
                (present(id), format!("choose {} {}", self.shown(id), values.join(" or ")))
            }
            Only::Unless(id, _) => (present(id), format!("choose another {}", self.shown(id))),
            Only::OnVerilog => ("on the model".to_owned(), "add --engine rtl".to_owned()),
        }
    }

    fn given(&self, id: &str) -> bool {
        self.has(id) && self.matches.value_source(id) == Some(ValueSource::CommandLine)
    }

    /// Values of an option, given or by default.
    fn values(&self, id: &str) -> Vec<String> {
        let raw = if self.has(id) { self.matches.get_raw(id) } else { None };
        raw.into_iter().flatten().map(|value| value.to_string_lossy().into_owned()).collect()
    }

    fn engine(&self) -> Engine {
        match self.values("engine").first().map(String::as_str) {
            Some("model") => Engine::Model,
            Some(_) => Engine::Rtl,
            None => self.default,
        }
    }

    fn arg(&self, id: &str) -> Option<&Arg> {
        self.command.get_arguments().find(|arg| arg.get_id() == id)
    }

    fn has(&self, id: &str) -> bool {
        self.arg(id).is_some()
    }

    /// An option as it is typed, without its value.
    fn shown(&self, id: &str) -> String {
        let long = self.arg(id).and_then(Arg::get_long);
        long.map_or_else(|| id.to_uppercase(), |long| format!("--{long}"))
    }
}
