//! The claims as Markdown, for a page of the documentation.

use crate::eval::paper::claim::{topic, Claim};
use crate::eval::paper::result::figures::Drawn;
use crate::eval::paper::result::page::{figure, Head};
use crate::eval::paper::result::tables::Table;
use crate::eval::paper::result::verdict::{Verdict, TOLERANCE};

/// Width of the text.
const WIDTH: usize = 100;

/// Tables of what is not in the paper.
const OWN: [&str; 5] = ["limit", "card", "accuracy", "steps", "intervals"];

/// All claims in tables by their place in the paper, with the figures, whose files are in `folder`.
pub fn markdown(head: &Head, claims: &[Claim], drawn: &[Drawn], tables: &[Table], folder: &str) -> String {
    let mut text = "# The paper beside meshkv\n\n".to_owned();
    text += &wrapped(&format!(
        "This page has every number of the paper's evaluation, and ours beside it. It is written by `{}`, meshkv {}, \
         from {} rows. {} The command writes all readings of each claim to `claims.json`.",
        head.command, head.version, head.rows, head.sampling
    ));
    text += &wrapped(&format!(
        "A claim **holds** if ours is within {:.0} % of the paper's number, and is **exceeded** if ours is better by \
         more. The plain reading puts each head on one tile on both sides. If another reading meets the claim, it \
         **holds under an assumption**, which is named.",
        100.0 * TOLERANCE
    ));
    text += "| verdict | claims |\n|---|---:|\n";
    for verdict in Verdict::ALL {
        let count = claims.iter().filter(|claim| claim.verdict().0 == verdict).count();
        if count > 0 {
            text += &format!("| {} | {count} |\n", verdict.name());
        }
    }
    let mut places: Vec<&str> = Vec::new();
    for claim in claims.iter().filter(|claim| !claim.views.is_empty()) {
        if !places.contains(&&*claim.place) {
            places.push(&claim.place);
        }
    }
    for place in places {
        text += &format!("\n## {place}: {}\n\n| claim | paper | ours | ratio | verdict | bound by | why |\n|---|---:|---:|---:|---|---|---|\n", topic(place));
        for claim in claims.iter().filter(|claim| claim.place == place) {
            text += &row(claim);
        }
    }
    text += "\n## Tables of our own\n";
    for table in tables.iter().filter(|table| OWN.contains(&table.name) && !table.rows.is_empty()) {
        text += &format!("\n{}{}", wrapped(&format!("{}.", table.title)), brief(table));
    }
    text += "\n## Figures\n";
    for figure in drawn {
        text +=
            &format!("\n![{}]({folder}{}.png)\n\n{}", figure.caption, figure.name, wrapped(&figure.caption));
    }
    text.trim_end().to_owned() + "\n"
}

/// Columns that tell where a row comes from, which the CSV files have.
const TRACES: [&str; 4] = ["ran", "share_of_memory", "rows", "command"];

/// A table without the traces of its rows.
fn brief(table: &Table) -> String {
    let shown: Vec<usize> = (0..table.head.len()).filter(|&at| !TRACES.contains(&table.head[at])).collect();
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let head = line(shown.iter().map(|&at| table.head[at]).collect());
    let rule = line(shown.iter().map(|_| "---").collect());
    let rows = table.rows.iter().map(|row| line(shown.iter().map(|&at| row[at].as_str()).collect()));
    [head, rule].into_iter().chain(rows).collect()
}

fn row(claim: &Claim) -> String {
    let (verdict, view) = claim.verdict();
    let assumed = view.and_then(|view| view.assumption).map_or(String::new(), |text| format!("If {text}. "));
    let bound = view.map_or("", |view| view.bound_by.as_str());
    let cells = [
        claim.what.clone(),
        figure(claim.paper, &claim.unit),
        view.map_or("-".to_owned(), |view| figure(view.ours, &claim.unit)),
        claim.ratio().map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
        verdict.name().to_owned(),
        bound.to_owned(),
        format!("{assumed}{}", claim.why),
    ];
    format!("| {} |\n", cells.join(" | "))
}

/// A paragraph in lines of at most [`WIDTH`] characters, and an empty line.
fn wrapped(text: &str) -> String {
    let (mut lines, mut line) = (String::new(), String::new());
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines += &format!("{line}\n");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    format!("{lines}{line}\n\n")
}

#[cfg(test)]
mod tests {
    use crate::eval::paper::result::markdown::*;

    #[test]
    fn lines_are_no_longer_than_a_page_and_no_word_is_lost() {
        let text = "word ".repeat(70);
        let lines = wrapped(&text);
        assert!(lines.lines().all(|line| line.len() <= WIDTH));
        assert_eq!(lines.split_whitespace().count(), 70);
    }
}
