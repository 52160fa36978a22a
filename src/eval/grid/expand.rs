//! Expands a sweep file to its points, with the problems of all of them.

use super::column::{columns, Column, Role};
use super::point::{hex, traffic, workload, Naming, Point, Work};
use crate::config::{
    Choice, Config, DecodeWork, Finding, Grid, PatternKind, Report, Set, TrafficWork, WorkKind,
};
use crate::cosim::traffic::generator::{Generator, TrafficError};
use crate::cosim::workloads::decode::{step_of, WorkloadError};
use crate::design::{Design, Illegal};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// Most points of a sweep: a typing error must be an error and not a long wait.
const MOST_POINTS: usize = 1_000_000;

/// Start of the paths of a workload's keys.
const OF_WORK: &str = "workload.";

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

/// The points of a grid by their numbers and ids alone: a million of them take 16 MB.
#[derive(Debug)]
pub struct Outline<'a> {
    /// Columns of each row.
    pub columns: Vec<Column>,
    /// Problems of points, as [`Expanded`] has them.
    pub illegal: Option<Report>,
    /// Number of points with a problem.
    pub left_out: usize,
    /// Number of points that equal another.
    pub repeated: usize,
    grid: &'a Grid,
    base: Value,
    /// Number and id of each legal point, each once, in the order of the file.
    found: Vec<(u32, u64)>,
}

/// Points that were left out of a grid, and why.
#[derive(Debug, Default)]
struct Others {
    illegal: Option<Report>,
    left_out: usize,
    repeated: usize,
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

    fn sets(&self) -> impl Iterator<Item = &Set> {
        self.0.iter().flat_map(|choice| &choice.sets)
    }

    /// The values of the configuration.
    fn of_config(&self) -> Vec<&Set> {
        self.sets().filter(|set| !set.path.starts_with(OF_WORK)).collect()
    }

    /// The workload.
    fn work(&self, kind: WorkKind) -> serde_json::Result<Work> {
        let of_work = |set: &Set| Some((set.path.strip_prefix(OF_WORK)?.to_owned(), set.value.clone()));
        let asked = Value::from(self.sets().filter_map(of_work).collect::<Map<_, _>>());
        match kind {
            WorkKind::Traffic => serde_json::from_value(asked).map(plain).map(Work::Traffic),
            WorkKind::Decode => serde_json::from_value(asked).map(Work::Decode),
        }
    }

    /// Place of the value of a key.
    fn span(&self, path: &str) -> Option<Range<usize>> {
        self.sets().find(|set| set.path == path).map(|set| set.span.clone())
    }
}

/// A problem by its place and its words.
type Problems = BTreeMap<(Option<usize>, String), (Finding, Option<Range<usize>>, usize)>;

/// What a configuration of the grid gives, for all points that share it: the design and the ids of its points, or all its
/// problems.
type Fabric = Result<(Arc<Design>, Naming), Vec<Finding>>;

/// Fabrics that are kept while points that may share them are looked for.
const FABRICS: usize = 1024;

/// Fabrics and verdicts on workloads, each found once.
struct Planner<'a> {
    grid: &'a Grid,
    base_name: &'a str,
    base: &'a Value,
    fabrics: HashMap<String, Arc<Fabric>>,
    /// By the id of fabric and workload, whatever its seed.
    verdicts: HashMap<u64, Option<Box<Finding>>>,
}

/// All points of a sweep file over its base configuration. `progress` is told from time to time how many of how many
/// combinations are done.
pub fn expand(
    grid: &Grid,
    base_name: &str,
    base: &Config,
    progress: &mut dyn FnMut(usize, usize),
) -> Expanded {
    let mut all =
        Expanded { columns: columns(grid), points: Vec::new(), illegal: None, left_out: 0, repeated: 0 };
    let base = serde_json::to_value(base).unwrap_or_default();
    let names: Vec<&str> = labels_of(&all.columns).collect();
    let mut keep = |pick: &Pick<'_>, _, legal: Legal| {
        let Legal { id, design, work } = legal;
        let labels = labels(&names, &base, pick, &work);
        all.points.push(Point { id: hex(id), labels, design, work });
    };
    let others = walk(grid, (base_name, &base), progress, &mut keep);
    Expanded { illegal: others.illegal, left_out: others.left_out, repeated: others.repeated, ..all }
}

/// The same points without their designs, for those who list them.
pub fn outline<'a>(
    grid: &'a Grid,
    base_name: &str,
    base: &Config,
    progress: &mut dyn FnMut(usize, usize),
) -> Outline<'a> {
    let base = serde_json::to_value(base).unwrap_or_default();
    let mut found = Vec::new();
    let mut keep = |_: &Pick<'_>, number: usize, legal: Legal| found.push((number as u32, legal.id));
    let Others { illegal, left_out, repeated } = walk(grid, (base_name, &base), progress, &mut keep);
    Outline { columns: columns(grid), illegal, left_out, repeated, grid, base, found }
}

impl Outline<'_> {
    /// Number of legal points.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// True if no point is legal.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Id and labels of each legal point, made one by one.
    pub fn points(&self) -> impl Iterator<Item = (String, Vec<Value>)> + '_ {
        let names: Vec<&str> = labels_of(&self.columns).collect();
        self.found.iter().map(move |&(number, id)| {
            let pick = Pick::new(self.grid, number as usize);
            let work = pick.work(self.grid.kind).unwrap_or(Work::Traffic(TrafficWork::default()));
            (hex(id), labels(&names, &self.base, &pick, &work))
        })
    }
}

/// A legal point without its labels.
struct Legal {
    id: u64,
    design: Arc<Design>,
    work: Work,
}

/// Judges every combination of a grid, and gives those that are legal and new to `keep`, with their numbers.
fn walk(
    grid: &Grid,
    (base_name, base): (&str, &Value),
    progress: &mut dyn FnMut(usize, usize),
    keep: &mut dyn FnMut(&Pick<'_>, usize, Legal),
) -> Others {
    let mut others = Others::default();
    let lengths = grid.axes.iter().map(|axis| axis.choices.len());
    let total = lengths.fold(1_usize, |product, length| product.saturating_mul(length));
    if total > MOST_POINTS {
        let fault = format!("the grid has more than {MOST_POINTS} points");
        let finding = Finding::error("", fault, "list fewer values, or [[zip]] keys that go together");
        others.illegal = Some(grid.report(&[(finding, None)]));
        return others;
    }
    let (mut ids, mut problems) = (HashSet::new(), Problems::new());
    let (fabrics, verdicts) = (HashMap::new(), HashMap::new());
    let mut planner = Planner { grid, base_name, base, fabrics, verdicts };
    for number in 0..total {
        if number.is_multiple_of(TOLD_EVERY) {
            progress(number, total);
        }
        let pick = Pick::new(grid, number);
        match planner.point(&pick) {
            Ok(point) if !ids.insert(point.id) => others.repeated += 1,
            Ok(point) => keep(&pick, number, point),
            Err(findings) => {
                others.left_out += 1;
                findings.into_iter().for_each(|finding| note(&mut problems, &pick, finding));
            }
        }
    }
    let told = problems.into_values().map(|(finding, span, count)| {
        let fault = format!("{} (in {count} of {total} points)", finding.fault);
        (Finding { fault, ..finding }, span)
    });
    let told: Vec<_> = told.collect();
    others.illegal = (!told.is_empty()).then(|| grid.report(&told));
    others
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
    fn point(&mut self, pick: &Pick<'_>) -> Result<Legal, Vec<Finding>> {
        let work = pick.work(self.grid.kind).map_err(|error| ours(&error))?;
        let fabric = self.fabric(&pick.of_config());
        let (design, naming) = fabric.as_ref().as_ref().map_err(Clone::clone)?;
        let verdict = self.verdicts.entry(naming.id(&without_seed(&work)));
        if let Some(finding) = verdict.or_insert_with(|| judge(&work, design).err()) {
            return Err(vec![(**finding).clone()]);
        }
        Ok(Legal { id: naming.id(&work), design: design.clone(), work })
    }

    /// The fabric with these values.
    fn fabric(&mut self, sets: &[&Set]) -> Arc<Fabric> {
        let key: String = sets.iter().map(|set| format!("{}={}\n", set.path, set.value)).collect();
        if let Some(known) = self.fabrics.get(&key) {
            return known.clone();
        }
        if self.fabrics.len() == FABRICS {
            self.fabrics.clear();
        }
        let made = Arc::new(self.make(sets));
        self.fabrics.insert(key, made.clone());
        made
    }

    fn make(&self, sets: &[&Set]) -> Fabric {
        let mut values = self.base.clone();
        for set in sets {
            match set.path.split_once('.') {
                Some((table, key)) => values[table][key] = set.value.clone(),
                None => values[&set.path] = set.value.clone(),
            }
        }
        let config = serde_json::from_value::<Config>(values).map_err(|error| ours(&error))?;
        let made = Design::from_config(self.base_name, &config).map_err(|Illegal(findings)| findings)?;
        let naming = Naming::of(&config);
        Ok((Arc::new(made), naming))
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
        PatternKind::Multicast | PatternKind::Mixed => TrafficWork { vn, ..work },
        _ => TrafficWork { fanout, ..work },
    }
}

/// Names of the columns of labels.
fn labels_of(columns: &[Column]) -> impl Iterator<Item = &str> {
    columns.iter().filter(|column| column.role == Role::Label).map(|column| column.name.as_str())
}

/// Labels of a point, by the names of their columns.
fn labels(names: &[&str], base: &Value, pick: &Pick<'_>, work: &Work) -> Vec<Value> {
    let asked = serde_json::to_value(work).unwrap_or_default();
    // Keys that do not affect a pattern are left empty.
    let unsaid = match work {
        Work::Traffic(work) if matches!(work.pattern, PatternKind::Multicast | PatternKind::Mixed) => "vn",
        Work::Traffic(_) => "fanout",
        Work::Decode(_) => "",
    };
    let set = |path: &str| pick.sets().find(|set| set.path == path).map(|set| set.value.clone());
    let of = |name: &&str| match name.split_once('.') {
        _ if *name == "point" => {
            let name = pick.0.iter().find_map(|choice| choice.name.clone());
            name.map_or(Value::Null, Value::from)
        }
        Some((table, key)) => set(name).unwrap_or_else(|| base[table][key].clone()),
        None if *name == unsaid => Value::Null,
        None if asked[*name].is_null() => set(name).unwrap_or_else(|| base[*name].clone()),
        None => asked[*name].clone(),
    };
    names.iter().map(of).collect()
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
                WorkloadError::Listed { .. } | WorkloadError::Lengths(_) => "lengths",
                WorkloadError::Different { .. } => "prefixes",
            };
            let made = workload(work, design).and_then(|(load, streams)| step_of(design, &load, &streams));
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
