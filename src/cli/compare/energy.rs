//! The file of energies and of tiers of external memory.

use crate::design::{Design, Illegal};
use crate::eval::{EnergyTable, Tier};
use crate::tools::input;
use anyhow::{anyhow, Context};
use std::path::Path;

/// Size of such a file at most.
const MOST_BYTES: u64 = 1 << 20;

/// The table of a file, or the one that ships with the program.
///
/// # Errors
/// When the file cannot be read, or is no such table.
pub(in crate::cli) fn table(file: Option<&Path>) -> anyhow::Result<EnergyTable> {
    let Some(file) = file else { return Ok(EnergyTable::published().clone()) };
    let read = || format!("cannot read the file of energies {}", file.display());
    let text = String::from_utf8(input::read(file, MOST_BYTES).with_context(read)?).with_context(read)?;
    EnergyTable::parse(&text).map_err(|error| anyhow!("{}: {error}", file.display()))
}

/// A design with another external memory.
///
/// # Errors
/// If the fabric cannot work with it.
pub(in crate::cli) fn with_tier(design: Design, tier: &Tier) -> anyhow::Result<Design> {
    let mut config = design.configuration().clone();
    (config.memory.bandwidth_gbs, config.memory.latency_ns) = (tier.bandwidth_gbs, tier.latency_ns);
    Design::from_config(&design.name, &config)
        .map_err(|Illegal(findings)| anyhow!("with this tier of memory: {}", findings[0].sentence(true)))
}
