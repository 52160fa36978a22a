//! A chunk: the points of one task of an array.

use crate::config::Config;
use crate::design::{Design, Illegal};
use crate::eval::grid::{Point, Work};
use crate::eval::sweep::area_row::area as area_of;
use crate::eval::sweep::execute::{Execute, Outcome};
use crate::synth::Yosys;
use crate::tools::interrupt::{Interrupt, Interrupted};
use anyhow::{anyhow, Context};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Router-cycles that a core simulates in a second, about.
pub(super) const SPEED: u64 = 1_500_000;

/// A point as a task needs it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Task {
    id: String,
    name: String,
    config: Config,
    work: Work,
    /// True if its row is missing.
    row: bool,
    /// True if it brings the area of its configuration.
    area: bool,
}

impl Task {
    /// Says what is wanted of a point.
    pub(super) fn wants(&mut self, rows: &dyn Fn(&str) -> bool, carriers: &BTreeSet<String>) {
        (self.row, self.area) = (rows(&self.id), carriers.contains(&self.id));
    }
}

/// What a task found of a point: the row of its run, or why there is none, and the area of its configuration.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Finding {
    /// Id of the point.
    pub(super) id: String,
    /// The row.
    pub(super) found: Option<Value>,
    /// The area.
    #[serde(default)]
    pub(super) area: Option<Value>,
    /// The reason.
    pub(super) failed: Option<String>,
}

/// The file of a task's points.
pub(super) fn file(dir: &Path, task: usize) -> PathBuf {
    dir.join(format!("chunk-{task}.json"))
}

/// Deals points to chunks of about the same length, that of so many seconds where there are enough points; at most `most`.
/// The length of a point is in router-cycles.
pub(super) fn deal(points: &[(&Point, u64)], seconds: u32, most: usize) -> Vec<Vec<Task>> {
    let mut lengths: Vec<(usize, u64)> = points.iter().map(|(_, length)| *length).enumerate().collect();
    let all: u64 = lengths.iter().map(|(_, length)| length).sum();
    let count = (all / (SPEED * u64::from(seconds))).clamp(1, most.min(points.len()).max(1) as u64) as usize;
    let mut chunks: Vec<(u64, Vec<usize>)> = vec![(0, Vec::new()); count];
    // The longest first, each to the chunk that is shortest so far.
    lengths.sort_by_key(|&(at, length)| (std::cmp::Reverse(length), at));
    for (at, length) in lengths {
        if let Some(chunk) = chunks.iter_mut().min_by_key(|chunk| (chunk.0, chunk.1.len())) {
            chunk.0 += length;
            chunk.1.push(at);
        }
    }
    let task = |at: &usize| {
        let point = points[*at].0;
        Task {
            id: point.id.clone(),
            name: point.design.name.clone(),
            config: point.design.configuration().clone(),
            work: point.work.clone(),
            row: true,
            area: false,
        }
    };
    chunks.iter().map(|(_, places)| places.iter().map(task).collect()).collect()
}

/// The lines of a file that are whole, from a place on; and the place behind them.
pub(super) fn findings(path: &Path, from: u64) -> anyhow::Result<(Vec<Finding>, u64)> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((Vec::new(), from)),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let rest = bytes.get(from as usize..).unwrap_or_default();
    let whole = rest.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let lines = rest[..whole].split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    // A line that two runs of a task have torn is no finding: its point runs again.
    let found = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    Ok((found, from + whole as u64))
}

/// Runs a task of an array: all points of its chunk that it has not found anything of yet. Yosys is looked for where an area is
/// wanted.
///
/// # Errors
/// A chunk that cannot be read, a missing tool, or a signal.
pub fn run_chunk<'y>(
    (dir, task): (&Path, usize),
    execute: &Execute,
    yosys: &dyn Fn() -> anyhow::Result<Yosys<'y>>,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    let path = file(dir, task);
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let points: Vec<Task> = serde_json::from_slice(&bytes)
        .with_context(|| format!("{} is no chunk of a sweep", path.display()))?;
    let rows = dir.join(format!("rows-{task}.jsonl"));
    let done: BTreeSet<String> = findings(&rows, 0)?.0.into_iter().map(|finding| finding.id).collect();
    let mut out = OpenOptions::new().create(true).append(true).open(&rows)?;
    // A line that was cut off must not run into the next.
    if fs::read(&rows)?.last().is_some_and(|&last| last != b'\n') {
        out.write_all(b"\n")?;
    }
    for Task { id, name, config, work, row, area } in
        points.into_iter().filter(|point| !done.contains(&point.id))
    {
        let design = Design::from_config(&name, &config)
            .map_err(|Illegal(findings)| anyhow!("point {id}: {}", findings[0].sentence(true)))?;
        let point = Point { id: id.clone(), labels: Vec::new(), design: design.into(), work };
        let kept = format!("at point {id}; rows before it are kept");
        let area = area.then(|| yosys().and_then(|yosys| area_of(&point.design, &yosys, 1))).transpose();
        let area = match area {
            Ok(area) => area,
            Err(error) => return interrupt.explain(Err(error), &kept),
        };
        let (found, failed) = match row.then(|| execute.run(&point)) {
            None => (None, None),
            Some(Outcome::Row(found)) => (Some(found), None),
            Some(Outcome::Failed(why)) => (None, Some(why)),
            Some(Outcome::Fatal(error)) => return interrupt.explain(Err(error), &kept),
        };
        let line = format!("{}\n", serde_json::to_string(&Finding { id, found, area, failed })?);
        out.write_all(line.as_bytes()).and_then(|()| out.sync_data())?;
        if interrupt.requested() {
            return Err(Interrupted("between two points; rows so far are kept".to_owned()).into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::config::DecodeWork;
    use crate::eval::sweep::slurm::chunk::*;

    fn points(count: usize) -> Vec<Point> {
        let design = Design::from_config("small", &Config::default()).unwrap();
        let point = |at: usize| Point {
            id: format!("{at:016x}"),
            labels: Vec::new(),
            design: design.clone().into(),
            work: Work::Decode(DecodeWork::default()),
        };
        (0..count).map(point).collect()
    }

    #[test]
    fn chunks_are_alike_and_have_every_point_once() {
        let points = points(100);
        let dealt: Vec<(&Point, u64)> =
            points.iter().zip(1..).map(|(point, n)| (point, n * SPEED * 60 / 50)).collect();
        for most in [1, 7, 1000] {
            let chunks = deal(&dealt, 60, most);
            let ids: BTreeSet<&str> = chunks.iter().flatten().map(|task| task.id.as_str()).collect();
            assert_eq!((ids.len(), chunks.iter().map(Vec::len).sum::<usize>()), (100, 100));
            assert!(chunks.len() <= most && chunks.iter().all(|chunk| !chunk.is_empty()));
            let length = |chunk: &Vec<Task>| -> u64 {
                chunk.iter().map(|task| dealt.iter().find(|(p, _)| p.id == task.id).unwrap().1).sum()
            };
            let (low, high) = (chunks.iter().map(length).min(), chunks.iter().map(length).max());
            assert!(high.unwrap() <= low.unwrap() + 2 * SPEED * 60, "{low:?} {high:?}");
        }
        assert_eq!(deal(&dealt, 60, 1000).len(), 100);
    }

    #[test]
    fn a_line_that_was_cut_off_is_no_finding() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows-0.jsonl");
        let line = |id: &str| format!("{{\"id\":\"{id}\",\"found\":{{\"cycles\":1}},\"failed\":null}}\n");
        fs::write(&path, format!("{}{}", line("a"), &line("b")[..20])).unwrap();
        let (found, place) = findings(&path, 0).unwrap();
        assert_eq!((found.len(), place), (1, line("a").len() as u64));
        fs::write(&path, line("a") + &line("b")).unwrap();
        assert_eq!(findings(&path, place).unwrap().0[0].id, "b");
        assert_eq!(findings(&dir.path().join("none"), 7).unwrap().1, 7);
    }
}
