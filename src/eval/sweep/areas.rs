//! The file of the areas of a sweep's configurations, with `--estimate`.

use crate::eval::grid::parse_line_of;
use anyhow::Context;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The file of the areas: a line a configuration.
const AREAS: &str = "areas.jsonl";

/// Key of a line that names its configuration.
const CONFIG: &str = "config_sha256";

/// The areas in a folder.
#[derive(Debug)]
pub(super) struct Areas {
    path: PathBuf,
    found: BTreeMap<String, Value>,
}

impl Areas {
    /// Reads those of a folder.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub(super) fn open(dir: &Path) -> anyhow::Result<Areas> {
        let path = dir.join(AREAS);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            text => text.with_context(|| format!("cannot read {}", path.display()))?,
        };
        // A line that was cut off by the end of a process is found again, quickly: its parts are in the cache.
        let found = text.lines().filter_map(|line| parse_line_of(CONFIG, line));
        let found = found.map(|(config, row)| (config, Value::Object(row))).collect();
        Ok(Areas { path, found })
    }

    /// The area of a configuration.
    pub(super) fn of(&self, config: &str) -> Option<&Value> {
        self.found.get(config)
    }

    /// Keeps the area of a configuration.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn add(&mut self, config: &str, area: &Value) -> anyhow::Result<()> {
        let mut row = Map::new();
        row.insert(CONFIG.to_owned(), config.into());
        row.extend(area.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())));
        // It begins with the end of a line: one that was cut off must not run into it.
        let line = format!("\n{}\n", Value::Object(row));
        let file = OpenOptions::new().create(true).append(true).open(&self.path);
        let written =
            file.and_then(|mut file| file.write_all(line.as_bytes()).and_then(|()| file.sync_data()));
        written.with_context(|| format!("cannot write {}", self.path.display()))?;
        self.found.insert(config.to_owned(), area.clone());
        Ok(())
    }
}
