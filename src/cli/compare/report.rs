//! `meshkv report`: makes tables, pictures and one page from the rows of sweeps.

use crate::cli::compare::sweep::Meta;
use crate::cli::output::pictures::Pictures;
use crate::cli::output::table;
use crate::cli::output::ui::Ui;
use crate::eval::grid::parse_line;
use crate::eval::report::{
    choose, figures, groups, page, pareto_figures, tradeoffs, Chosen, Group, Page, Rows, Tradeoff, Wanted,
};
use crate::eval::sweep::store::{META, ROWS};
use crate::eval::Spread;
use crate::tools::whole_file;
use anyhow::{bail, Context};
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Name of the page.
const PAGE: &str = "report.html";

/// Make tables, pictures and one HTML page of the rows of sweeps
///
/// Points that differ in their seed alone are one figure with a 95 % interval. Traffic is plotted over the load, decode steps as bars;
/// --x, --y and --by choose otherwise. The page needs no network and no other file. Sweeps that are named together
/// are compared, and must have run the same kind of workload.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv report out/latency_load
  meshkv report out/latency_load --y latency_p99 --where packet=1
  meshkv report out/mesh_sizes --x mesh --by pattern --where load=0.03
  meshkv report out/ablations --baseline takv.placement=hub --y traffic --y energy_nj
  meshkv report out/before out/after -o out/compared")]
pub struct Args {
    /// Folders that `meshkv sweep` has filled
    #[arg(value_name = "DIR", required = true, value_hint = clap::ValueHint::DirPath)]
    dirs: Vec<PathBuf>,
    /// Folder for the page and the pictures [default: `report` in the first DIR]
    #[arg(short, long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    output: Option<PathBuf>,
    /// Label along the x axis, for example load or mesh [default: load; of decode steps the first that varies]
    #[arg(long, value_name = "LABEL", help_heading = "Choice")]
    x: Option<String>,
    /// What is plotted; a figure each, may be repeated [default: latency_mean and accepted; of decode steps latency_us, tokens_per_second, step_cycles and traffic]
    #[arg(long, value_name = "METRIC", help_heading = "Choice")]
    y: Vec<String>,
    /// Label that tells series apart; may be repeated [default: all that vary]
    #[arg(long, value_name = "LABEL", help_heading = "Choice")]
    by: Vec<String>,
    /// Only rows with this value; may be repeated
    #[arg(long = "where", value_name = "KEY=VALUE", value_parser = pair, help_heading = "Choice")]
    only: Vec<(String, String)>,
    /// Plot what is relative to the rows with this value and otherwise the same labels and seed
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair, help_heading = "Choice")]
    baseline: Option<(String, String)>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()));
    pair.filter(|(key, value)| !key.is_empty() && !value.is_empty())
        .ok_or_else(|| "write a label and its value, for example pattern=uniform".to_owned())
}

/// A report on rows.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct ReportOutput<'a> {
    /// Label along the x axis.
    x: &'a str,
    /// Metrics; their units are in `sweep.json` and in the schema of `sweep`.
    y: Vec<&'a str>,
    /// Labels that distinguish series.
    by: &'a [String],
    /// Rows that metrics are relative to, as KEY=VALUE; null if metrics are as measured.
    baseline: Option<&'a str>,
    /// The command that repeats this report.
    command: &'a str,
    /// A series at one x each.
    points: Vec<PointOutput<'a>>,
    /// The fastest configuration that fits, for each workload; only of rows with areas.
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<Vec<BestOutput<'a>>>,
}

/// The fastest configuration that fits, of all under one workload.
#[derive(Debug, Serialize, JsonSchema)]
struct BestOutput<'a> {
    /// The workload, by the labels of it that vary.
    workload: &'a str,
    /// The configuration, by the labels of it that vary; null if none fits.
    configuration: Option<&'a str>,
    /// Microseconds of a whole step, with their error.
    latency_us: Option<Spread>,
    /// Share of what is fullest on the device.
    fullest: Option<f64>,
    /// True if its periods before placement are no longer than the configuration asks for.
    clocks_met: Option<bool>,
    /// Names of those that nobody beats in both time and area, the fastest first.
    front: Vec<&'a str>,
}

/// The rows of one series at one x: they differ in their seed alone.
#[derive(Debug, Serialize, JsonSchema)]
struct PointOutput<'a> {
    /// Values of the labels of `by`, as the rows have them.
    #[schemars(schema_with = "labels")]
    series: &'a [Value],
    /// Value of the label of `x`, as the rows have it.
    #[schemars(schema_with = "label")]
    x: &'a Value,
    /// Seeds of its rows.
    seeds: &'a [u64],
    /// Each metric of `y`; null if no row has it.
    y: &'a [Option<Spread>],
    /// True if a row is a lower bound, because not all of its sample arrived.
    bound: bool,
    /// Zero-load latency in cycles, for traffic.
    zero_load: Option<f64>,
}

fn label(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["number", "string", "boolean", "null"] })
}

fn labels(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": label(generator) })
}

/// Runs the subcommand.
///
/// # Errors
/// A folder that holds no rows, a choice that the rows cannot meet, or a folder that cannot be written.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let mut sweeps = Vec::new();
    let mut warnings = Vec::new();
    let mut rows: Option<Rows> = None;
    for dir in &args.dirs {
        let (meta, lines) = read(dir)?;
        let all = rows.get_or_insert_with(|| Rows::new(meta.kind));
        if all.kind != meta.kind {
            bail!(
                "{} ran another kind of workload than {}\n  help: report each alone",
                dir.display(),
                args.dirs[0].display()
            );
        }
        if lines.len() < meta.points {
            warnings.push(format!("{} has {} of its {} rows.", meta.name, lines.len(), meta.points));
        }
        let violations: u64 = lines.iter().filter_map(|row| row.get("violations")?.as_u64()).sum();
        if violations > 0 {
            warnings.push(format!(
                "The rows of {} have {violations} violations: the fabric was wrong.",
                meta.name
            ));
        }
        all.add(&meta.name, &meta.columns, lines);
        sweeps.push(meta);
    }
    warnings.iter().for_each(|warning| ui.warn(warning));
    let rows = rows.filter(|rows| !rows.rows.is_empty());
    let rows = rows.context("there is no row yet\n  help: run the sweep first")?;
    let wanted = Wanted {
        x: args.x.clone(),
        y: args.y.clone(),
        by: args.by.clone(),
        only: args.only.clone(),
        baseline: args.baseline.clone(),
    };
    let chosen = choose(&rows, &wanted)?;
    let groups = groups(&chosen);
    let title = sweeps.iter().map(|meta| meta.name.as_str()).collect::<Vec<_>>().join(", ");
    let mut drawn = figures(&title, &chosen, &groups)?;
    let tradeoffs = tradeoffs(&chosen);
    drawn.splice(0..0, pareto_figures(&title, &tradeoffs)?);
    let best: Vec<String> = tradeoffs.iter().map(Tradeoff::words).collect();
    let said = Page {
        title: title.clone(),
        command: args.command(&chosen),
        sweeps: sweeps
            .into_iter()
            .map(|meta| [meta.name, meta.command, meta.meshkv.version.into_owned(), meta.text])
            .collect(),
        warnings,
        best: best.clone(),
    };
    let html = page(&said, &chosen, &groups, &drawn).context("the page could not be written")?;
    let output = args.output.clone().unwrap_or_else(|| args.dirs[0].join("report"));
    let pictures = Pictures::open(&output)?;
    let svgs: Vec<(&str, String)> =
        drawn.iter().map(|figure| (figure.name.as_str(), figure.svg.clone())).collect();
    pictures.write(&svgs, ui)?;
    let path = output.join(PAGE);
    whole_file::write(&path, html.as_bytes(), true)?;
    ui.note(format_args!("wrote {}", path.display()));
    ui.result(&output_of(&said, &chosen, &groups, &tradeoffs), || {
        let lines: String = best.iter().map(|line| format!("{line}\n")).collect();
        prose(&chosen, &groups) + &lines
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Description of a folder, and its rows.
fn read(dir: &Path) -> anyhow::Result<(Meta, Vec<serde_json::Map<String, serde_json::Value>>)> {
    let file = |name: &str| {
        let path = dir.join(name);
        fs::read_to_string(&path).with_context(|| {
            format!("{} is not a folder of `meshkv sweep`: cannot read {}", dir.display(), path.display())
        })
    };
    let meta: Meta = serde_json::from_str(&file(META)?).with_context(|| {
        format!("{} is not what this meshkv writes\n  help: run the sweep again", dir.join(META).display())
    })?;
    // A line cut off by a killed sweep is ignored; the next sweep repairs it.
    let rows = file(ROWS)?.lines().filter_map(|line| parse_line(line).map(|(_, row)| row)).collect();
    Ok((meta, rows))
}

impl Args {
    /// The command that repeats this report.
    fn command(&self, chosen: &Chosen) -> String {
        let mut words = vec!["meshkv report".to_owned()];
        words.extend(self.dirs.iter().map(|dir| dir.display().to_string()));
        words.push(format!("--x {}", chosen.x));
        words.extend(chosen.y.iter().map(|column| format!("--y {}", column.name)));
        words.extend(chosen.by.iter().map(|key| format!("--by {key}")));
        words.extend(self.only.iter().map(|(key, value)| format!("--where {key}={value}")));
        words.extend(self.baseline.iter().map(|(key, value)| format!("--baseline {key}={value}")));
        words.join(" ")
    }
}

fn best_of(tradeoff: &Tradeoff) -> BestOutput<'_> {
    let best = tradeoff.best();
    BestOutput {
        workload: &tradeoff.workload,
        configuration: best.map(|best| best.name.as_str()),
        latency_us: best.map(|best| best.us),
        fullest: best.map(|best| best.fullest),
        clocks_met: best.map(|best| best.clocks_met),
        front: tradeoff.front().iter().map(|candidate| candidate.name.as_str()).collect(),
    }
}

fn output_of<'a>(
    page: &'a Page,
    chosen: &'a Chosen,
    groups: &'a [Group],
    tradeoffs: &'a [Tradeoff],
) -> ReportOutput<'a> {
    let point = |group: &'a Group| {
        let series = chosen.by.len();
        PointOutput {
            series: &group.values[..series],
            x: &group.values[series],
            seeds: &group.seeds,
            y: &group.y,
            bound: group.bound,
            zero_load: group.zero_load,
        }
    };
    ReportOutput {
        x: &chosen.x,
        y: chosen.y.iter().map(|column| column.name.as_str()).collect(),
        by: &chosen.by,
        baseline: chosen.baseline.as_deref(),
        command: &page.command,
        points: groups.iter().map(point).collect(),
        best: (!tradeoffs.is_empty()).then(|| tradeoffs.iter().map(best_of).collect()),
    }
}

fn prose(chosen: &Chosen, groups: &[Group]) -> String {
    let heads = chosen.by.iter().chain([&chosen.x]).cloned();
    let metrics = chosen.y.iter().map(|column| match (&chosen.baseline, column.unit.as_str()) {
        (Some(_), _) => format!("{} / baseline", column.name),
        (None, "") => column.name.clone(),
        (None, unit) => format!("{} ({unit})", column.name),
    });
    let mut lines: Vec<Vec<String>> = vec![heads.chain(["seeds".to_owned()]).chain(metrics).collect()];
    for group in groups {
        let labels = group.series.iter().chain([&group.x]).cloned();
        let shown = |spread: &Option<Spread>| spread.map_or("-".to_owned(), Spread::text);
        lines.push(labels.chain([group.seeds.len().to_string()]).chain(group.y.iter().map(shown)).collect());
    }
    table::columns(&lines)
}
