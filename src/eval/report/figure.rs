//! Figures of a report: one picture per metric, and more if one has too many series.

use super::choose::Chosen;
use super::group::Group;
use crate::config::WorkKind;
use crate::eval::grid::Column;
use crate::eval::report::picture::canvas::{with_theme, SERIES};
use crate::eval::report::picture::plot::Plot;
use crate::eval::report::picture::{bars, curves};
use std::collections::BTreeSet;

/// A picture with its caption.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Name of its files.
    pub name: String,
    /// SVG with its own colours, for a file.
    pub svg: String,
    /// SVG for a page that defines the colours.
    pub themed: String,
    /// Caption.
    pub caption: String,
}

impl Figure {
    /// A picture with its caption, for files and for a page.
    pub fn new(name: &str, svg: String, caption: String) -> Figure {
        Figure { name: name.to_owned(), themed: with_theme(&svg), svg, caption }
    }
}

/// Colours of pictures that are drawn without the canvas, and the names of those that a page has for them.
const PLAIN: &[(&str, &str)] = &[
    ("#ffffff", "paper"),
    ("#fff", "paper"),
    ("#222", "ink"),
    ("#666", "faint"),
    ("#333", "faint"),
    ("#445", "faint"),
    ("#555", "faint"),
    ("#f0f0f0", "box"),
    ("#ece7f2", "box"),
    ("#d9d9d9", "edge"),
    ("#1b6e3c", "s2"),
    ("#b02020", "s4"),
    ("#b06000", "s1"),
];

impl Figure {
    /// A picture whose neutral colours are those of a style sheet of its own.
    pub fn plain(name: &str, svg: String, caption: String) -> Figure {
        let themed = PLAIN.iter().fold(svg.clone(), |svg, (colour, name)| {
            let variable = format!("var(--{name})");
            let quoted = svg.replace(&format!("\"{colour}\""), &format!("\"{variable}\""));
            quoted.replace(&format!("{colour};"), &format!("{variable};"))
        });
        Figure { name: name.to_owned(), themed, svg, caption }
    }
}

/// Name of a column on an axis: rates say which of the two they are.
fn words(name: &str) -> String {
    match name {
        "load" => "offered load".to_owned(),
        "offered" | "accepted" => format!("{name} rate"),
        _ => name.replace('_', " "),
    }
}

/// The name of a column on an axis, with its unit.
fn named(column: &Column) -> String {
    // The unit follows, and need not be a part of the name.
    let name = words(column.name.strip_suffix(&format!("_{}", column.unit)).unwrap_or(&column.name));
    match column.unit.is_empty() {
        true => name,
        false => format!("{name} ({})", column.unit),
    }
}

/// A sentence begins with a capital.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Name of a series, from those of its labels that `told` selects.
fn series_name(by: &[String], series: &[String], told: impl Fn(usize) -> bool) -> String {
    let pairs = by.iter().zip(series).enumerate().filter(|(at, _)| told(*at));
    pairs.map(|(_, (key, value))| format!("{key} {value}")).collect::<Vec<_>>().join(", ")
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

/// Picture of each series, and the labels that are the same within a picture. There are as few
/// pictures as the colours allow.
fn facets(series: &[Vec<String>]) -> (Vec<usize>, Vec<Vec<Vec<String>>>) {
    let split = |fixed: &[usize]| {
        let alike = |a: &[String], b: &[String]| fixed.iter().all(|&at| a[at] == b[at]);
        let mut facets: Vec<Vec<Vec<String>>> = Vec::new();
        for one in series {
            match facets.iter_mut().find(|facet| alike(&facet[0], one)) {
                Some(facet) => facet.push(one.clone()),
                None => facets.push(vec![one.clone()]),
            }
        }
        facets
    };
    let mut labels: Vec<usize> = (0..series.first().map_or(0, Vec::len)).collect();
    // A label with few values makes few pictures, and leaves one with many to compare in each.
    labels.sort_by_key(|&at| split(&[at]).len());
    let fits = |count: &usize| split(&labels[..*count]).iter().all(|facet| facet.len() <= SERIES.len());
    let count = (0..=labels.len()).find(fits).unwrap_or(labels.len());
    let fixed = labels[..count].to_vec();
    let facets = split(&fixed);
    (fixed, facets)
}

/// The pictures of a report about `name`.
///
/// # Errors
/// If one cannot be drawn.
pub fn figures(name: &str, chosen: &Chosen, groups: &[Group]) -> anyhow::Result<Vec<Figure>> {
    let (fixed, facets) = facets(&all_series(groups));
    let x_is_number = groups.iter().all(|group| group.x.parse::<f64>().is_ok());
    let x_name = match chosen.rows.column(&chosen.x) {
        Some(column) if !column.unit.is_empty() => named(column),
        _ => chosen.x.clone(),
    };
    let mut figures = Vec::new();
    for (at, column) in chosen.y.iter().enumerate() {
        for series in &facets {
            let of = series_name(&chosen.by, &series[0], |at| fixed.contains(&at));
            let relative = chosen.baseline.as_ref().map(|base| format!(", relative to {base}"));
            let y_name = match &relative {
                Some(_) => format!("{} / baseline", words(&column.name)),
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
                names: series
                    .iter()
                    .map(|one| series_name(&chosen.by, one, |at| !fixed.contains(&at)))
                    .collect(),
                series: series.clone(),
                is_latency: column.name.starts_with("latency") && chosen.baseline.is_none(),
            };
            // Bars for steps, and for traffic over an x that is no number.
            let lines = chosen.rows.kind == WorkKind::Traffic && x_is_number;
            let svg = if lines { curves::curves(&plot)? } else { bars::bars(&plot)? };
            figures.push(Figure {
                name: file_name(&column.name, fixed.iter().map(|&at| series[0][at].as_str())),
                themed: with_theme(&svg),
                svg,
                caption: caption(column, groups, lines && plot.is_latency),
            });
        }
    }
    Ok(figures)
}

/// A name for files: letters, digits and hyphens.
fn file_name<'f>(metric: &'f str, facet: impl Iterator<Item = &'f str>) -> String {
    let words = std::iter::once(metric).chain(facet);
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    words.map(|word| word.chars().map(plain).collect::<String>()).collect::<Vec<_>>().join("-")
}

fn caption(column: &Column, groups: &[Group], cut: bool) -> String {
    let mut text = format!("{}: {}.", column.name, column.doc);
    let seeds: BTreeSet<u64> = groups.iter().flat_map(|group| group.seeds.iter().copied()).collect();
    let listed: Vec<String> = seeds.iter().take(12).map(u64::to_string).collect();
    let more = if seeds.len() > listed.len() { ", ..." } else { "" };
    text += &match seeds.len() {
        1 => format!(" Seed {}; one seed has no interval.", listed[0]),
        _ => format!(
            " Means of seeds {}{more}; bars are 95 % intervals (Student), where wider than the mark.",
            listed.join(", ")
        ),
    };
    if !column.error.is_empty() {
        text += " A bar has the error to expect of an extrapolated step, too; a step that was run whole has none.";
    }
    if cut {
        text += " The axis is logarithmic where a curve saturates, and ends at twenty times the latency without load; hollow marks are lower bounds, of runs that did not finish.";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_series_are_spread_over_few_pictures() {
        let meshes = ["4x4", "8x4", "8x8", "16x8", "16x16"];
        let of = |pattern: &str| meshes.map(|mesh| vec![mesh.to_owned(), pattern.to_owned()]);
        let all = [of("uniform"), of("multicast")].concat();
        let (fixed, pictures) = facets(&all);
        assert_eq!((fixed, pictures.len()), (vec![1], 2));
        assert_eq!(facets(&all[..8]).0, Vec::<usize>::new());
        assert_eq!(facets(&[vec![]]).1.len(), 1);
    }
}
