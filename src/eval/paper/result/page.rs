//! One self-contained page: verdicts, claims, figures, tables.

use crate::eval::paper::claim::{topic, Claim};
use crate::eval::paper::result::figures::Drawn;
use crate::eval::paper::result::tables::Table;
use crate::eval::paper::result::verdict::{Verdict, TOLERANCE};
use serde::Serialize;
use serde_json::json;

const STYLE: &str = include_str!("../../../../templates/report/page.css");
const OWN_STYLE: &str = include_str!("../../../../templates/report/paper.css");
const SORT: &str = include_str!("../../../../templates/report/sort.js");
const PAGE: &str = include_str!("../../../../templates/report/paper.html.tera");

/// What stands at the head of a page.
#[derive(Debug, Clone, Serialize)]
pub struct Head {
    /// The program's version.
    pub version: String,
    /// The command of the page.
    pub command: String,
    /// `quick` or `full`.
    pub extent: &'static str,
    /// Rows that are there.
    pub rows: usize,
    /// Rows that the plan has.
    pub points: usize,
    /// What the rows are samples of, and their error.
    pub sampling: String,
    /// Warnings for the reader.
    pub warnings: Vec<String>,
}

#[derive(Serialize)]
struct Shown {
    id: String,
    what: String,
    place: String,
    paper: String,
    paper_number: f64,
    ours: String,
    ours_number: Option<f64>,
    ratio: String,
    verdict: &'static str,
    class: String,
    mark: &'static str,
    reading: Option<String>,
    assumption: Option<&'static str>,
    why: String,
    command: Option<String>,
    bound_by: String,
}

/// A number with its unit: as many digits as tell something.
pub(in crate::eval::paper) fn figure(number: f64, unit: &str) -> String {
    let counts = !["", "%", "times"].contains(&unit);
    let text = match number.abs() {
        size if counts && size < 10_000.0 && size.fract() == 0.0 => format!("{number:.0}"),
        size if size >= 10_000.0 => format!("{:.0} k", number / 1000.0),
        size if size >= 100.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        size if size >= 0.1 || size == 0.0 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    };
    match unit {
        "" => text,
        unit => format!("{text} {unit}"),
    }
}

fn class(verdict: Verdict) -> String {
    verdict.name().replace(" an ", " ").replace(' ', "-")
}

fn shown(claim: &Claim) -> Shown {
    let (verdict, view) = claim.verdict();
    Shown {
        id: claim.id.clone(),
        what: claim.what.clone(),
        place: claim.place.clone(),
        paper: figure(claim.paper, &claim.unit),
        paper_number: claim.paper,
        ours: view.map_or("-".to_owned(), |view| figure(view.ours, &claim.unit)),
        ours_number: view.map(|view| view.ours),
        ratio: claim.ratio().map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
        verdict: verdict.name(),
        class: class(verdict),
        mark: verdict.mark(),
        reading: view.map(|view| match view.error {
            error if error > 0.0 => format!("{}, error up to {:.0} %", view.name, 100.0 * error),
            _ => view.name.clone(),
        }),
        assumption: view.and_then(|view| view.assumption),
        why: claim.why.clone(),
        command: view.map(|view| view.command.clone()),
        bound_by: view.map_or(String::new(), |view| match view.over_bound {
            over if over > 0.0 => format!("{}; {over:.2} times its bytes or passes", view.bound_by),
            _ => view.bound_by.clone(),
        }),
    }
}

/// The page.
///
/// # Errors
/// If the template does not take it: a slip in this crate.
pub fn page(head: &Head, claims: &[Claim], drawn: &[Drawn], tables: &[Table]) -> Result<String, tera::Error> {
    let count = |verdict: Verdict| claims.iter().filter(|claim| claim.verdict().0 == verdict).count();
    let counts: Vec<_> = Verdict::ALL
        .into_iter()
        .filter(|&verdict| count(verdict) > 0)
        .map(|v| json!({"name": v.name(), "class": class(v), "mark": v.mark(), "number": count(v)}))
        .collect();
    let figures: Vec<_> = drawn
        .iter()
        // An XML declaration is not allowed inside a page.
        .map(|f| json!({"svg": &f.themed[f.themed.find("<svg").unwrap_or(0)..], "caption": f.caption}))
        .collect();
    let numeric = |table: &Table, at: usize| {
        table.rows.iter().all(|row| row[at].is_empty() || row[at].parse::<f64>().is_ok())
    };
    let tables: Vec<_> = tables
        .iter()
        .filter(|table| table.name != "claims" && !table.rows.is_empty())
        .map(|t| {
            let numbers: Vec<bool> = (0..t.head.len()).map(|at| numeric(t, at)).collect();
            json!({"name": t.name, "title": t.title, "head": t.head, "rows": t.rows, "numbers": numbers})
        })
        .collect();
    let claims: Vec<Shown> = claims.iter().map(shown).collect();
    let mut places: Vec<&str> = Vec::new();
    claims.iter().for_each(|claim| {
        if !places.contains(&&*claim.place) {
            places.push(&claim.place);
        }
    });
    let of_place = |place: &&str| {
        let claims: Vec<&Shown> = claims.iter().filter(|claim| claim.place == *place).collect();
        json!({"name": place, "topic": topic(place), "claims": claims})
    };
    let mut context = tera::Context::new();
    context.insert("style", STYLE);
    context.insert("own_style", OWN_STYLE);
    context.insert("sort", SORT);
    context.insert("head", head);
    context.insert("tolerance", &(100.0 * TOLERANCE));
    context.insert("counts", &counts);
    context.insert("places", &places.iter().map(of_place).collect::<Vec<_>>());
    context.insert("claims", &claims);
    context.insert("figures", &figures);
    context.insert("tables", &tables);
    tera::Tera::one_off(PAGE, &context, true)
}
