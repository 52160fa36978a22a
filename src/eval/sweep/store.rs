//! The folder of a sweep: its rows survive any end of the process.
//!
//! `rows.jsonl` is authoritative. A row is one line of it, written before anything else happens with the
//! point, so that a killed process loses none; a machine that fails loses those of the last half second.
//! `rows.csv` follows, and is rebuilt from it whenever the folder is opened. Files are replaced whole.
//!
//! | file | content |
//! |---|---|
//! | `sweep.json` | description of the rows |
//! | `rows.jsonl`, `rows.csv` | a row for each point, in order of arrival; sorted once all exist |
//! | `rows.parquet` | the same, once all exist |
//! | `areas.jsonl` | the area of each configuration, with `--estimate` |
//! | `set-aside.jsonl` | rows of points that are no longer in the sweep file |
//! | `.lock` | held by the writing process |

use crate::eval::grid::{csv_head, parse_line, to_parquet, Column, Expanded, Point, Record};
use crate::eval::sweep::areas::Areas;
use crate::tools::locks::{self, Lock};
use crate::tools::whole_file;
use anyhow::{bail, Context};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// File of the description of the rows.
pub const META: &str = "sweep.json";
/// File of the rows.
pub const ROWS: &str = "rows.jsonl";
const CSV: &str = "rows.csv";
const PARQUET: &str = "rows.parquet";
const SET_ASIDE: &str = "set-aside.jsonl";
const LOCK: &str = ".lock";

/// Prefix of files that were being written when a process was killed.
const TEMPORARY: &str = ".tmp";

/// Time between two syncs of rows.
const SYNC_EVERY: Duration = Duration::from_millis(500);

/// An open folder. No other process writes into it.
pub struct Store<'a> {
    dir: PathBuf,
    columns: &'a [Column],
    points: &'a [Point],
    records: BTreeMap<String, Record>,
    rows: File,
    csv: File,
    areas: Areas,
    notes: Vec<String>,
    /// Time of the last sync.
    synced: Instant,
    /// Held until the end; a process that dies releases it.
    _lock: File,
}

/// Lines of a file by their ids, unchanged.
type Lines = BTreeMap<String, Map<String, Value>>;

/// The ids of the rows in a folder; none if it does not exist.
///
/// # Errors
/// When there are rows that cannot be read.
pub fn ids(dir: &Path) -> anyhow::Result<BTreeSet<String>> {
    Ok(read(&dir.join(ROWS))?.0.into_keys().collect())
}

/// The rows of a file, and whether its last line was cut off; none if there is no file.
fn read(path: &Path) -> anyhow::Result<(Lines, bool)> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Default::default()),
        bytes => bytes.with_context(|| format!("cannot read {}", path.display()))?,
    };
    let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |end| end + 1);
    let mut lines = Lines::new();
    for (number, line) in bytes[..whole].split(|&b| b == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        let Some((id, row)) = std::str::from_utf8(line).ok().and_then(parse_line) else {
            bail!(
                "{}:{}: this is no row of a sweep\n  help: remove the line; its point is run again",
                path.display(),
                number + 1
            );
        };
        lines.insert(id, row);
    }
    Ok((lines, whole < bytes.len()))
}

/// Makes the folder, or checks that it belongs to a sweep, and takes its lock. False if its file system has none.
fn take(dir: &Path) -> anyhow::Result<(File, bool)> {
    let shown = dir.display();
    let there = fs::read_dir(dir).map(|entries| entries.flatten().map(|e| e.file_name()).collect::<Vec<_>>());
    let foreign =
        there.is_ok_and(|names| !names.is_empty() && !names.iter().any(|name| name == META || name == LOCK));
    if foreign {
        bail!("{shown} holds something else than a sweep\n  help: name an empty or a new folder with -o");
    }
    fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {shown}"))?;
    let open = OpenOptions::new().create(true).append(true).open(dir.join(LOCK));
    let lock = open.with_context(|| format!("cannot write into {shown}"))?;
    match locks::try_lock(&lock).with_context(|| format!("cannot lock {shown}"))? {
        Lock::Held => Ok((lock, true)),
        // Only this process writes here, unless somebody starts another.
        Lock::Unsupported => Ok((lock, false)),
        Lock::Busy => bail!(
            "another sweep writes into {shown}\n  help: wait for its end, or name another folder with -o"
        ),
    }
}

impl<'a> Store<'a> {
    /// Opens a folder for the points of a grid: locks it, repairs the files of a killed process, and sorts
    /// its rows.
    ///
    /// # Errors
    /// When the folder is in use, holds something else, cannot be written, or holds rows of other points and
    /// `set_aside` is not set.
    pub fn open(
        dir: &Path,
        meta: &impl Serialize,
        all: &'a Expanded,
        set_aside: bool,
    ) -> anyhow::Result<Store<'a>> {
        let (lock, locked) = take(dir)?;
        let (mut lines, cut) = read(&dir.join(ROWS))?;
        let (aside, _) = read(&dir.join(SET_ASIDE))?;
        let mut notes = Vec::new();
        if !locked {
            notes.push(format!("{} has no locks: no other sweep may write into it meanwhile", dir.display()));
        }
        if cut {
            notes.push(format!(
                "the last line of {} was cut off: its point is run again",
                dir.join(ROWS).display()
            ));
        }
        // Rows already set aside are accepted, and return with their point.
        let known: BTreeSet<&String> = all.points.iter().map(|point| &point.id).collect();
        let stray = |(id, row): (&String, &Map<String, Value>)| {
            (!known.contains(id)).then(|| (id.clone(), row.clone()))
        };
        let strays: Lines = lines.iter().filter_map(stray).collect();
        if !strays.is_empty() && !set_aside {
            bail!(
                "{} holds {} rows of points that are not in this sweep file; it has changed since, or is another\n  \
                 help: --set-aside keeps them in {SET_ASIDE}; or name another folder with -o",
                dir.display(),
                strays.len()
            );
        }
        remove_temporaries(dir)?;
        if !strays.is_empty() {
            notes.push(format!(
                "{} rows of points that the sweep file does not have are in {SET_ASIDE}",
                strays.len()
            ));
            // Written before they leave the rows, so that each is always in one of the files.
            write_aside(dir, aside.iter().chain(&strays))?;
        }
        lines.extend(aside.iter().map(|(id, row)| (id.clone(), row.clone())));
        let areas = Areas::open(dir)?;
        let record = |point: &Point| {
            let mut record = Record::kept(&all.columns, point, lines.get(&point.id)?);
            if let Some(area) = areas.of(&point.design.config_sha256()) {
                record.set_area(&all.columns, area);
            }
            Some((point.id.clone(), record))
        };
        let records = all.points.iter().filter_map(record).collect();
        let (columns, points) = (all.columns.as_slice(), all.points.as_slice());
        let append = |name: &str| OpenOptions::new().append(true).open(dir.join(name));
        write_rows(dir, columns, points, &records)?;
        if aside.keys().any(|id| known.contains(id)) {
            write_aside(dir, aside.iter().chain(&strays).filter(|(id, _)| !known.contains(id)))?;
        }
        if records.len() < points.len() {
            // An existing Parquet file is complete.
            remove(&dir.join(PARQUET))?;
        }
        let text = format!("{}\n", serde_json::to_string_pretty(meta)?);
        whole_file::write(&dir.join(META), text.as_bytes(), true)?;
        let (rows, csv) = (append(ROWS)?, append(CSV)?);
        let synced = Instant::now();
        Ok(Store {
            dir: dir.to_owned(),
            columns,
            points,
            records,
            rows,
            csv,
            areas,
            notes,
            synced,
            _lock: lock,
        })
    }

    /// Notes on the opening of the folder.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// True if a point has its row.
    pub fn has(&self, id: &str) -> bool {
        self.records.contains_key(id)
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Number of rows.
    pub fn row_count(&self) -> usize {
        self.records.len()
    }

    /// Number of all points.
    pub fn points(&self) -> usize {
        self.points.len()
    }

    /// All rows by the ids of their points.
    pub fn rows(&self) -> BTreeMap<String, Map<String, Value>> {
        let row = |record: &Record| {
            let pairs = self.columns.iter().zip(&record.values);
            pairs.map(|(column, value)| (column.name.clone(), value.clone())).collect()
        };
        self.records.iter().map(|(id, record)| (id.clone(), row(record))).collect()
    }

    /// Stores the row of a point.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, point: &Point, found: &Value) -> anyhow::Result<()> {
        let mut record = Record::new(self.columns, point, found);
        if let Some(area) = self.areas.of(&point.design.config_sha256()) {
            record.set_area(self.columns, area);
        }
        let files =
            [(&mut self.rows, record.to_json(self.columns), ROWS), (&mut self.csv, record.to_csv(), CSV)];
        for (file, line, name) in files {
            file.write_all(line.as_bytes()).with_context(|| {
                format!("cannot write {}; rows before this one are kept", self.dir.join(name).display())
            })?;
        }
        self.records.insert(point.id.clone(), record);
        // A sync takes longer than many a point.
        if self.synced.elapsed() >= SYNC_EVERY {
            self.sync()?;
        }
        Ok(())
    }

    /// A point of each configuration whose area is not there.
    pub fn lacking_areas(&self) -> Vec<&'a Point> {
        let mut seen = BTreeSet::new();
        let lacks = |point: &&Point| {
            let config = point.design.config_sha256();
            self.areas.of(&config).is_none() && seen.insert(config)
        };
        self.points.iter().filter(lacks).collect()
    }

    /// Stores the area of a configuration, for all rows of it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add_area(&mut self, config: &str, area: &Value) -> anyhow::Result<()> {
        self.areas.add(config, area)?;
        for point in self.points {
            if let Some(record) = self.records.get_mut(&point.id) {
                if point.design.config_sha256() == config {
                    record.set_area(self.columns, area);
                }
            }
        }
        Ok(())
    }

    /// Brings all rows to the disk.
    ///
    /// # Errors
    /// When it takes them no more.
    pub fn sync(&mut self) -> anyhow::Result<()> {
        self.synced = Instant::now();
        self.rows.sync_data().with_context(|| format!("cannot write {}", self.dir.join(ROWS).display()))
    }

    /// Sorts the rows as their points are in the sweep file and, if all are there, writes them as Parquet.
    /// Returns the violations of all rows.
    ///
    /// # Errors
    /// When they cannot be written; then nothing has changed.
    pub fn finish(self) -> anyhow::Result<u64> {
        let sorted = write_rows(&self.dir, self.columns, self.points, &self.records)?;
        if sorted.len() == self.points.len() {
            whole_file::write(&self.dir.join(PARQUET), &to_parquet(self.columns, &sorted)?, true)?;
        }
        let at = self.columns.iter().position(|column| column.name == "violations");
        let of = |record: &Record| at.and_then(|at| record.values[at].as_u64()).unwrap_or(0);
        Ok(sorted.iter().map(of).sum())
    }
}

/// Writes rows in the order of their points, whole, as JSON Lines and CSV; files with the same content are
/// left.
fn write_rows(
    dir: &Path,
    columns: &[Column],
    points: &[Point],
    records: &BTreeMap<String, Record>,
) -> anyhow::Result<Vec<Record>> {
    let sorted: Vec<Record> = points.iter().filter_map(|point| records.get(&point.id)).cloned().collect();
    let json: String = sorted.iter().map(|record| record.to_json(columns)).collect();
    let csv: String = [csv_head(columns)].into_iter().chain(sorted.iter().map(Record::to_csv)).collect();
    for (name, text) in [(ROWS, json), (CSV, csv)] {
        let path = dir.join(name);
        if !fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            whole_file::write(&path, text.as_bytes(), true)?;
        }
    }
    Ok(sorted)
}

/// Writes the rows that are set aside, whole.
fn write_aside<'l>(
    dir: &Path,
    rows: impl Iterator<Item = (&'l String, &'l Map<String, Value>)>,
) -> anyhow::Result<()> {
    // By their ids: a row that a killed process left in both files is written once.
    let rows: BTreeMap<_, _> = rows.collect();
    let text: String = rows.values().map(|row| format!("{}\n", Value::Object((*row).clone()))).collect();
    whole_file::write(&dir.join(SET_ASIDE), text.as_bytes(), true)
}

/// Removes a file if it exists.
fn remove(path: &Path) -> anyhow::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// Removes files that a killed process was writing; under the lock no other process writes.
fn remove_temporaries(dir: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(dir)?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}
