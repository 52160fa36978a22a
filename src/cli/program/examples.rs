//! `meshkv examples`: writes the files that help texts and documentation use.

use crate::cli::output::ui::Ui;
use crate::tools::whole_file;
use anyhow::{bail, Context};
use schemars::JsonSchema;
use serde::Serialize;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

/// Names relative to a folder, and contents; `build.rs` lists them.
const FILES: &[(&str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/examples.rs"));

/// Write the named configurations, sweeps, tensors and energies that examples use
///
/// They are part of the program. Below the folder they are where the examples of every --help look for them:
/// configs, sweeps, examples, energy.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv examples                 write them here
  meshkv examples ~/meshkv
  meshkv run configs/minilm.toml --tensors examples/minilm.safetensors")]
pub struct Args {
    /// Folder to write into
    #[arg(default_value = ".", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    dir: PathBuf,
    /// Replace files that are there and differ
    #[arg(long)]
    force: bool,
}

/// The files that are there now.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct ExamplesOutput {
    /// The folder.
    dir: String,
    /// Names relative to it.
    files: Vec<&'static str>,
}

/// Runs the subcommand.
///
/// # Errors
/// When a file is there and differs, or cannot be written. Files that differ are looked for first, so that
/// nothing is written then.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let differs = |name: &str, bytes: &[u8]| fs::read(args.dir.join(name)).is_ok_and(|there| there != bytes);
    let changed: Vec<_> = FILES.iter().filter(|(name, bytes)| differs(name, bytes)).collect();
    if let (Some((name, _)), false) = (changed.first(), args.force) {
        bail!(
            "{} exists and differs from the example, {} in all; nothing was written\n  \
             help: name another folder, or replace them with --force",
            args.dir.join(name).display(),
            changed.len()
        );
    }
    for (name, bytes) in FILES {
        let path = args.dir.join(name);
        if fs::read(&path).is_ok_and(|there| there == *bytes) {
            continue;
        }
        let folder = path.parent().expect("every example is in a folder");
        fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        whole_file::write(&path, bytes, args.force)?;
    }
    let files = FILES.iter().map(|(name, _)| *name).collect();
    ui.result(&ExamplesOutput { dir: args.dir.display().to_string(), files }, || {
        FILES.iter().map(|(name, _)| format!("{}\n", args.dir.join(name).display())).collect()
    })?;
    ui.next(format_args!("meshkv run configs/minilm.toml --tensors examples/minilm.safetensors"));
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use crate::cli::program::examples::*;

    #[test]
    fn every_kind_of_file_is_carried() {
        for name in [
            "configs/tiny.toml",
            "sweeps/mesh_sizes.toml",
            "examples/minilm.safetensors",
            "energy/published.toml",
        ] {
            assert!(FILES.iter().any(|(file, bytes)| *file == name && !bytes.is_empty()), "{name}");
        }
        assert!(FILES.iter().all(|(name, _)| !name.ends_with(".rs")));
    }
}
