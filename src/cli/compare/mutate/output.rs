//! The result of `meshkv mutate`, as JSON and in words.

use super::args::Args;
use crate::cli::output::table::columns;
use crate::eval::mutate::summary::{Counts, Summary};
use schemars::JsonSchema;
use serde::Serialize;

/// Result of `meshkv mutate`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct MutateOutput {
    /// Names of the configurations.
    designs: Vec<String>,
    /// Mutants that were to be drawn.
    count: u32,
    /// Seed of the draw.
    seed: u64,
    /// Counts, and survivors.
    #[serde(flatten)]
    summary: Summary,
    /// The command that goes on, or repeats it in another folder.
    command: String,
}

impl MutateOutput {
    pub(super) fn new(args: &Args, designs: Vec<String>, summary: Summary) -> MutateOutput {
        let module = match args.module.as_str() {
            "" => String::new(),
            part => format!(" --module {part}"),
        };
        let only = if args.drawn_only { " --drawn-only" } else { "" };
        let configs: Vec<String> = args.configs.iter().map(|config| config.display().to_string()).collect();
        let (configs, count, seed) = (configs.join(" "), args.count, args.seed);
        let command = format!("meshkv mutate {configs} --count {count} --seed {seed}{module}{only}");
        MutateOutput { designs, count, seed, summary, command }
    }
}

fn row(of: &Counts) -> Vec<String> {
    let share = match of.findable() {
        0 => "-".to_owned(),
        most => format!("{:.1} %", 100.0 * f64::from(of.found) / f64::from(most)),
    };
    let counts = [of.tried, of.found, of.absent, of.equal, of.explained, of.survived];
    let cells = counts.iter().map(u32::to_string);
    std::iter::once(of.block.clone()).chain(cells).chain([share]).collect()
}

/// The result in words.
pub(super) fn prose(output: &MutateOutput) -> String {
    let summary = &output.summary;
    let head = ["block", "tried", "found", "absent", "equal", "explained", "survived", "share"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(summary.blocks.iter().map(row));
    rows.extend([&summary.listed, &summary.all].map(row));
    let mut text = format!("{}\n", columns(&rows));
    for (check, count) in &summary.by_check {
        text += &format!("  {check}: {count}\n");
    }
    for survivor in &summary.survivors {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let seen = if survivor.differed { "had another value" } else { "never had another value" };
        text += &format!(
            "\n  {} {}:{}, {} ({seen})\n    {}\n    {}\n",
            survivor.number,
            survivor.module,
            survivor.line,
            survivor.kind,
            one_line(&survivor.original),
            one_line(&survivor.mutated)
        );
        if let Some(why) = &survivor.explained {
            text += &format!("    explained: {why}\n");
        }
    }
    text + &format!("\n  {}\n", output.command)
}
