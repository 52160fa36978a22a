//! Subject of checks of the Verilog, for `lint` and `prove`: the files of a configuration, or a folder that was generated.

use crate::cli::load;
use crate::cli::output::ui::Ui;
use crate::emit::{self, Generated, Origin, SourceFile};
use crate::synth::lint::passes::Depth;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// Files to read, the depth of the checks, and the state of their folder.
pub(in crate::cli::prepare) struct Subject {
    /// Name of the configuration.
    pub(in crate::cli::prepare) name: String,
    /// The files.
    pub(in crate::cli::prepare) files: Vec<SourceFile>,
    /// How far Verilator reads them.
    pub(in crate::cli::prepare) depth: Depth,
    /// State of the folder; none for a configuration.
    pub(in crate::cli::prepare) folder: Option<Folder>,
}

/// A folder that was generated, by its manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ReadFolder")]
pub(in crate::cli::prepare) struct Folder {
    /// The folder.
    dir: String,
    /// Version of meshkv that wrote it; null if its manifest names none.
    version: Option<String>,
    /// Files that were edited since, read as they are.
    edited: Vec<String>,
    /// Generated files that are not there.
    missing: Vec<String>,
    /// Files that were put beside generated ones of their kind, and are read with them.
    added: Vec<String>,
}

impl Subject {
    /// The folder that is read, if it is one.
    pub(in crate::cli::prepare) fn dir(&self) -> Option<&str> {
        self.folder.as_ref().map(|folder| folder.dir.as_str())
    }

    /// The files of a configuration, or those that are in a folder.
    pub(in crate::cli::prepare) fn load(path: &Path, ui: &Ui) -> anyhow::Result<Subject> {
        if path.is_dir() {
            return Ok(Subject::of_folder(path, emit::read(path)?, ui));
        }
        let (design, _) = load::load(path, ui)?;
        let (files, depth) = (emit::emit(&design)?, Depth::of(design.mesh.tiles()));
        Ok(Subject { name: design.name, files, depth, folder: None })
    }

    fn of_folder(dir: &Path, found: Generated, ui: &Ui) -> Subject {
        let Generated { origin, files, edited, missing, added, unread } = found;
        let of = |paths: &[String], how: &str| {
            for path in paths {
                ui.warn(format_args!("{}/{path} {how}", dir.display()));
            }
        };
        of(&edited, "was edited since it was generated; it is read as it is");
        of(&missing, "was generated and is not there");
        of(&added, "was not generated; it is read with the files beside it");
        of(&unread, "was not generated, and is not read: rename it to letters, digits, - and _");
        let (name, depth) = match &origin {
            Some(Origin { config, config_sha256, tiles, .. }) => {
                ui.made_from(config, config_sha256.clone());
                (config.clone(), Depth::of(*tiles))
            }
            None => {
                ui.note(format_args!(
                    "{} does not name its configuration: an older meshkv wrote it. Latches and loops are not looked for",
                    dir.display()
                ));
                let stem = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
                (stem, Depth::Modules)
            }
        };
        let version = origin.map(|origin| origin.version);
        let folder = Folder { dir: dir.display().to_string(), version, edited, missing, added };
        Subject { name, files, depth, folder: Some(folder) }
    }
}
