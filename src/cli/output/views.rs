//! Views beside the waves of a run: save files for GTKWave and Surfer.

use crate::cli::output::ui::Ui;
use crate::cosim::views::{module_views, views, Focus, ViewFile};
use crate::design::Design;
use crate::tools::whole_file;
use anyhow::Context;
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Words by which a view of ours is known: one that a person has saved under the same name stays.
const OURS: &str = "by meshkv";

/// The views of a wave file, written when this is dropped. Declare it before the simulation, which
/// then has closed the file: after a result, a failure, a fabric that hangs, or Ctrl-C.
pub(in crate::cli) struct Views<'a> {
    waves: PathBuf,
    /// Time of the file of an earlier run.
    before: Option<SystemTime>,
    design: &'a Design,
    focus: Cell<Focus>,
    ui: &'a Ui,
}

impl<'a> Views<'a> {
    /// Views of the file that the run is going to write.
    pub(in crate::cli) fn of(waves: PathBuf, design: &'a Design, ui: &'a Ui) -> Views<'a> {
        let before = written_at(&waves);
        Views { waves, before, design, focus: Cell::new(Focus::Corners), ui }
    }

    /// Makes the place of a difference the end of the way.
    pub(in crate::cli) fn end_at(&self, (x, y): (u32, u32)) {
        self.focus.set(self.design.mesh.node(x, y).map_or(Focus::Corners, Focus::Tile));
    }

    /// Writes all files; returns the views, without their tables of values.
    fn write(&self) -> anyhow::Result<Vec<PathBuf>> {
        written(&self.waves, &views(&self.waves, self.design, self.focus.get())?, self.ui)
    }
}

/// Writes the views of the waves of one module of the design `name`, and says how to open them.
pub(in crate::cli) fn of_module(waves: &Path, name: &str, ui: &Ui) -> anyhow::Result<()> {
    let views = written(waves, &module_views(waves, name)?, ui)?;
    say(waves, &views, ui);
    Ok(())
}

/// Writes files of views; returns the views, without their tables of values.
fn written(waves: &Path, files: &[ViewFile], ui: &Ui) -> anyhow::Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for (path, text) in files {
        let view = path.parent() == waves.parent();
        if view && !may_replace(path) {
            ui.note(format_args!("{} is not meshkv's and stays as it is", path.display()));
            continue;
        }
        if let Some(folder) = path.parent().filter(|_| !view) {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        whole_file::write(path, text.as_bytes(), true)?;
        if view {
            written.push(path.clone());
        }
    }
    Ok(written)
}

/// Says how to open waves with their views.
fn say(waves: &Path, views: &[PathBuf], ui: &Ui) {
    if !views.is_empty() {
        let commands: Vec<_> = views.iter().map(|view| command(waves, view)).collect();
        ui.note(format_args!("its signals, named: {}", commands.join(", or ")));
    }
}

impl Drop for Views<'_> {
    fn drop(&mut self) {
        let now = written_at(&self.waves);
        if now.is_none() || now == self.before {
            return;
        }
        match self.write() {
            Ok(written) => say(&self.waves, &written, self.ui),
            Err(error) => self.ui.warn(format_args!("no view of the waves was written: {error:#}")),
        }
    }
}

/// The command that opens waves with a view. Surfer looks for its mappings in the folder it is started in.
fn command(waves: &Path, view: &Path) -> String {
    if view.extension().is_some_and(|extension| extension == "gtkw") {
        return format!("gtkwave {}", view.display());
    }
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let surfer = format!("surfer --command-file {} {}", name(view), name(waves));
    match waves.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => format!("(cd {} && {surfer})", folder.display()),
        None => surfer,
    }
}

fn written_at(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|file| file.modified()).ok()
}

/// True if there is no such file, or its first line says that it is of meshkv.
fn may_replace(path: &Path) -> bool {
    let text = fs::read(path).unwrap_or_default();
    let first = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    text.is_empty() || String::from_utf8_lossy(first).contains(OURS)
}
