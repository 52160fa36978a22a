//! `meshkv generate`: writes the files of a design to a folder.

use super::interrupt::Interrupt;
use super::ui::Ui;
use crate::emit::{self, WriteError, WrittenFile};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Generate the Verilog, file lists and documentation of a configuration
///
/// The folder is written whole or not at all; one that cannot be replaced, such as a mount point, gets the files one
/// by one, and the same command finishes what was stopped. Files that meshkv did not write are never
/// touched, and files that were edited since are replaced only with --force, which keeps the
/// edits beside them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv generate configs/tiny.toml
  meshkv generate configs/tiny.toml -o rtl_out/tiny
  meshkv generate configs/tiny.toml -o rtl_out/tiny --json | jq -r '.files[].path'")]
pub struct Args {
    /// Configuration file
    #[arg(value_name = "CONFIG", value_hint = clap::ValueHint::FilePath)]
    config: PathBuf,
    /// Folder to write [default: one below out/, named after the file]
    #[arg(short, long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    out: Option<PathBuf>,
    /// Replace generated files that were edited
    #[arg(long)]
    force: bool,
}

/// The folder after it was written.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GenerateOutput {
    /// Name of the configuration.
    name: String,
    /// Module at the top of the Verilog.
    top: &'static str,
    /// The folder.
    dir: String,
    /// All generated files, sorted by path; the manifest itself is not listed.
    files: Vec<WrittenFile>,
    /// Copies of edited files that were replaced, by path below the folder.
    kept: Vec<String>,
    /// True if the folder was up to date and nothing was written.
    unchanged: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// All problems of the configuration, or the reason why nothing could be written.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let (design, _) = super::load::load_for_the_card(&args.config, ui)?;
    let interrupt = Interrupt::listen()?;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from("out").join(&design.name));
    let files = emit::emit(&design)?;
    let written = emit::write_until(&|| interrupt.requested(), &files, &out, args.force);
    if let Err(WriteError::Stopped) = written {
        interrupt.check(&format!("before {} was written; it is as it was", out.display()))?;
    }
    let written = written?;
    if !written.locked {
        ui.warn(format_args!(
            "{} has no locks: no other meshkv may write it at the same time",
            out.display()
        ));
    }
    for kept in &written.kept {
        ui.warn(format_args!("an edited file was replaced; its old text is in {kept}"));
    }
    let output = GenerateOutput {
        name: design.name,
        top: emit::TOP,
        dir: out.display().to_string(),
        files: written.files,
        kept: written.kept,
        unchanged: written.unchanged,
    };
    ui.result(&output, || output.files.iter().map(|file| format!("{}\n", file.path)).collect())?;
    let verb = if output.unchanged { "Already up to date:" } else { "Wrote" };
    ui.note(format_args!("{verb} {} files in {}", output.files.len(), output.dir));
    let config = args.config.display();
    ui.next(format_args!(
        "{}/doc/{}.md describes it; meshkv lint {config}, meshkv run {config}, meshkv estimate {config}",
        out.display(),
        output.name
    ));
    Ok(ExitCode::SUCCESS)
}
