//! The places in which a tool is looked up, and the choice among the tools found there.

use crate::tools::error::ToolError;
use crate::tools::find::notice::{Caller, Notice};
use crate::tools::find::places::starts;
use crate::tools::find::probe::{Patience, Probe};
use crate::tools::find::program::Program;
use crate::tools::find::tool::{Source, Tool};
use crate::tools::find::wanted::Wanted;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// The places to search. A value, so that tests can use others.
#[derive(Debug, Default)]
pub(in crate::tools) struct Search {
    pub(in crate::tools) override_words: Option<OsString>,
    pub(in crate::tools) path: OsString,
    /// Folders that hold `.tools/venv`, or are below one that does.
    pub(in crate::tools) starts: Vec<PathBuf>,
    pub(in crate::tools) patience: Patience,
}

impl Search {
    pub(in crate::tools) fn here(wanted: &'static Wanted) -> Search {
        Search {
            override_words: env::var_os(wanted.variable).filter(|v| !v.is_empty()),
            path: env::var_os("PATH").unwrap_or_default(),
            starts: starts(),
            patience: Patience::default(),
        }
    }

    /// The first tool that works.
    pub(in crate::tools) fn find(&self, wanted: &'static Wanted, caller: &Caller) -> Result<Tool, ToolError> {
        let probe = self.probe(wanted, caller);
        if let Some(words) = &self.override_words {
            return probe.tool(&self.overriding(words), Source::Environment);
        }
        let mut failed = Vec::new();
        for (path, source) in self.candidates(wanted) {
            match probe.tool(&Program::from(&path), source) {
                Ok(tool) => return Ok(said(tool, &failed, caller)),
                // The variable leads the others astray, too, which some show at work only.
                Err(error @ ToolError::Misled { .. }) => return Err(error),
                Err(error) => failed.push(error),
            }
        }
        Err(failed.into_iter().next().unwrap_or(ToolError::Missing(wanted)))
    }

    /// The newest tool that works. Of equal versions the first is used.
    pub(in crate::tools) fn newest(
        &self,
        wanted: &'static Wanted,
        caller: &Caller,
    ) -> Result<Tool, ToolError> {
        if self.override_words.is_some() {
            return self.find(wanted, caller);
        }
        let probe = self.probe(wanted, caller);
        let (mut best, mut failed) = (None::<Tool>, Vec::new());
        for (path, source) in self.candidates(wanted) {
            match probe.tool(&Program::from(&path), source) {
                Ok(tool) if best.as_ref().is_none_or(|best| tool.version > best.version) => best = Some(tool),
                Ok(_) => {}
                // The variable leads the others astray, too, which some show at work only.
                Err(error @ ToolError::Misled { .. }) => return Err(error),
                Err(error) => failed.push(error),
            }
        }
        match best {
            Some(tool) => Ok(said(tool, &failed, caller)),
            None => Err(failed.into_iter().next().unwrap_or(ToolError::Missing(wanted))),
        }
    }

    fn probe<'p>(&self, wanted: &'static Wanted, caller: &'p Caller<'p>) -> Probe<'p> {
        Probe { wanted, caller, patience: self.patience }
    }

    /// The program of a variable: all of it if that is one, else its first word with the others as arguments.
    fn overriding(&self, words: &OsStr) -> Program {
        if let Some(path) = self.located(words) {
            return Program::from(&path);
        }
        match Program::of_words(&words.to_string_lossy()) {
            Some(Program { path, arguments }) => {
                Program { path: self.located(path.as_os_str()).unwrap_or(path), arguments }
            }
            None => Program::from(Path::new(words)),
        }
    }

    /// The file of a path, or of a name on `PATH`: `CXX=clang++` is no path. It is absolute, because tools run in
    /// other folders.
    fn located(&self, name: &OsStr) -> Option<PathBuf> {
        let file = Some(PathBuf::from(name)).filter(|path| path.is_file());
        let found = file.or_else(|| self.on_path(name))?;
        Some(std::path::absolute(&found).unwrap_or(found))
    }

    /// Executables in the order of preference, each once.
    fn candidates(&self, wanted: &'static Wanted) -> Vec<(PathBuf, Source)> {
        let named = wanted.executables.iter();
        let system = named.filter_map(|name| self.on_path(name.as_ref())).map(|path| (path, Source::Path));
        let venvs = self.starts.iter().flat_map(|s| s.ancestors()).map(|dir| dir.join(".tools/venv"));
        let local = venvs.flat_map(|venv| in_venv(&venv, wanted)).map(|path| (path, Source::Project));
        let mut found: Vec<(PathBuf, Source)> = Vec::new();
        for (path, source) in system.chain(local) {
            if found.iter().all(|(other, _)| *other != path) {
                found.push((path, source));
            }
        }
        found
    }

    fn on_path(&self, name: &OsStr) -> Option<PathBuf> {
        env::split_paths(&self.path).map(|dir| dir.join(name)).find(|path| is_executable(path))
    }
}

/// Says which tools do not work, of those that could have been used instead of this one. One that is too old works,
/// and is left for a newer one on purpose; a Python without the package is none.
fn said(used: Tool, failed: &[ToolError], caller: &Caller) -> Tool {
    let other = |error: &&ToolError| matches!(error, ToolError::TooOld { .. } | ToolError::Missing(_));
    for failed in failed.iter().filter(|error| !other(error)) {
        (caller.hear)(&Notice::FellBack { failed, used: &used });
    }
    used
}

/// Executables of a virtual environment, including those inside a wheel's package.
fn in_venv(venv: &Path, wanted: &'static Wanted) -> Vec<PathBuf> {
    let mut dirs = vec![venv.join("bin")];
    let pythons = fs::read_dir(venv.join("lib")).into_iter().flatten().flatten();
    let mut pythons: Vec<_> = pythons.map(|entry| entry.path()).collect();
    // The order of a folder's entries is arbitrary.
    pythons.sort();
    dirs.extend(pythons.iter().map(|p| p.join("site-packages").join(wanted.name).join("bin")));
    let paths = dirs.iter().flat_map(|dir| wanted.executables.iter().map(move |name| dir.join(name)));
    paths.filter(|path| is_executable(path)).collect()
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}
