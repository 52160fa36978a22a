//! `meshkv sweep --dry-run`: lists the points of a sweep, one by one.
//!
//! A sweep may have a million of them, so no list of their texts is made: labels are made again for each pass.

use crate::cli::compare::sweep::output::{List, Listed, Points, SweepOutput};
use crate::cli::output::table::Widths;
use crate::cli::output::ui::Ui;
use crate::eval::grid::{Column, Outline, Role};
use crate::eval::sweep::store;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

/// Points between two steps of the progress.
const TOLD_EVERY: usize = 1000;

/// Lists the points, and which of them have a row.
pub(super) fn list(all: &Outline<'_>, output: &Path, ui: &Ui) -> anyhow::Result<ExitCode> {
    let done = store::ids(output)?;
    let known = if done.is_empty() { 0 } else { all.points().filter(|(id, _)| done.contains(id)).count() };
    let labels: Vec<&Column> = all.columns.iter().filter(|column| column.role == Role::Label).collect();
    // Lines on a terminal show how far it is, and a bar would tear them.
    let bar = (!io::stdout().is_terminal()).then(|| ui.progress(Some(all.len() as u64), "listing"));
    let told = |number: usize| {
        if let Some(bar) = bar.as_ref().filter(|_| number.is_multiple_of(TOLD_EVERY)) {
            bar.set(number as u64);
        }
    };
    let listed = all.points().enumerate().map(|(number, (id, values))| {
        told(number);
        let labels = labels.iter().zip(values).map(|(column, value)| (column.name.clone(), value));
        Listed { done: done.contains(&id), id, labels: labels.collect() }
    });
    let points = Points(RefCell::new(Box::new(listed)));
    ui.stream(&SweepOutput::List(List { points, done: known }), |out| {
        prose(all, &labels, &done, &told, out)?;
        writeln!(out, "{} points, {known} of them done", all.len())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a line for each point, without labels that are the same everywhere.
fn prose(
    all: &Outline<'_>,
    labels: &[&Column],
    done: &BTreeSet<String>,
    told: &dyn Fn(usize),
    out: &mut dyn Write,
) -> io::Result<()> {
    let shown = varying(all, labels.len());
    let row = |id: String, values: &[Value]| {
        let state = if done.contains(&id) { "done" } else { "" };
        let cells = shown.iter().map(|&at| text(&values[at]));
        std::iter::once(id).chain(cells).chain([state.to_owned()]).collect::<Vec<_>>()
    };
    let head = shown.iter().map(|&at| labels[at].name.clone());
    let head: Vec<_> = std::iter::once("id".to_owned()).chain(head).collect();
    let mut widths = Widths::default();
    widths.see(&head);
    all.points().for_each(|(id, values)| widths.see(&row(id, &values)));
    out.write_all(widths.line(&head).as_bytes())?;
    for (number, (id, values)) in all.points().enumerate() {
        told(number);
        out.write_all(widths.line(&row(id, &values)).as_bytes())?;
    }
    Ok(())
}

/// A value as readable text.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The labels, by their places, that are not the same at all points.
fn varying(all: &Outline<'_>, labels: usize) -> Vec<usize> {
    let mut points = all.points();
    let Some((_, first)) = points.next() else { return Vec::new() };
    let mut same: BTreeSet<usize> = (0..labels).collect();
    for (_, values) in points {
        same.retain(|&at| values[at] == first[at]);
    }
    (0..labels).filter(|at| !same.contains(at)).collect()
}
