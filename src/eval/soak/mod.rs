//! Random designs with random loads, for model and Verilog in lockstep.
//!
//! * `network`: routers alone, under eight runs of traffic;
//! * `storm`: routers with transports, under storms of fetches;
//! * `fabric`: the whole fabric, under decode steps;
//! * `device`: the front in Verilog before a model of the core, whose host and memory do what they must not.
//!
//! Beside them are runs and steps of drawn shapes, whose cycles are set beside forecasts: [`drawn_run`], [`drawn_step`].

mod device;
pub(super) mod drawn_run;
pub(super) mod drawn_step;
mod fabric;
mod network;
mod storm;

pub use device::{SoakDevice, BY_DEVICES};
pub use fabric::SoakFabric;
pub use network::{take, SoakCase, SoakRun};
pub use storm::SoakStorm;

use crate::config::{Config, KvFormat, KvScales, Narrow};
use crate::cosim::hash::mix;
use crate::cosim::workloads::shuffled;
use crate::design::Design;
use crate::model::cycle::common::Rare;

/// Rare states that these cases do not reach. Steps that overlap name slices again. A home has no second token before the
/// first is in its slice. Tiles have fewer ranges at once than a home parks.
pub const BEYOND: [Rare; 4] = [Rare::NextOfName, Rare::NameAwaited, Rare::TokenAwaited, Rare::QueueFull];

/// Draws of a configuration: an illegal one is drawn again.
const DRAWS: usize = 1000;
/// The same of pages.
const OF_PAGES: u64 = 0x7061_6765_7300;
/// What the seed of a format has other than that of its case, so that all else is drawn as without formats.
const OF_FORMATS: u64 = 0x666f_726d_6174;

/// The first legal configuration that is drawn, and its design.
///
/// # Panics
/// If no draw is legal, which no seed is known to cause.
fn legal(draw: &mut Draw, config: fn(&mut Draw) -> Config) -> (Config, Design) {
    let mut designs = (0..DRAWS).filter_map(|_| {
        let config = config(draw);
        Design::from_config("soak", &config).ok().map(|design| (config, design))
    });
    designs.next().expect("a legal design is drawn")
}

/// The same, in one of three cases with elements that are not FP16.
fn legal_in_a_format(seed: u64, draw: &mut Draw, config: fn(&mut Draw) -> Config) -> Design {
    let (mut config, design) = legal(draw, config);
    let mut draw = Draw::new(seed ^ OF_FORMATS);
    if !draw.one_in(3) {
        return design;
    }
    config.kv.format = draw.of(&[KvFormat::Bf16, KvFormat::Fp8E4m3, KvFormat::Fp8E5m2, KvFormat::Int8]);
    config.kv.scales = draw.of(&[KvScales::Auto, KvScales::Auto, KvScales::None]);
    if config.kv.format == KvFormat::Int8 {
        config.pe.narrow = draw.of(&Narrow::ALL);
    }
    if matches!(config.kv.format, KvFormat::Int8 | KvFormat::Fp8E4m3) && draw.one_in(2) {
        config.kv.scales = KvScales::Token;
    }
    // Not every segment has a legal form in eight bits.
    Design::from_config("soak", &config).unwrap_or(design)
}

/// The design, in one of four cases with its cache in pages, in a drawn order.
fn in_pages(seed: u64, design: Design) -> Design {
    let mut draw = Draw::new(seed ^ OF_PAGES);
    if !draw.one_in(4) {
        return design;
    }
    let mut config = design.configuration().clone();
    config.kv.pages = true;
    // Up to a table in UltraRAM.
    config.kv.caches = Some(config.model.max_streams + draw.of(&[0, 1, 3, 60]));
    // Not every pool fits the memory.
    Design::from_config("soak", &config).map_or(design, |paged| shuffled(paged, seed))
}

/// Seed of a further part of a case.
fn part_seed(seed: u64, part: u64) -> u64 {
    mix(seed) ^ mix(part)
}

/// The format of a case's elements in its title, and its pages; nothing of FP16.
fn format_of(design: &Design) -> String {
    let pages = if design.pages.is_some() { ", in pages" } else { "" };
    match design.pe.format {
        KvFormat::Fp16 => pages.to_owned(),
        format => format!(" in {}{pages}", format.name()),
    }
}

/// Draws numbers from a seed.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Draw {
        Draw(mix(seed))
    }

    /// A number from `from` to `to`.
    pub(super) fn from(&mut self, from: u32, to: u32) -> u32 {
        self.0 = mix(self.0);
        from + (self.0 >> 32) as u32 % (to - from + 1)
    }

    pub(super) fn one_in(&mut self, n: u32) -> bool {
        self.from(1, n) == 1
    }

    pub(super) fn of<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.from(0, items.len() as u32 - 1) as usize].clone()
    }
}
