//! Rates of traffic from each tile to each other tile, from a CSV file.
//!
//! The file has a line for each source and a column for each destination, both in the order of the
//! tile index `y * cols + x`. Rates are relative: those of the source that sends most add up to the
//! offered load. Empty lines and lines that begin with `#` are skipped. This module knows the mesh only.
//!
//! ```text
//! # of a 2x1 mesh: the first tile sends twice as much as the second
//! 0,2
//! 1,0
//! ```

use super::draw::unit;
use super::line_error::{located, LineError, Problem};
use crate::design::{Mesh, NodeId};
use rand_pcg::rand_core::Rng;
use serde::Serialize;
use std::ops::Range;

/// Rates from each tile to each other tile.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Matrix {
    /// Name of its file, as given.
    pub file: String,
    /// For each source, the destinations with a rate above 0, and the running sum of their rates.
    #[serde(skip)]
    sources: Vec<Vec<(NodeId, f64)>>,
    /// Sum of the rates of the source that sends most.
    #[serde(skip)]
    most: f64,
}

impl Matrix {
    /// Parses the rates of a mesh. `file` names it in errors.
    ///
    /// # Errors
    /// At the first line that is malformed or missing, or if nothing is sent at all.
    pub fn parse(file: &str, text: &str, mesh: Mesh) -> Result<Matrix, Box<LineError>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let at = |line, text, problem| Box::new(located(file, line, text, problem));
        let (mut sources, mut nodes) = (Vec::new(), mesh.nodes());
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.trim_start().starts_with('#') {
                continue;
            }
            let Some(source) = nodes.next() else {
                let rule = format!("this line has no source: {} has {} tiles", shape(mesh), mesh.tiles());
                return Err(at(number + 1, line, Problem(0..line.trim_end().len(), rule, lines_of(mesh))));
            };
            sources.push(rates(line, source, mesh).map_err(|problem| at(number + 1, line, problem))?);
        }
        let last = text.lines().count().max(1);
        if sources.len() < mesh.tiles() {
            let rule = format!("the file ends after {} of {} sources", sources.len(), mesh.tiles());
            return Err(at(last, "", Problem(0..0, rule, lines_of(mesh))));
        }
        let most = sources.iter().map(|rates| total(rates)).fold(0.0, f64::max);
        if most == 0.0 {
            let rule = "all rates are 0, so nothing would move".to_owned();
            let help = "give at least one source a rate above 0".to_owned();
            return Err(at(last, "", Problem(0..0, rule, help)));
        }
        Ok(Matrix { file: file.to_owned(), sources, most })
    }

    /// The rate of a source, as a share of that of the source that sends most.
    pub(super) fn share(&self, source: NodeId) -> f64 {
        total(&self.sources[source.index()]) / self.most
    }

    /// Destination of the next packet of a source; `None` if it sends nothing.
    pub(super) fn destination(&self, source: NodeId, rng: &mut impl Rng) -> Option<NodeId> {
        let rates = &self.sources[source.index()];
        let draw = unit(rng) * total(rates);
        // A product that is rounded up to the sum belongs to the last.
        rates.iter().find(|(_, up_to)| draw < *up_to).or(rates.last()).map(|(tile, _)| *tile)
    }
}

fn total(rates: &[(NodeId, f64)]) -> f64 {
    rates.last().map_or(0.0, |(_, sum)| *sum)
}

fn shape(mesh: Mesh) -> String {
    format!("this {}x{} mesh", mesh.cols(), mesh.rows())
}

fn lines_of(mesh: Mesh) -> String {
    let tiles = mesh.tiles();
    format!("write {tiles} lines of {tiles} rates, a line a source and a column a destination, both by y * cols + x")
}

/// The rates of one source.
fn rates(line: &str, source: NodeId, mesh: Mesh) -> Result<Vec<(NodeId, f64)>, Problem> {
    let columns = columns(line);
    if columns.len() != mesh.tiles() {
        let rule =
            format!("the line has {} rates, and {} has {} tiles", columns.len(), shape(mesh), mesh.tiles());
        return Err(Problem(0..line.trim_end().len(), rule, lines_of(mesh)));
    }
    let (mut found, mut sum) = (Vec::new(), 0.0);
    for (tile, at) in mesh.nodes().zip(columns) {
        let rate = rate(line, at.clone())?;
        if rate > 0.0 && tile == source {
            let rule =
                format!("tile {} sends to itself, and a router does not turn a flit back", source.index());
            return Err(Problem(at, rule, "write 0 where source and destination are one tile".to_owned()));
        }
        sum += rate;
        if rate > 0.0 {
            found.push((tile, sum));
        }
    }
    Ok(found)
}

/// Bytes of each column without the spaces around it.
fn columns(line: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let column = |part: &str| {
        let from = start + part.len() - part.trim_start().len();
        start += part.len() + 1;
        from..from + part.trim().len()
    };
    line.split(',').map(column).collect()
}

/// Largest rate: sums of as many as a matrix has stay exact enough.
const LARGEST: f64 = 1e12;

fn rate(line: &str, at: Range<usize>) -> Result<f64, Problem> {
    let text = &line[at.clone()];
    let rule = match text.parse::<f64>() {
        Ok(rate) if (0.0..=LARGEST).contains(&rate) => return Ok(rate),
        Ok(_) => format!("the rate is {text}, which is not between 0 and {LARGEST:e}"),
        Err(_) => format!("the rate is '{text}', which is not a number"),
    };
    let help =
        "rates are relative: those of the source that sends most add up to the offered load; 0 sends nothing";
    Err(Problem(at, rule, help.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::design::Design;
    use rand_pcg::Pcg64;

    fn mesh() -> Mesh {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows) = (2, 2);
        Design::from_config("test", &config).expect("legal").mesh
    }

    const LEGAL: &str = "# by tile\n0, 1,0, 3\n\n0,0,0,0\n2,0,0,0\n0,0,1e-3,0\n";

    #[test]
    fn destinations_are_drawn_by_their_rates_and_a_row_of_zeros_sends_nothing() {
        let mesh = mesh();
        let rates = Matrix::parse("m.csv", LEGAL, mesh).expect("legal");
        let node = |index| mesh.node_at(index).expect("tile");
        assert_eq!([0, 1, 2, 3].map(|index| rates.share(node(index))), [1.0, 0.0, 0.5, 1e-3 / 4.0]);
        let mut rng = Pcg64::new(1, 1);
        let mut hits = [0; 4];
        for _ in 0..8000 {
            hits[rates.destination(node(0), &mut rng).expect("it sends").index()] += 1;
        }
        assert_eq!((hits[0], hits[2]), (0, 0));
        assert!((1850..2150).contains(&hits[1]), "{hits:?}");
        assert_eq!(rates.destination(node(1), &mut rng), None);
        assert_eq!(rates.destination(node(2), &mut rng), Some(node(0)));
    }

    #[test]
    fn every_rule_is_rejected_where_it_is_broken() {
        for (text, line, column, rule) in [
            ("0,1,0\n", 1, 1, "the line has 3 rates, and this 2x2 mesh has 4 tiles"),
            ("0,1,x,0\n", 1, 5, "the rate is 'x', which is not a number"),
            ("0,1,,0\n", 1, 5, "the rate is '', which is not a number"),
            ("0,-1,0,0\n", 1, 3, "the rate is -1, which is not between 0 and 1e12"),
            ("0,NaN,0,0\n", 1, 3, "the rate is NaN, which is not between 0 and 1e12"),
            ("0,inf,0,0\n", 1, 3, "the rate is inf, which is not between 0 and 1e12"),
            (
                "# diagonal\n0,1,0,0\n0, 2,0,0\n",
                3,
                4,
                "tile 1 sends to itself, and a router does not turn a flit back",
            ),
            ("0,1,0,0\n0,0,0,0\n", 2, 1, "the file ends after 2 of 4 sources"),
            ("", 1, 1, "the file ends after 0 of 4 sources"),
            ("0,0,0,0\n0,0,0,0\n0,0,0,0\n0,0,0,0\n", 4, 1, "all rates are 0, so nothing would move"),
            (
                "0,1,0,0\n0,0,0,0\n0,0,0,0\n0,0,0,0\n1,0,0,0\n",
                5,
                1,
                "this line has no source: this 2x2 mesh has 4 tiles",
            ),
            ("é,1,0,0\n", 1, 1, "the rate is 'é', which is not a number"),
        ] {
            let error = Matrix::parse("m.csv", text, mesh()).expect_err(text);
            assert_eq!((error.line, error.column, error.rule.as_str()), (line, column, rule), "{text}");
            assert!(!error.help.is_empty());
        }
    }
}
