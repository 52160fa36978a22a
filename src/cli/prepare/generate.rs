//! `meshkv generate`: writes the files of a design to a folder.

use crate::cli::output::ui::Ui;
use crate::design::Design;
use crate::emit::{self, Comparison, Origin, SourceFile, WriteError, WrittenFile};
use crate::tools::interrupt::Interrupt;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Generate the Verilog, file lists and documentation of a configuration
///
/// The folder is written whole or not at all; one that cannot be replaced, such as a mount point, gets the files one
/// by one, and the same command finishes what was stopped. Files that meshkv did not write are never
/// touched, and files that were edited since are replaced only with --force, which keeps the
/// edits beside them.
/// With --check nothing is written, and the exit code is 1 if the folder differs from the generated files.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv generate configs/tiny.toml
  meshkv generate configs/tiny.toml -o rtl_out/tiny
  meshkv generate configs/tiny.toml -o rtl_out/tiny --check
  meshkv generate configs/tiny.toml -o rtl_out/tiny --json | jq -r '.files[].path'")]
pub struct Args {
    /// Configuration file
    #[arg(value_name = "CONFIG", value_hint = clap::ValueHint::FilePath)]
    config: PathBuf,
    /// Folder to write [default: one below out/, named after the file]
    #[arg(short, long, alias = "out", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    output: Option<PathBuf>,
    /// Replace generated files that were edited
    #[arg(long)]
    force: bool,
    /// Write nothing: list the files that differ, are missing or are too many, and end with exit code
    /// 1 if there are any
    #[arg(long, conflicts_with = "force")]
    check: bool,
}

/// The folder after it was written, or checked.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct GenerateOutput {
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
    /// What `--check` found.
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<Comparison>,
}

/// Runs the subcommand.
///
/// # Errors
/// All problems of the configuration, or the reason why nothing could be written.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let (design, _) = crate::cli::load::load_for_the_card(&args.config, ui)?;
    let interrupt = Interrupt::listen()?;
    let out = args.output.clone().unwrap_or_else(|| PathBuf::from("out").join(&design.name));
    let files = emit::emit(&design)?;
    if args.check {
        return check(args, &design, &files, &out, ui);
    }
    let content = (&files[..], Some(&Origin::of(&design)));
    let written = emit::write_until(&|| interrupt.requested(), content, &out, args.force);
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
        check: None,
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

/// Compares the folder with the files, and lists what differs.
fn check(
    args: &Args,
    design: &Design,
    files: &[SourceFile],
    out: &Path,
    ui: &Ui,
) -> anyhow::Result<ExitCode> {
    let origin = Origin::of(design);
    let found = emit::compare(files, Some(&origin), out)?;
    let count = found.count();
    let output = GenerateOutput {
        name: design.name.clone(),
        top: emit::TOP,
        dir: out.display().to_string(),
        files: emit::digests(files),
        kept: Vec::new(),
        unchanged: found.is_empty(),
        check: Some(found),
    };
    ui.result(&output, || output.check.as_ref().map(list).unwrap_or_default())?;
    if output.unchanged {
        ui.note(format_args!("Up to date: {} files in {}", output.files.len(), output.dir));
        return Ok(ExitCode::SUCCESS);
    }
    let folder = args.output.as_ref().map_or_else(String::new, |out| format!(" -o {}", out.display()));
    ui.note(format_args!("{count} files of {} are not what {} gives", output.dir, args.config.display()));
    ui.next(format_args!("meshkv generate {}{folder}", args.config.display()));
    Ok(ExitCode::from(1))
}

/// A line for each file that differs, in the order of their paths.
fn list(found: &Comparison) -> String {
    let different = found.different.iter().map(|file| {
        let how = if file.edited { "edited" } else { "differs" };
        (&file.path, how)
    });
    let missing = found.missing.iter().map(|path| (path, "missing"));
    let extra = found.extra.iter().map(|path| (path, "extra"));
    let mut lines: Vec<_> = different.chain(missing).chain(extra).collect();
    lines.sort();
    lines.iter().map(|(path, how)| format!("{how:<8} {path}\n")).collect()
}
