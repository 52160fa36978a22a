//! Writes one self-contained HTML page: pictures inline, tables that sort, light and dark.

use super::choose::Chosen;
use super::figure::Figure;
use super::group::Group;
use super::rows::{text, Rows};
use crate::config::Kind;
use crate::eval::grid::{Column, Role};
use crate::eval::spread::Spread;
use std::fmt::Write;

const STYLE: &str = include_str!("../../../templates/report/page.css");
const SORT: &str = include_str!("../../../templates/report/sort.js");

/// Most rows in a page's list; the files have all.
const LISTED: usize = 5000;

/// Contents of a page other than its figures and rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Heading.
    pub title: String,
    /// The command that makes the page again.
    pub command: String,
    /// For each sweep: its name, the command of its rows, the program's version, and the sweep
    /// file.
    pub sweeps: Vec<[String; 4]>,
    /// Warnings for the reader, before anything else.
    pub warnings: Vec<String>,
}

/// The page.
pub fn page(page: &Page, chosen: &Chosen, groups: &[Group], figures: &[Figure]) -> String {
    let title = escaped(&page.title);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    for [name, command, version, _] in &page.sweeps {
        html += &format!(
            "<p class=\"facts\">{}: <code>{}</code>, meshkv {}</p>\n",
            escaped(name),
            escaped(command),
            escaped(version)
        );
    }
    for warning in &page.warnings {
        html += &format!("<p class=\"warning\">{}</p>\n", escaped(warning));
    }
    html += "<div class=\"figures\">\n";
    for figure in figures {
        html += &format!(
            "<figure>\n{}\n<figcaption>{} From <code>{}</code></figcaption>\n</figure>\n",
            labelled(figure),
            escaped(&figure.caption),
            escaped(&page.command)
        );
    }
    html += "</div>\n<h2>Figures of every point</h2>\n";
    html += &summary(chosen, groups);
    html += &all_rows(&chosen.rows, chosen.baseline.as_deref());
    for [name, _, _, text] in &page.sweeps {
        html += &format!(
            "<details>\n<summary>The sweep file of {}</summary>\n<pre>{}</pre>\n</details>\n",
            escaped(name),
            escaped(text)
        );
    }
    html + &format!("<script>\n{SORT}</script>\n</body>\n</html>\n")
}

/// A picture with a text for those who cannot see it.
pub(super) fn labelled(figure: &Figure) -> String {
    // An XML declaration is not allowed inside a page.
    let svg = figure.themed.find("<svg").map_or("", |at| &figure.themed[at..]);
    svg.trim_end().replacen(
        "<svg",
        &format!("<svg role=\"img\" aria-label=\"{}\"", escaped(&figure.caption)),
        1,
    )
}

/// Text with HTML's special characters escaped.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn heading(name: &str, unit: &str, numbers: bool) -> String {
    let unit = if unit.is_empty() { String::new() } else { format!("<small>{}</small>", escaped(unit)) };
    let class = if numbers { " class=\"n\"" } else { "" };
    format!("<th{class}><button type=\"button\">{}</button>{unit}</th>", escaped(name))
}

fn table(headings: &[String], rows: &[Vec<String>]) -> String {
    let mut html =
        format!("<div class=\"wide\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n", headings.concat());
    for row in rows {
        // Writing to a String cannot fail.
        let _ = writeln!(html, "<tr>{}</tr>", row.concat());
    }
    html + "</tbody>\n</table></div>\n"
}

/// A table cell, aligned as its heading.
fn cell(text: &str, number: bool) -> String {
    let class = if number { " class=\"n\"" } else { "" };
    format!("<td{class}>{}</td>", escaped(text))
}

fn spread_cell(spread: Option<Spread>) -> String {
    let cell = |spread: Spread| format!("<td class=\"n\" data-v=\"{}\">{}</td>", spread.mean, spread.text());
    spread.map_or("<td class=\"n\"></td>".to_owned(), cell)
}

/// A row for each series and x.
fn summary(chosen: &Chosen, groups: &[Group]) -> String {
    let labels = chosen.by.iter().chain([&chosen.x]);
    let value = |group: &Group, at: usize| group.series.get(at).unwrap_or(&group.x).parse::<f64>();
    let numbers = |at: usize| groups.iter().all(|group| value(group, at).is_ok());
    let mut headings: Vec<String> =
        labels.enumerate().map(|(at, key)| heading(key, "", numbers(at))).collect();
    headings.push(heading("seeds", "", true));
    let unit = |column: &Column| match chosen.baseline {
        Some(_) => "of the baseline".to_owned(),
        None => column.unit.clone(),
    };
    headings.extend(chosen.y.iter().map(|column| heading(&column.name, &unit(column), true)));
    let row = |group: &Group| {
        let labels = group.series.iter().chain([&group.x]).enumerate();
        let mut cells: Vec<String> = labels.map(|(at, value)| cell(value, numbers(at))).collect();
        cells.push(cell(&group.seeds.len().to_string(), true));
        cells.extend(group.y.iter().map(|spread| spread_cell(*spread)));
        cells
    };
    table(&headings, &groups.iter().map(row).collect::<Vec<_>>())
}

/// Every row, with every column that distinguishes rows or is a metric.
fn all_rows(rows: &Rows, baseline: Option<&str>) -> String {
    let told = |column: &&Column| match column.role {
        Role::Id => column.name == "id",
        Role::Label => column.name == "seed" || rows.values(&column.name).len() > 1,
        Role::Metric => true,
    };
    let shown: Vec<&Column> = rows.columns.iter().filter(told).collect();
    let numbers = |column: &Column| matches!(column.kind, Kind::Integer | Kind::Number);
    let headings: Vec<String> =
        shown.iter().map(|column| heading(&column.name, &column.unit, numbers(column))).collect();
    let row = |row: &serde_json::Map<String, serde_json::Value>| {
        let of = |column: &&Column| cell(&text(Rows::value(row, &column.name)), numbers(column));
        shown.iter().map(of).collect::<Vec<_>>()
    };
    let listed: Vec<Vec<String>> = rows.rows.iter().take(LISTED).map(row).collect();
    let count = match rows.rows.len() {
        all if all > LISTED => format!("The first {LISTED} of {all} rows"),
        all => format!("All {all} rows"),
    };
    let relative = baseline.map_or(String::new(), |base| format!(", plotted metrics relative to {base}"));
    format!(
        "<details>\n<summary>{count}{}; <code>meshkv sweep FILE --only ID</code> gives one again</summary>\n{}</details>\n",
        escaped(&relative),
        table(&headings, &listed)
    )
}
