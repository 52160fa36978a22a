//! Writes the page of all figures, `docs/figures.md`: a section of the page for each section of the
//! benchmark.
//!
//! A run replaces only the sections that it measured, so that a figure has the version that its
//! section names. Other text on the page, written by people, stays.

use super::figure::{Figure, Goal};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// Heading of a measured section, followed by its name.
const HEADING: &str = "## Measured: ";

/// Version and machine of a run, in a line.
pub fn origin() -> String {
    format!("Version {}, on {}.", version(), machine())
}

/// The commit that is checked out, and whether the tree differs from it.
fn version() -> String {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short", "HEAD"]) else {
        return concat!(env!("CARGO_PKG_VERSION"), " of no repository").to_owned();
    };
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/figures.md"]);
    let changed = changed.is_some_and(|list| !list.is_empty());
    format!("{commit}{}", if changed { " with changes" } else { "" })
}

/// Processor and number of cores.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{cores} cores of {}", model.map_or("an unknown processor", |(_, name)| name.trim()))
}

/// A section's text, from its heading to its last row.
fn section(name: &str, figures: &[Figure], origin: &str) -> String {
    let mut text =
        format!("{HEADING}{name}\n\n{origin}\n\n| what | measured | goal | command |\n|---|---|---|---|\n");
    for Figure { what, value, goal, command } in figures {
        let goal = match goal {
            Goal::Met(true, goal) => goal.clone(),
            Goal::Met(false, goal) => format!("{goal}, **missed**"),
            Goal::Stated => "stated".to_owned(),
        };
        text += &format!("| {what} | {value} | {goal} | `{command}` |\n");
    }
    text
}

/// The page with this section in place of the one of its name, or after the last measured one.
fn with_section(page: &str, name: &str, text: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for line in page.lines() {
        if line.starts_with("## ") || parts.is_empty() {
            parts.push(String::new());
        }
        let part = parts.last_mut().expect("one was begun");
        *part += line;
        part.push('\n');
    }
    let heading = format!("{HEADING}{name}\n");
    let text = format!("{}\n", text.trim_end().to_owned() + "\n");
    match parts.iter().position(|part| part.starts_with(&heading)) {
        Some(at) => parts[at] = text,
        None => {
            let last = parts.iter().rposition(|part| part.starts_with(HEADING));
            parts.insert(last.map_or(parts.len(), |last| last + 1), text);
        }
    }
    parts.concat().trim_end().to_owned() + "\n"
}

/// Writes a section into the page at `path`.
///
/// # Errors
/// If the page cannot be read or written.
pub fn write(path: &Path, name: &str, figures: &[Figure], origin: &str) -> Result<()> {
    let shown = path.display();
    let page = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
    let page = with_section(&page, name, &section(name, figures, origin));
    std::fs::write(path, page).with_context(|| format!("cannot write {shown}"))
}
