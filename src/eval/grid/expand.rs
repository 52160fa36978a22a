//! Expands a sweep file to its points, with the problems of all of them.

use super::column::{columns, Column, Role};
use super::point::{id, traffic, workload, Point, Work};
use crate::config::{Choice, Config, DecodeWork, Finding, Grid, Pattern, Report, Set, TrafficWork, WorkKind};
use crate::cosim::traffic::generator::{Generator, TrafficError};
use crate::cosim::workloads::decode::WorkloadError;
use crate::design::{Design, Illegal};
use serde_json::{json, Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// Most points of a sweep: a typing error must be an error and not a long wait.
const MOST_POINTS: usize = 1_000_000;

/// Combinations between two calls of `progress`.
const TOLD_EVERY: usize = 1000;

/// The points of a grid.
#[derive(Debug)]
pub struct Expanded {
    /// Columns of each row.
    pub columns: Vec<Column>,
    /// Legal points, each once, in the order of the file.
    pub points: Vec<Point>,
    /// Problems of the others, at their places; each once, with the number of its points.
    pub illegal: Option<Report>,
    /// Number of points with a problem.
    pub left_out: usize,
    /// Number of points that equal another.
    pub repeated: usize,
}

/// A choice of every axis.
struct Pick<'a>(Vec<&'a Choice>);

impl Pick<'_> {
    /// The combination with this number; the last axis varies fastest.
    fn new(grid: &Grid, mut number: usize) -> Pick<'_> {
        let mut choices: Vec<&Choice> = Vec::new();
        for axis in grid.axes.iter().rev() {
            choices.push(&axis.choices[number % axis.choices.len()]);
            number /= axis.choices.len();
        }
        choices.reverse();
        Pick(choices)
    }

    /// Place of the value of a key.
    fn span(&self, path: &str) -> Option<Range<usize>> {
        let mut sets = self.0.iter().flat_map(|choice| &choice.sets);
        sets.find(|set| set.path == path).map(|set| set.span.clone())
    }
}

/// A problem by its place and its words.
type Problems = BTreeMap<(Option<usize>, String), (Finding, Option<Range<usize>>, usize)>;

/// What a configuration of the grid gives, for all points that share it.
struct Fabric {
    /// The configuration as JSON.
    values: Value,
    /// The design, or all its problems.
    design: Result<Arc<Design>, Vec<Finding>>,
}

/// Fabrics and verdicts on workloads, each found once.
struct Planner<'a> {
    grid: &'a Grid,
    base_name: &'a str,
    base: Value,
    columns: &'a [Column],
    fabrics: HashMap<String, Arc<Fabric>>,
    /// By fabric and workload, whatever its seed.
    verdicts: HashMap<String, Option<Finding>>,
}

/// All points of a sweep file over its base configuration. `progress` is told from time to time how many of how many
/// combinations are done.
pub fn expand(
    grid: &Grid,
    base_name: &str,
    base: &Config,
    progress: &mut dyn FnMut(usize, usize),
) -> Expanded {
    let columns = columns(grid);
    let mut all = Expanded { columns, points: Vec::new(), illegal: None, left_out: 0, repeated: 0 };
    let lengths = grid.axes.iter().map(|axis| axis.choices.len());
    let total = lengths.fold(1_usize, |product, length| product.saturating_mul(length));
    if total > MOST_POINTS {
        let fault = format!("the grid has more than {MOST_POINTS} points");
        let finding = Finding::error("", fault, "list fewer values, or [[zip]] keys that go together");
        all.illegal = Some(grid.report(&[(finding, None)]));
        return all;
    }
    let mut ids = BTreeSet::new();
    let mut problems = Problems::new();
    let mut planner = Planner {
        grid,
        base_name,
        base: serde_json::to_value(base).unwrap_or_default(),
        columns: &all.columns,
        fabrics: HashMap::new(),
        verdicts: HashMap::new(),
    };
    for number in 0..total {
        if number.is_multiple_of(TOLD_EVERY) {
            progress(number, total);
        }
        let pick = Pick::new(grid, number);
        match planner.point(&pick) {
            Ok(point) if !ids.insert(point.id.clone()) => all.repeated += 1,
            Ok(point) => all.points.push(point),
            Err(findings) => {
                all.left_out += 1;
                findings.into_iter().for_each(|finding| note(&mut problems, &pick, finding));
            }
        }
    }
    let told = problems.into_values().map(|(finding, span, count)| {
        let fault = format!("{} (in {count} of {total} points)", finding.fault);
        (Finding { fault, ..finding }, span)
    });
    let told: Vec<_> = told.collect();
    all.illegal = (!told.is_empty()).then(|| grid.report(&told));
    all
}

fn note(problems: &mut Problems, pick: &Pick<'_>, finding: Finding) {
    let keys = std::iter::once(finding.key.as_str()).chain(finding.involves.iter().copied());
    let span = keys.into_iter().find_map(|key| pick.span(key));
    let key = (span.as_ref().map(|span| span.start), finding.sentence(false));
    problems.entry(key).or_insert((finding, span, 0)).2 += 1;
}

/// A failure of what has been checked value by value: a bug of ours.
fn ours(error: &serde_json::Error) -> Vec<Finding> {
    vec![Finding::error("", error.to_string(), "this is a fault of meshkv; please report it")]
}

impl Planner<'_> {
    /// A point, or all its problems.
    fn point(&mut self, pick: &Pick<'_>) -> Result<Point, Vec<Finding>> {
        let (mut asked, mut of_config) = (Map::new(), Vec::new());
        for set in pick.0.iter().flat_map(|choice| &choice.sets) {
            match set.path.split_once('.') {
                Some(("workload", key)) => drop(asked.insert(key.to_owned(), set.value.clone())),
                _ => of_config.push(set),
            }
        }
        let work = match self.grid.kind {
            WorkKind::Traffic => serde_json::from_value(asked.into()).map(plain).map(Work::Traffic),
            WorkKind::Decode => serde_json::from_value(asked.into()).map(Work::Decode),
        };
        let work = work.map_err(|error| ours(&error))?;
        let (key, fabric) = self.fabric(&of_config);
        let design = fabric.design.clone()?;
        let verdict = self.verdicts.entry(format!("{key}{}", json!(without_seed(&work))));
        if let Some(finding) = verdict.or_insert_with(|| judge(&work, &design).err().map(|finding| *finding))
        {
            return Err(vec![finding.clone()]);
        }
        let id = id(&design.config, &work);
        let name = pick.0.iter().find_map(|choice| choice.name.clone());
        let labels = labels(self.columns, &fabric.values, &work, name);
        Ok(Point { id, labels, design, work })
    }

    /// The fabric with these values, and its key.
    fn fabric(&mut self, sets: &[&Set]) -> (String, Arc<Fabric>) {
        let key: String = sets.iter().map(|set| format!("{}={}\n", set.path, set.value)).collect();
        let known = self.fabrics.entry(key.clone()).or_insert_with(|| {
            let mut values = self.base.clone();
            for set in sets {
                match set.path.split_once('.') {
                    Some((table, key)) => values[table][key] = set.value.clone(),
                    None => values[&set.path] = set.value.clone(),
                }
            }
            let config = serde_json::from_value::<Config>(values.clone()).map_err(|error| ours(&error));
            let design = config.and_then(|config| {
                let made = Design::from_config(self.base_name, &config);
                made.map(Arc::new).map_err(|Illegal(findings)| findings)
            });
            Arc::new(Fabric { values, design })
        });
        (key, known.clone())
    }
}

/// A workload with the seed of all, on which no verdict depends.
fn without_seed(work: &Work) -> Work {
    match work.clone() {
        Work::Traffic(work) => Work::Traffic(TrafficWork { seed: 0, ..work }),
        Work::Decode(work) => Work::Decode(DecodeWork { seed: 0, ..work }),
    }
}

/// The same traffic without keys that do not affect it, so that points that differ only there are
/// one.
fn plain(work: TrafficWork) -> TrafficWork {
    let TrafficWork { vn, fanout, .. } = TrafficWork::default();
    match work.pattern {
        Pattern::Multicast | Pattern::Mixed => TrafficWork { vn, ..work },
        _ => TrafficWork { fanout, ..work },
    }
}

/// Labels of a point, by the columns of labels.
fn labels(columns: &[Column], config: &Value, work: &Work, name: Option<String>) -> Vec<Value> {
    let asked = serde_json::to_value(work).unwrap_or_default();
    // Keys that do not affect a pattern are left empty.
    let unsaid = match work {
        Work::Traffic(work) if matches!(work.pattern, Pattern::Multicast | Pattern::Mixed) => "vn",
        Work::Traffic(_) => "fanout",
        Work::Decode(_) => "",
    };
    let of = |column: &Column| match column.name.split_once('.') {
        _ if column.name == "point" => name.clone().map_or(Value::Null, Value::from),
        Some((table, key)) => config[table][key].clone(),
        None if column.name == unsaid => Value::Null,
        None if asked[&column.name].is_null() => config[&column.name].clone(),
        None => asked[&column.name].clone(),
    };
    columns.iter().filter(|column| column.role == Role::Label).map(of).collect()
}

/// Problems of a workload on a fabric, at their key.
fn judge(work: &Work, design: &Design) -> Result<(), Box<Finding>> {
    match work {
        Work::Traffic(work) => {
            let key = |error: &TrafficError| match error {
                TrafficError::Pattern(_) => "pattern",
                TrafficError::Load(_) => "load",
                TrafficError::Packet(_) => "packet",
                TrafficError::Fanout { .. } => "fanout",
            };
            let made = Generator::new(design, &traffic(work));
            made.map(drop).map_err(|error| refused(key(&error), &error))
        }
        Work::Decode(work) => {
            let key = |error: &WorkloadError| match error {
                WorkloadError::Range { what: "the batch", .. } => "batch",
                WorkloadError::Range { what: "the number of layers", .. } => "layers",
                WorkloadError::Range { what: "the common prefix in tokens", .. } => "prefix",
                WorkloadError::Range { what: "the segment stride", .. } => "stride",
                WorkloadError::Range { what: "the number of segments", .. } => "segments",
                WorkloadError::Range { .. } => "tokens",
                WorkloadError::ReadOnly | WorkloadError::Shared => "append",
            };
            let made =
                workload(work, design).and_then(|load| crate::cosim::workloads::decode::step(design, &load));
            made.map(drop).map_err(|error| refused(key(&error), &error))
        }
    }
}

/// An error with its suggestion in a line of its own, as a finding.
fn refused(key: &str, error: &dyn std::error::Error) -> Box<Finding> {
    let text = error.to_string();
    let (fault, help) = text.split_once("\n  help: ").unwrap_or((&text, "use another value"));
    Box::new(Finding::error(&format!("workload.{key}"), format!("cannot be: {fault}"), help))
}
