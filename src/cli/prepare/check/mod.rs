//! `meshkv check`: validates a configuration and prints what follows from it.

mod deadlock;
mod output;
mod placement;
mod throughput;

use output::ChannelRow;
pub(in crate::cli) use output::CheckOutput;

use crate::cli::output::described;
use crate::cli::output::diagnostics::{self, sarif};
use crate::cli::output::table;
use crate::cli::output::ui::Ui;
use crate::cli::program::scope::{Only, Scope};
use crate::design::network::deadlock::Rules;
use crate::design::Design;
use crate::eval;
use crate::tools::whole_file;
use std::path::PathBuf;
use std::process::ExitCode;

/// Validate a configuration and print what follows from it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv check configs/tiny.toml
  meshkv check configs/tiny.toml --json | jq .blocks_per_tile
  meshkv check configs/u280_8x8.toml --deadlock
  meshkv check configs/meshkv.toml --placement --svg placement.svg
  meshkv check configs/meshkv.toml --sarif check.sarif")]
pub struct Args {
    /// Configuration file
    #[arg(value_name = "CONFIG", value_hint = clap::ValueHint::FilePath)]
    config: PathBuf,
    /// Also build the graph of which buffer can wait for which, through routers and tiles, and
    /// look for cycles: within each class of flit, and from requests to replies. With a cycle
    /// the exit code is 1
    #[arg(long)]
    deadlock: bool,
    /// Also show where macro-blocks land: how many each tile homes, and where the first segments
    /// of the first layers live
    #[arg(long)]
    placement: bool,
    /// Write that as a picture, too; an existing file is replaced
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    svg: Option<PathBuf>,
    /// Write errors and warnings as SARIF, for code hosts and editors; an existing file is replaced
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    sarif: Option<PathBuf>,
}

/// Where options have an effect.
pub(in crate::cli) const SCOPES: &[Scope] =
    &[Scope { of: &["svg"], only: &[Only::With(&["placement"])], why: "" }];

/// Runs the subcommand.
///
/// # Errors
/// All problems of the configuration; or when standard output or the picture cannot be written.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    if let Some(path) = &args.sarif {
        whole_file::spares(path, &[("the configuration", &args.config)])?;
    }
    let loaded = crate::cli::load::load_for_the_card(&args.config, ui);
    if let Some(path) = &args.sarif {
        // A configuration with errors has a file, too: there it is needed most.
        let report = match &loaded {
            Ok((_, warnings)) => warnings,
            Err(report) => report,
        };
        sarif::write(path, &diagnostics::of_report(report))?;
        ui.note(format_args!("wrote {}", path.display()));
    }
    let (design, warnings) = loaded?;
    let found = args.deadlock.then(|| crate::design::network::deadlock::check(&design, &Rules::of(&design)));
    let mut output = CheckOutput::new(&design, &warnings);
    output.throughput = throughput::rows(&design);
    output.deadlock = found.as_ref().map(deadlock::output);
    output.placement = args.placement.then(|| placement::output(&design));
    if let Some(path) = &args.svg {
        whole_file::spares(path, &[("the configuration", &args.config)])?;
        whole_file::write(path, eval::placement_picture(&design).as_bytes(), true)?;
        ui.note(format_args!("wrote {}", path.display()));
    }
    ui.result(&output, || {
        let waits = found.as_ref().map(deadlock::prose).unwrap_or_default();
        let homes = if args.placement { placement::prose(&design) } else { String::new() };
        format!("{}{waits}{homes}", prose(&design, &output))
    })?;
    ui.next(format_args!("meshkv generate {}", args.config.display()));
    let failed = found.is_some_and(|found| !deadlock::acyclic(&found));
    Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Channels of the card, those that hold the same together.
fn channels(design: &Design, rows: &[ChannelRow]) -> String {
    let mut text = format!(
        "Memory channels of the card, as the host's library lays out the cache: at most {:.0} of {} GB/s{}\n",
        design.balanced_gbs(),
        design.memory.bandwidth_gbs,
        design.memory.refresh.map_or(String::new(), |refresh| format!(
            ", of which refresh leaves {:.1} %",
            100.0 * refresh.left()
        ))
    );
    for same in rows.chunk_by(|a, b| (a.homes, a.bytes) == (b.homes, b.bytes)) {
        let (first, last) = (same[0].channel, same[same.len() - 1].channel);
        let names = if first == last { format!("{first}") } else { format!("{first} to {last}") };
        let holds = match same[0].homes {
            0 => "nothing".to_owned(),
            1 => format!("1 home, {}", table::size(same[0].bytes as f64)),
            homes => format!("{homes} homes, {}", table::size(same[0].bytes as f64)),
        };
        text += &format!(
            "  {names}: {holds}{}\n",
            if same.len() > 1 && same[0].homes > 0 { " each" } else { "" }
        );
    }
    text
}

fn prose(design: &Design, output: &CheckOutput) -> String {
    let mesh = design.mesh;
    let facts = described::fields(&output.facts).into_iter();
    let facts = facts.map(|(name, number, doc)| vec![name, number.to_string(), doc]);
    let heading = ["bundle", "class", "field", "bits", "width", "meaning"].map(str::to_owned).to_vec();
    let fields = output.flit.iter().map(|row| {
        let bits = match row.width {
            1 => format!("[{}]", row.offset),
            width => format!("[{}:{}]", row.offset + width - 1, row.offset),
        };
        let [bundle, class, name, doc] = [row.bundle, row.class, row.name, row.doc].map(str::to_owned);
        vec![bundle, class, name, bits, row.width.to_string(), doc]
    });
    format!(
        "{}: {} x {} tiles, {}-bit flits\n{}\n{}\n{}\nA flit on its wires:\n{}",
        design.name,
        mesh.cols(),
        mesh.rows(),
        design.flit.data_width,
        table::columns(&facts.collect::<Vec<_>>()),
        channels(design, &output.channels),
        throughput::prose(design, &output.throughput),
        table::columns(&std::iter::once(heading).chain(fields).collect::<Vec<_>>())
    )
}
