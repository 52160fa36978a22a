//! One self-contained HTML page of one run: its pictures, its figures, light and dark.

use super::figure::Figure;
use super::page::labelled;
use serde::Serialize;
use serde_json::json;

const STYLE: &str = include_str!("../../../templates/report/page.css");
const SORT: &str = include_str!("../../../templates/report/sort.js");
const PAGE: &str = include_str!("../../../templates/report/run.html.tera");

/// A table of a page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunTable {
    /// Heading.
    pub title: String,
    /// Names of the columns, with units.
    pub head: Vec<String>,
    /// Cells; those of the first column are names.
    pub rows: Vec<Vec<String>>,
}

/// Contents of a page.
#[derive(Default, Debug, Clone, PartialEq, Serialize)]
pub struct RunPage {
    /// Heading.
    pub title: String,
    /// The run, in words; may be empty.
    pub subtitle: String,
    /// The command that makes the run again.
    pub command: String,
    /// Warnings for the reader, before anything else.
    pub warnings: Vec<String>,
    /// Pictures.
    #[serde(skip)]
    pub figures: Vec<Figure>,
    /// Tables, after the pictures.
    pub tables: Vec<RunTable>,
}

/// Units from which a picture is broad: it has a line of its own, and scrolls on a narrow screen.
const BROAD: u32 = 640;

/// Width of a picture in user units.
fn width(svg: &str) -> u32 {
    let after = svg.split_once(" width=\"").map_or("", |(_, after)| after);
    after.split('"').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The page.
///
/// # Errors
/// If the template does not take it: a slip in this crate.
pub fn run_page(page: &RunPage) -> Result<String, tera::Error> {
    let figure = |figure: &Figure| {
        let width = width(&figure.svg);
        json!({"svg": labelled(figure), "caption": figure.caption, "broad": width > BROAD, "least": width * 9 / 10})
    };
    let mut context = tera::Context::new();
    context.insert("style", STYLE);
    context.insert("sort", SORT);
    context.insert("page", page);
    context.insert("version", env!("CARGO_PKG_VERSION"));
    context.insert("figures", &page.figures.iter().map(figure).collect::<Vec<_>>());
    tera::Tera::one_off(PAGE, &context, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_with_a_style_sheet_of_its_own_follows_the_page() {
        let svg = "<svg><style>text { fill: #222; }</style><rect fill=\"#fff\" stroke=\"#333\"/></svg>";
        let figure = Figure::plain("floorplan", svg.to_owned(), String::new());
        let themed =
            "<svg><style>text { fill: var(--ink); }</style><rect fill=\"var(--paper)\" stroke=\"var(--faint)\"/></svg>";
        assert_eq!((figure.svg.as_str(), figure.themed.as_str()), (svg, themed));
    }

    #[test]
    fn a_page_escapes_text_and_labels_its_pictures() {
        let figure =
            Figure::new("links", "<svg fill=\"#FFFFFF\"></svg>".to_owned(), "Links < 1 & more".to_owned());
        let table = RunTable {
            title: "Latency".to_owned(),
            head: vec!["figure".to_owned(), "cycles".to_owned()],
            rows: vec![vec!["p99".to_owned(), "<7>".to_owned()]],
        };
        let page = RunPage {
            title: "a <b>".to_owned(),
            subtitle: String::new(),
            command: "meshkv sim a.toml".to_owned(),
            warnings: Vec::new(),
            figures: vec![figure],
            tables: vec![table],
        };
        let html = run_page(&page).unwrap();
        assert!(html.contains("<h1>a &lt;b&gt;</h1>") && html.contains("&lt;7&gt;"), "{html}");
        assert!(html.contains("aria-label=\"Links &lt; 1 &amp; more\""), "{html}");
        assert!(!html.contains("class=\"broad\""), "{html}");
        let broad = Figure::new("mesh", "<svg width=\"900\" height=\"9\"></svg>".to_owned(), String::new());
        let broad = run_page(&RunPage { figures: vec![broad], ..page }).unwrap();
        assert!(broad.contains("class=\"broad\" style=\"--least: 810px\""), "{broad}");
        assert!(html.contains("var(--paper)") && html.contains("prefers-color-scheme: dark"), "{html}");
    }
}
