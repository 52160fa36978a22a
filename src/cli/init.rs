//! `meshkv init`: a configuration with every key explained.

use super::ui::Ui;
use crate::config;
use anyhow::Context;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Write a configuration that explains every key
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv init                    write meshkv.toml
  meshkv init configs/wide.toml  write it elsewhere; the design is named after the file")]
pub struct Args {
    /// File to write
    #[arg(default_value = "meshkv.toml", value_hint = clap::ValueHint::FilePath)]
    path: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// When the file exists and `--force` is not given, or cannot be written.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    write_whole(&args.path, &config::commented(), args.force)?;
    let shown = args.path.display();
    ui.result(&json!({ "path": shown.to_string() }), || format!("{shown}\n"))?;
    ui.note(format_args!("Every key is at its default. Next: meshkv check {shown}"));
    Ok(ExitCode::SUCCESS)
}

/// Writes a file so that it is there whole or not at all.
fn write_whole(path: &Path, text: &str, force: bool) -> anyhow::Result<()> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // A temporary file is private otherwise, and would stay so under its new name.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let cannot = || format!("cannot write {}", path.display());
    let mut file = builder.tempfile_in(dir).with_context(cannot)?;
    file.write_all(text.as_bytes()).with_context(cannot)?;
    let kept = if force { file.persist(path) } else { file.persist_noclobber(path) };
    match kept {
        Ok(_) => Ok(()),
        Err(e) if e.error.kind() == std::io::ErrorKind::AlreadyExists => {
            anyhow::bail!("{} exists; name another file, or replace it with --force", path.display())
        }
        Err(e) => Err(e.error).with_context(cannot),
    }
}
