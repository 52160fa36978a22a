//! `meshkv schema`: the JSON Schema of the configuration, or of what a subcommand prints under `--json`.

mod output;

use crate::cli::output::ui::Ui;
use crate::config;
use output::Of;
use std::process::ExitCode;

/// Print the JSON Schema of the configuration, or of the output of a subcommand
///
/// The schema of the configuration is for editors. The schema of an output has every key with its meaning and unit; no
/// other key is ever printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv schema > meshkv.schema.json
  then, as the first line of a configuration:  #:schema ./meshkv.schema.json
  meshkv schema --output decode                what `meshkv decode --json` prints
  meshkv schema --output decode | jq '.anyOf[0].properties | map_values(.description)'")]
pub struct Args {
    /// Subcommand whose output under --json is described; sweep-row is a line of rows.jsonl
    #[arg(long, value_enum, value_name = "NAME")]
    output: Option<Of>,
}

/// Runs the subcommand.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let mut schema = args.output.map_or_else(config::json_schema, Of::schema);
    schema["$comment"] = concat!("meshkv ", env!("CARGO_PKG_VERSION")).into();
    // A schema is JSON with and without `--json`.
    ui.print(&format!("{schema:#}\n"))?;
    Ok(ExitCode::SUCCESS)
}
