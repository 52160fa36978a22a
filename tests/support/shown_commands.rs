//! Commands that help texts and documentation show.
//!
//! It finds them; whether they parse or run is for the tests.

use clap::Command;
use std::fs;
use std::path::{Path, PathBuf};

/// A command, and where it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// The subcommand or the file.
    pub place: String,
    /// The line as a shell reads it, without what explains it.
    pub line: String,
}

/// Examples of the help text of a command and of all below it, in this order.
pub fn of_help(command: &Command) -> Vec<Shown> {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let examples = text.split_once("Examples:\n").map_or("", |(_, after)| after);
    let examples = examples.split("\n\n").next().unwrap_or_default();
    let here = examples
        .lines()
        .filter_map(shell_line)
        .map(|line| Shown { place: format!("{} --help", command.get_name()), line });
    here.chain(command.get_subcommands().filter(|sub| !sub.is_hide_set()).flat_map(of_help)).collect()
}

/// What a shell reads of a line of a help text: columns of blanks separate an explanation.
fn shell_line(line: &str) -> Option<String> {
    let line = line.trim();
    let mut end = line.len();
    let mut from = 0;
    while let Some(at) = line[from..].find("  ").map(|at| from + at) {
        let rest = line[at..].trim_start();
        if !rest.starts_with(['>', '|']) {
            end = at;
            break;
        }
        from = line.len() - rest.len();
    }
    is_command(line).then(|| line[..end].to_owned())
}

fn is_command(line: &str) -> bool {
    let first = line.split_whitespace().find(|word| !word.contains('='));
    matches!(first, Some("meshkv" | "make"))
}

/// Commands in blocks of code of the documentation.
pub fn of_docs() -> Vec<Shown> {
    let mut found = Vec::new();
    for path in pages() {
        let text = fs::read_to_string(&path).expect("a page");
        let mut inside = false;
        for line in text.lines() {
            if line.starts_with("```") {
                inside = !inside;
            } else if inside && is_command(line) {
                let line = line.split(" #").next().unwrap_or_default().trim_end().to_owned();
                found.push(Shown { place: path.display().to_string(), line });
            }
        }
    }
    found
}

/// Commands within sentences of the documentation, in backticks.
pub fn of_sentences() -> Vec<Shown> {
    let mut found = Vec::new();
    for path in pages() {
        let text = fs::read_to_string(&path).expect("a page");
        let text = text.split("```").step_by(2).collect::<Vec<_>>().join("\n");
        let spans = text.split('`').skip(1).step_by(2);
        let lines = spans.map(|span| span.split_whitespace().collect::<Vec<_>>().join(" "));
        found.extend(
            lines
                .filter(|line| is_command(line))
                .map(|line| Shown { place: path.display().to_string(), line }),
        );
    }
    found
}

/// Pages that people read; the files of the paper and figures are written by commands.
fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir("docs").expect("docs").map(|entry| entry.expect("an entry").path());
    let written = ["docs/figures.md", "docs/paper.md"].map(Path::new);
    let page =
        |path: &PathBuf| path.extension().is_some_and(|e| e == "md") && !written.contains(&path.as_path());
    let mut pages: Vec<_> = docs.filter(page).collect();
    pages.extend(["README.md", "CONTRIBUTING.md"].map(|name| Path::new(name).to_owned()));
    pages.sort();
    pages
}

/// The words of the command itself: what comes before a pipe or a redirection, without variables and quotes.
pub fn words(line: &str) -> Vec<String> {
    let command = line.split(['|', '>', '&', ';']).next().unwrap_or_default();
    let words = command.split_whitespace().skip_while(|word| word.contains('='));
    words.map(|word| word.trim_matches(['\'', '"']).to_owned()).collect()
}

#[test]
fn an_explanation_is_no_part_of_a_command_and_a_pipe_is() {
    for (line, found) in [
        ("  meshkv init                    write it", Some("meshkv init")),
        ("  meshkv completions zsh  > ~/x", Some("meshkv completions zsh  > ~/x")),
        ("  A=b meshkv doctor --json | jq .a", Some("A=b meshkv doctor --json | jq .a")),
        ("  man meshkv-run", None),
    ] {
        assert_eq!(shell_line(line).as_deref(), found);
    }
    assert_eq!(words("A=b meshkv x '.a' | jq"), ["meshkv", "x", ".a"]);
}
