//! The folder of a session: its mutants and what became of each. It survives any end of the process.
//!
//! | file | content |
//! |---|---|
//! | `session.json` | configuration, mutants, libraries, and what the checks say without a mutant |
//! | `outcomes.jsonl` | a line for each mutant that was tried |
//! | `proofs.jsonl` | a line for each one that Yosys and ABC were asked about |

use super::change::mutant::{Mutant, Wanted};
use crate::config::Config;
use crate::cosim::build::{BuildError, BuildForm, Library};
use crate::tools::whole_file;
use anyhow::{bail, Context};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

const SESSION: &str = "session.json";
const OUTCOMES: &str = "outcomes.jsonl";
const PROOFS: &str = "proofs.jsonl";

/// All that a child needs to try a mutant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Version of the program and of the sources that it was made from.
    pub version: String,
    /// Name of the design.
    pub name: String,
    /// Its configuration.
    pub config: Config,
    /// What was asked for.
    pub wanted: Wanted,
    /// The mutants.
    pub mutants: Vec<Mutant>,
    /// The library of each form, by its name.
    pub libraries: Vec<(String, PathBuf)>,
    /// The checks by name, as they run without a mutant; empty before they have.
    pub checks: BTreeMap<String, Without>,
}

/// A check without a mutant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Without {
    /// Seconds that it takes.
    pub seconds: f64,
    /// Mutants that its library has: elaboration leaves some out.
    pub present: BTreeSet<u32>,
    /// Mutants whose expression has another value, or whose statement is reached: it runs the same with all others.
    pub reached: BTreeSet<u32>,
}

/// What became of a mutant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Its number.
    pub number: u32,
    /// The check that found it; none if it survived.
    pub found: Option<String>,
    /// What the check saw.
    #[serde(default)]
    pub what: String,
    /// True if its expression had another value after the reset, or its statement was reached.
    pub differed: bool,
    /// True if elaboration left it out of all libraries.
    pub absent: bool,
    /// Seconds of the checks.
    pub seconds: f64,
}

/// What Yosys and ABC say of a mutant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// Number of the mutant.
    pub number: u32,
    /// True if the module with it is proved to be equal.
    pub equal: bool,
    /// The module whose properties fall with it.
    #[serde(default)]
    pub breaks: Option<String>,
    /// Why neither is known.
    #[serde(default)]
    pub why: String,
}

/// An open folder.
#[derive(Debug, Clone)]
pub struct Folder(PathBuf);

impl Folder {
    /// Opens or makes a folder.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn open(path: &Path) -> anyhow::Result<Folder> {
        fs::create_dir_all(path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Folder(path.to_owned()))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The session; none if the folder has none.
    ///
    /// # Errors
    /// If its file is not read.
    pub fn session(&self) -> anyhow::Result<Option<Session>> {
        let path = self.0.join(SESSION);
        if !path.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).map(Some).with_context(|| {
            format!("{} is not a session of this version\n  help: remove the folder", path.display())
        })
    }

    /// Writes the session, whole.
    ///
    /// # Errors
    /// If it cannot be written, or another is there.
    pub fn begin(&self, session: &Session) -> anyhow::Result<()> {
        if let Some(other) = self.session()? {
            let same = (&other.version, &other.config, &other.mutants)
                == (&session.version, &session.config, &session.mutants);
            if !same {
                bail!(
                    "{} has mutants of another run\n  help: give another folder with -o, or remove it",
                    self.0.display()
                );
            }
        }
        let text = serde_json::to_string(session)?;
        let path = self.0.join(SESSION);
        whole_file::write(&path, text.as_bytes(), true)
    }

    /// Outcomes so far; a line that was cut off is left out.
    ///
    /// # Errors
    /// If the file is not read.
    pub fn outcomes(&self) -> anyhow::Result<Vec<Outcome>> {
        self.lines(OUTCOMES)
    }

    /// Answers of Yosys so far.
    ///
    /// # Errors
    /// As [`Folder::outcomes`].
    pub fn proofs(&self) -> anyhow::Result<Vec<Proof>> {
        self.lines(PROOFS)
    }

    /// Adds an outcome.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(&self, outcome: &Outcome) -> anyhow::Result<()> {
        self.append(OUTCOMES, outcome)
    }

    /// Adds an answer of Yosys.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn prove(&self, proof: &Proof) -> anyhow::Result<()> {
        self.append(PROOFS, proof)
    }

    fn lines<T: DeserializeOwned>(&self, name: &str) -> anyhow::Result<Vec<T>> {
        let path = self.0.join(name);
        if !path.exists() {
            return Ok(Vec::new());
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    fn append<T: Serialize>(&self, name: &str, value: &T) -> anyhow::Result<()> {
        let path = self.0.join(name);
        let write = || -> std::io::Result<()> {
            let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
            // A line that a killed process cut off must not swallow this one.
            let line = format!("\n{}\n", serde_json::to_string(value)?);
            file.write_all(line.as_bytes())
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }
}

impl Session {
    /// Loads the library of a form.
    ///
    /// # Errors
    /// If it is not there.
    pub fn library(&self, form: BuildForm) -> Result<Library, BuildError> {
        let path = self.libraries.iter().find(|(name, _)| name == form.name()).map(|(_, path)| path);
        Library::open(path.map_or(Path::new(""), PathBuf::as_path))
    }

    /// Seconds that a check may take; any before it is known how long it takes without a mutant.
    pub fn limit(&self, check: &str) -> f64 {
        self.checks.get(check).map_or(f64::INFINITY, |without| without.seconds * LIMIT.0 + LIMIT.1)
    }

    /// True if a library has the mutant.
    pub fn is_present(&self, number: u32) -> bool {
        self.checks.values().any(|check| check.present.contains(&number))
    }

    /// Checks that may run otherwise with a mutant than without, the shortest first, with the seconds up to the end of each.
    pub fn plan(&self, number: u32) -> Vec<(String, f64)> {
        let mut plan: Vec<(String, f64)> = self
            .checks
            .iter()
            .filter(|(_, check)| check.reached.contains(&number))
            .map(|(name, check)| (name.clone(), check.seconds))
            .collect();
        plan.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut sum = 0.0;
        for (_, seconds) in &mut plan {
            sum += *seconds;
            *seconds = sum;
        }
        plan
    }
}

/// A check may take so many times as long as without a mutant, and so many seconds more.
const LIMIT: (f64, f64) = (4.0, 10.0);
