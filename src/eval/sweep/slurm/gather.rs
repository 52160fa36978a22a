//! Gathers the rows of tasks into the folder of the rows.

use crate::eval::grid::Point;
use crate::eval::sweep::fill::Filled;
use crate::eval::sweep::slurm::chunk::findings;
use crate::eval::sweep::store::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Files of tasks, and how far each has been read.
pub(super) struct Gather {
    dir: PathBuf,
    read: BTreeMap<PathBuf, u64>,
    /// Points that have a row by now.
    found: BTreeSet<String>,
}

impl Gather {
    /// Of the arrays in a folder.
    pub(super) fn new(dir: &Path) -> Gather {
        Gather { dir: dir.to_owned(), read: BTreeMap::new(), found: BTreeSet::new() }
    }

    /// True if a point has its row.
    pub(super) fn has(&self, id: &str) -> bool {
        self.found.contains(id)
    }

    /// Points of which something was found.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// Reads what is new, and stores the rows of points that are missing.
    ///
    /// # Errors
    /// When a file cannot be read, or a row not written.
    pub(super) fn read(
        &mut self,
        store: &mut Store<'_>,
        missing: &BTreeMap<&str, &Point>,
        filled: &mut Filled,
    ) -> anyhow::Result<()> {
        for path in self.files() {
            let from = self.read.get(&path).copied().unwrap_or(0);
            let (found, place) = findings(&path, from)?;
            self.read.insert(path, place);
            for finding in found {
                let Some(point) = missing.get(finding.id.as_str()) else { continue };
                let is_new = !self.found.contains(&finding.id) && !filled.failed.contains(&finding.id);
                if let Some(area) = finding.area.filter(|_| is_new) {
                    store.add_area(&point.design.config_sha256(), &area)?;
                }
                match (finding.found, finding.failed) {
                    (Some(row), _) if self.found.insert(finding.id.clone()) => {
                        store.add(point, &row)?;
                        filled.run += 1;
                    }
                    (None, Some(_)) if is_new => filled.failed.push(finding.id),
                    // The area alone was wanted.
                    (None, None) => _ = self.found.insert(finding.id),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// All files of rows, in order.
    fn files(&self) -> Vec<PathBuf> {
        let inside = |dir: &Path| {
            let entries = fs::read_dir(dir).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).collect::<Vec<_>>()
        };
        let mut files: Vec<PathBuf> = inside(&self.dir)
            .iter()
            .flat_map(|array| inside(array))
            .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
            .collect();
        files.sort();
        files
    }
}
