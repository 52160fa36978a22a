//! Writes one self-contained HTML page: pictures inline, tables that sort, light and dark.

use super::choose::Chosen;
use super::figure::Figure;
use super::group::Group;
use super::rows::{text, Rows};
use crate::config::Kind;
use crate::eval::grid::{Column, Role};
use crate::eval::rows::spread::Spread;
use serde::Serialize;
use serde_json::{json, Map, Value};

const STYLE: &str = include_str!("../../../templates/report/page.css");
const SORT: &str = include_str!("../../../templates/report/sort.js");
const PAGE: &str = include_str!("../../../templates/report/sweep.html.tera");

/// Most rows in a page's list; the files have all.
const LISTED: usize = 5000;

/// Contents of a page other than its figures and rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// The fastest configuration that fits, in words, for each workload.
    pub best: Vec<String>,
}

/// The page.
///
/// # Errors
/// If the template does not take it: a slip in this crate.
pub fn page(
    page: &Page,
    chosen: &Chosen,
    groups: &[Group],
    figures: &[Figure],
) -> Result<String, tera::Error> {
    let figure = |figure: &Figure| json!({ "svg": labelled(figure), "caption": figure.caption });
    let mut context = tera::Context::new();
    context.insert("style", STYLE);
    context.insert("sort", SORT);
    context.insert("page", page);
    context.insert("figures", &figures.iter().map(figure).collect::<Vec<_>>());
    context.insert("summary", &summary(chosen, groups));
    context.insert("count", &count(chosen));
    context.insert("rows", &all_rows(&chosen.rows));
    tera::Tera::one_off(PAGE, &context, true)
}

/// A picture with a text for readers who cannot see it.
pub(super) fn labelled(figure: &Figure) -> String {
    // An XML declaration is not allowed inside a page.
    let svg = figure.themed.find("<svg").map_or("", |at| &figure.themed[at..]);
    let label = tera::escape_html(&figure.caption);
    svg.trim_end().replacen("<svg", &format!("<svg role=\"img\" aria-label=\"{label}\""), 1)
}

/// Heading of a column; numbers stand to the right.
#[derive(Debug, Serialize)]
struct Head {
    name: String,
    unit: String,
    number: bool,
}

/// A cell, aligned as its heading. It is sorted by its value, if it has one, else by its text.
#[derive(Debug, Serialize)]
struct Cell {
    text: String,
    number: bool,
    value: Option<String>,
}

#[derive(Debug, Serialize)]
struct Table {
    heads: Vec<Head>,
    rows: Vec<Vec<Cell>>,
}

fn head(name: &str, unit: &str, number: bool) -> Head {
    Head { name: name.to_owned(), unit: unit.to_owned(), number }
}

fn spread_cell(spread: Option<Spread>) -> Cell {
    let text = spread.map_or(String::new(), Spread::text);
    Cell { text, number: true, value: spread.map(|spread| spread.mean.to_string()) }
}

/// A row for each series and x.
fn summary(chosen: &Chosen, groups: &[Group]) -> Table {
    let labels = chosen.by.iter().chain([&chosen.x]);
    let value = |group: &Group, at: usize| group.series.get(at).unwrap_or(&group.x).parse::<f64>();
    let numbers = |at: usize| groups.iter().all(|group| value(group, at).is_ok());
    let mut heads: Vec<Head> = labels.enumerate().map(|(at, key)| head(key, "", numbers(at))).collect();
    heads.push(head("seeds", "", true));
    let unit = |column: &Column| match chosen.baseline {
        Some(_) => "of the baseline".to_owned(),
        None => column.unit.clone(),
    };
    heads.extend(chosen.y.iter().map(|column| head(&column.name, &unit(column), true)));
    let cell = |text: &str, number: bool| Cell { text: text.to_owned(), number, value: None };
    let row = |group: &Group| {
        let labels = group.series.iter().chain([&group.x]).enumerate();
        let mut cells: Vec<Cell> = labels.map(|(at, value)| cell(value, numbers(at))).collect();
        cells.push(cell(&group.seeds.len().to_string(), true));
        cells.extend(group.y.iter().map(|spread| spread_cell(*spread)));
        cells
    };
    Table { heads, rows: groups.iter().map(row).collect() }
}

/// How many rows the list has, in words.
fn count(chosen: &Chosen) -> String {
    let count = match chosen.rows.rows.len() {
        all if all > LISTED => format!("The first {LISTED} of {all} rows"),
        all => format!("All {all} rows"),
    };
    let base = chosen.baseline.as_deref();
    count + &base.map_or(String::new(), |base| format!(", plotted metrics relative to {base}"))
}

/// Every row, with every column that distinguishes rows or is a metric.
fn all_rows(rows: &Rows) -> Table {
    let told = |column: &&Column| match column.role {
        Role::Id => column.name == "id",
        Role::Label => column.name == "seed" || rows.values(&column.name).len() > 1,
        Role::Metric => true,
    };
    let shown: Vec<&Column> = rows.columns.iter().filter(told).collect();
    let number = |column: &Column| matches!(column.kind, Kind::Integer | Kind::Number);
    let heads = shown.iter().map(|column| head(&column.name, &column.unit, number(column))).collect();
    let row = |row: &Map<String, Value>| {
        let of = |column: &&Column| {
            let text = text(Rows::value(row, &column.name));
            Cell { text, number: number(column), value: None }
        };
        shown.iter().map(of).collect()
    };
    Table { heads, rows: rows.rows.iter().take(LISTED).map(row).collect() }
}
