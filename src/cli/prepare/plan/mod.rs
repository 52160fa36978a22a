//! `meshkv plan`: how a model whose cache exceeds the memory of one card is spread over several.

mod report;

pub(in crate::cli) use report::PlanOutput;

use crate::cli::output::ui::Ui;
use crate::eval::scale::{plan_cards, plan_widths, Load, PCIE_GEN3_X16_GBS};
use std::path::PathBuf;
use std::process::ExitCode;

/// Plan how a model is spread over several cards: by layers, by heads or by tokens
///
/// For each way: the caches of the fullest card and whether its memory holds them, the bytes between hosts and cards in a
/// decode step, the least time of a step, and the part that bounds it. Every card has the fabric of the configuration, with
/// keys of `model` for its share. Ends with exit code 1 if no way is possible with so many cards.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv plan configs/llama2_7b.toml --cards 4
  meshkv plan configs/mistral_7b.toml --cards 4 --tokens 32768 --batch 8
  meshkv plan configs/u280_4x8.toml --cards 2 --layers 32            the card's fabric, a whole model
  meshkv plan configs/llama2_7b.toml --cards 2 --json | jq '{best, ways: [.ways[] | {way, refused, least_cards}]}'")]
pub struct Args {
    /// Configuration file
    #[arg(value_name = "CONFIG", value_hint = clap::ValueHint::FilePath)]
    config: PathBuf,
    /// Cards, each with a link of its own to its host
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    cards: u32,
    /// Tokens in the cache of every stream [default: model.max_tokens]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    tokens: Option<u32>,
    /// Streams that decode at once
    #[arg(long, value_name = "B", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    batch: u32,
    /// Layers of the model, where the configuration has those of one card [default: model.layers]
    #[arg(long, value_name = "L", value_parser = clap::value_parser!(u32).range(1..=4096))]
    layers: Option<u32>,
    /// Rate of the link between a host and its card, in GB/s. The default is a usual rate of DMA over PCIe Gen3 x16, whose
    /// lanes carry 15.75
    #[arg(long, value_name = "GB/S", default_value_t = PCIE_GEN3_X16_GBS, value_parser = rate)]
    link_gbs: f64,
}

/// A rate above 0.
fn rate(text: &str) -> Result<f64, String> {
    let found = text.trim().parse().ok().filter(|&gbs: &f64| gbs > 0.0 && gbs.is_finite());
    found.ok_or_else(|| "write GB/s above 0, for example 12".to_owned())
}

/// Runs the subcommand.
///
/// # Errors
/// All problems of the configuration; or when standard output cannot be written.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let (design, _) = crate::cli::load::load(&args.config, ui)?;
    let load = Load {
        cards: args.cards,
        tokens: args.tokens.unwrap_or(design.model.max_tokens),
        batch: args.batch,
        layers: args.layers,
        link_gbs: args.link_gbs,
    };
    let plan = plan_cards(&design, &load);
    let output = PlanOutput { name: design.name.clone(), plan, widths: plan_widths(&design, &load) };
    ui.result(&output, || report::prose(&output))?;
    if output.plan.best.is_some() {
        return Ok(ExitCode::SUCCESS);
    }
    ui.error(report::why_not(&output.plan));
    Ok(ExitCode::FAILURE)
}
