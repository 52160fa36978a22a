//! A model whose cache exceeds the memory of one card, spread over several.
//!
//! Each [`Way`] gives every card a share of the model. A card's share is a configuration: that of the fabric
//! with other `model` keys. Caches, least times and refusals follow from its design, as those of a single
//! card do.

mod plan;
mod share;
mod time;
mod traffic;
mod widths;

pub use plan::{plan_cards, CacheOfCard, CardsPlan, Dealt, Load, ShareOfCard, WayPlan};
pub use share::Way;
pub use time::{StepBounds, StepTime};
pub use traffic::Traffic;
pub use widths::{plan_widths, WidthsPlan};

/// Usual rate of a card's DMA over PCIe Gen3 x16, in GB/s. The lanes carry 15.75: 16 x 8 GT/s at 128 of
/// 130 bits. Headers of packets and the engine take the rest.
pub const PCIE_GEN3_X16_GBS: f64 = 12.0;
