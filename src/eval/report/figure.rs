//! Which pictures a report has: one a metric, and more where series are too many for one.

use super::canvas::{with_theme, SERIES};
use super::choose::Chosen;
use super::group::Group;
use super::{bars, curves};
use crate::config::WorkKind;
use crate::eval::grid::Column;

/// A picture and what is said below it.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Name of its files.
    pub name: String,
    /// As a file: with its own colours.
    pub svg: String,
    /// On a page that gives the colours.
    pub themed: String,
    /// What it shows.
    pub caption: String,
}

/// What one picture shows.
pub(super) struct Plot<'a> {
    pub title: String,
    pub subtitle: String,
    pub x: &'a str,
    pub x_name: String,
    pub y_name: String,
    /// Which of the metrics.
    pub at: usize,
    pub groups: &'a [Group],
    /// Values of the labels of each series, and as a legend says them.
    pub series: Vec<Vec<String>>,
    pub names: Vec<String>,
    /// Whether it is a latency, of which what is beyond saturation is left out.
    pub is_latency: bool,
}

/// What a column says up to its first comma, and its unit.
fn named(column: &Column) -> String {
    let meaning = column.doc.split([';', ',', '.']).next().unwrap_or_default();
    if column.unit.is_empty() {
        meaning.to_owned()
    } else {
        format!("{meaning} ({})", column.unit)
    }
}

/// A sentence begins with a capital.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn series_name(by: &[String], series: &[String], from: usize) -> String {
    let pairs = by.iter().zip(series).skip(from).map(|(key, value)| format!("{key} {value}"));
    pairs.collect::<Vec<_>>().join(", ")
}

/// All series, each once.
fn all_series(groups: &[Group]) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = Vec::new();
    for group in groups {
        if !all.contains(&group.series) {
            all.push(group.series.clone());
        }
    }
    all
}

/// Series by picture: those that are alike in as few of the first labels as it takes for colours to suffice.
fn facets(series: Vec<Vec<String>>) -> (usize, Vec<Vec<Vec<String>>>) {
    let labels = series.first().map_or(0, Vec::len);
    let split = |fixed: usize| {
        let mut facets: Vec<Vec<Vec<String>>> = Vec::new();
        for one in &series {
            match facets.iter_mut().find(|facet| facet[0][..fixed] == one[..fixed]) {
                Some(facet) => facet.push(one.clone()),
                None => facets.push(vec![one.clone()]),
            }
        }
        facets
    };
    let fits = |fixed: &usize| split(*fixed).iter().all(|facet| facet.len() <= SERIES.len());
    let fixed = (0..=labels).find(fits).unwrap_or(labels);
    (fixed, split(fixed))
}

/// The pictures of a report about `name`.
///
/// # Errors
/// When one cannot be drawn.
pub fn figures(name: &str, chosen: &Chosen, groups: &[Group]) -> anyhow::Result<Vec<Figure>> {
    let (fixed, facets) = facets(all_series(groups));
    let x_is_number = groups.iter().all(|group| group.x.parse::<f64>().is_ok());
    let x_name = match chosen.rows.column(&chosen.x) {
        Some(column) if !column.unit.is_empty() => format!("{} ({})", chosen.x, column.unit),
        _ => chosen.x.clone(),
    };
    let mut figures = Vec::new();
    for (at, column) in chosen.y.iter().enumerate() {
        for series in &facets {
            let of = series_name(&chosen.by[..fixed], &series[0], 0);
            let relative = chosen.baseline.as_ref().map(|base| format!(", relative to {base}"));
            let y_name = match &relative {
                Some(_) => format!("{} / baseline", column.name),
                None => named(column),
            };
            let title = column.doc.split([';', ',']).next().unwrap_or_default();
            let plot = Plot {
                title: capital(title) + relative.as_deref().unwrap_or_default(),
                subtitle: if of.is_empty() { name.to_owned() } else { format!("{name}: {of}") },
                x: &chosen.x,
                x_name: x_name.clone(),
                y_name,
                at,
                groups,
                names: series.iter().map(|one| series_name(&chosen.by, one, fixed)).collect(),
                series: series.clone(),
                is_latency: column.name.starts_with("latency") && chosen.baseline.is_none(),
            };
            // Bars for steps, and for traffic over what is no number.
            let lines = chosen.rows.kind == WorkKind::Traffic && x_is_number;
            let svg = if lines { curves::curves(&plot)? } else { bars::bars(&plot)? };
            figures.push(Figure {
                name: file_name(&column.name, &series[0][..fixed]),
                themed: with_theme(&svg),
                svg,
                caption: caption(column, groups, lines && plot.is_latency),
            });
        }
    }
    Ok(figures)
}

/// A name for files: letters, digits and hyphens.
fn file_name(metric: &str, facet: &[String]) -> String {
    let words = std::iter::once(metric).chain(facet.iter().map(String::as_str));
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    words.map(|word| word.chars().map(plain).collect::<String>()).collect::<Vec<_>>().join("-")
}

fn caption(column: &Column, groups: &[Group], cut: bool) -> String {
    let mut text = format!("{}: {}.", column.name, column.doc);
    let mut seeds: Vec<&String> = groups.iter().flat_map(|group| &group.seeds).collect();
    seeds.sort_by_key(|seed| seed.parse::<u64>().unwrap_or(0));
    seeds.dedup();
    let listed: Vec<&str> = seeds.iter().take(12).map(|seed| seed.as_str()).collect();
    let more = if seeds.len() > listed.len() { ", ..." } else { "" };
    text += &match seeds.len() {
        1 => format!(" Seed {}; one seed has no interval.", listed[0]),
        _ => format!(
            " Means of seeds {}{more}; bars are 95 % intervals (Student), where wider than the mark.",
            listed.join(", ")
        ),
    };
    if cut {
        text += " Curves end at five times the latency without load; hollow marks are lower bounds, of runs that did not finish.";
    }
    text
}
