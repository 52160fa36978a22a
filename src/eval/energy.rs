//! Energy of a decode step: counted activities times published energies.
//!
//! The energies and the tiers of external memory are a file, `energy/published.toml`, which ships with the program and
//! can be replaced. The published figures are of ASICs in different processes. They compare configurations on one
//! scale. They do not predict the power of an FPGA.

use crate::config::KvFormat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The file that ships with the program.
const PUBLISHED: &str = include_str!("../../energy/published.toml");

/// Name of the tier that memory is unless somebody names another.
pub const DEFAULT_TIER: &str = "hbm";

/// A file of energies.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnergyTable {
    link: PerBit,
    sram: PerBit,
    mac: PerMac,
    memory: BTreeMap<String, Tier>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct PerBit {
    pj_per_bit: f64,
    source: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct PerMac {
    pj: f64,
    /// Of an INT8 element; as `pj` where a file does not say.
    pj_int8: Option<f64>,
    source: String,
}

/// A kind of external memory.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// Energy of a bit read, in pJ.
    pub pj_per_bit: f64,
    /// Bandwidth of all of it, in GB/s.
    pub bandwidth_gbs: f64,
    /// Latency of a read, in ns.
    pub latency_ns: f64,
    /// Where these figures are from.
    pub source: String,
}

/// Reason why a file of energies is not taken.
#[derive(Debug, thiserror::Error)]
pub enum EnergyError {
    /// It is no such file.
    #[error("{0}\n  help: energy/published.toml of the program has every key")]
    Syntax(#[from] toml::de::Error),
    /// A number that is no amount.
    #[error("{key} is {value}, and must be a number above 0\n  help: energy/published.toml of the program has every key")]
    Number {
        /// Its key.
        key: String,
        /// Its value.
        value: f64,
    },
    /// A tier that the file does not have.
    #[error(
        "no tier of memory has the name {name}\n  help: the file has {known}; add [memory.{name}] to it"
    )]
    NoTier {
        /// Its name.
        name: String,
        /// Those that it has.
        known: String,
    },
}

impl EnergyTable {
    /// The file that ships with the program.
    ///
    /// # Panics
    /// If it is wrong: a slip in this crate.
    pub fn published() -> &'static EnergyTable {
        static TABLE: LazyLock<EnergyTable> =
            LazyLock::new(|| EnergyTable::parse(PUBLISHED).expect("the file that ships is right"));
        &TABLE
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// With its place, if a key is missing, unknown, or no amount.
    pub fn parse(text: &str) -> Result<EnergyTable, EnergyError> {
        let table: EnergyTable = toml::from_str(text)?;
        let mut numbers = vec![
            ("link.pj_per_bit".to_owned(), table.link.pj_per_bit),
            ("sram.pj_per_bit".to_owned(), table.sram.pj_per_bit),
            ("mac.pj".to_owned(), table.mac.pj),
            ("mac.pj_int8".to_owned(), table.mac.pj_int8.unwrap_or(table.mac.pj)),
        ];
        for (name, tier) in &table.memory {
            let key = |key: &str| format!("memory.{name}.{key}");
            numbers.push((key("pj_per_bit"), tier.pj_per_bit));
            numbers.push((key("bandwidth_gbs"), tier.bandwidth_gbs));
            numbers.push((key("latency_ns"), tier.latency_ns));
        }
        match numbers.into_iter().find(|(_, value)| !(value.is_finite() && *value > 0.0)) {
            Some((key, value)) => Err(EnergyError::Number { key, value }),
            None => Ok(table),
        }
    }

    /// A tier of memory.
    ///
    /// # Errors
    /// If the file has none of that name.
    pub fn tier(&self, name: &str) -> Result<&Tier, EnergyError> {
        let known = || self.memory.keys().cloned().collect::<Vec<_>>().join(", ");
        self.memory.get(name).ok_or_else(|| EnergyError::NoTier { name: name.to_owned(), known: known() })
    }

    /// Energies with a tier of memory, and a cache of a format.
    ///
    /// # Errors
    /// As [`EnergyTable::tier`].
    pub fn energies(&self, tier: &str, format: KvFormat) -> Result<Energies, EnergyError> {
        let of_int8 = self.mac.pj_int8.filter(|_| format == KvFormat::Int8);
        Ok(Energies {
            link_pj_per_bit: self.link.pj_per_bit,
            sram_pj_per_bit: self.sram.pj_per_bit,
            mac_pj: of_int8.unwrap_or(self.mac.pj),
            memory_pj_per_bit: self.tier(tier)?.pj_per_bit,
        })
    }

    /// Where they are from, in a line.
    ///
    /// # Errors
    /// As [`EnergyTable::tier`].
    pub fn sources(&self, tier: &str) -> Result<String, EnergyError> {
        let (link, sram, mac) = (&self.link.source, &self.sram.source, &self.mac.source);
        Ok(format!("link: {link}; SRAM: {sram}; MAC: {mac}; external memory: {}", self.tier(tier)?.source))
    }
}

/// Energies of single activities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Energies {
    /// A bit from one router to the next, through router and link, in pJ.
    pub link_pj_per_bit: f64,
    /// A bit read from or written into a memory of 32 KiB, about one URAM288, in pJ.
    pub sram_pj_per_bit: f64,
    /// A product of an element of the cache, added up, in pJ.
    pub mac_pj: f64,
    /// A bit read from external memory, in pJ.
    pub memory_pj_per_bit: f64,
}

impl Energies {
    /// Each over another's: what energies of links, SRAM, arithmetic and external memory grow by.
    pub fn over(&self, other: &Energies) -> [f64; 4] {
        [
            self.link_pj_per_bit / other.link_pj_per_bit,
            self.sram_pj_per_bit / other.sram_pj_per_bit,
            self.mac_pj / other.mac_pj,
            self.memory_pj_per_bit / other.memory_pj_per_bit,
        ]
    }
}

impl Energies {
    /// The published ones with the default tier, and a cache of a format.
    pub fn published(format: KvFormat) -> Energies {
        let table = EnergyTable::published();
        table.energies(DEFAULT_TIER, format).expect("the file that ships has the default tier")
    }
}

impl Default for Energies {
    /// The published ones of FP16, with the default tier.
    fn default() -> Energies {
        Energies::published(KvFormat::Fp16)
    }
}

/// Activities of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Activity {
    /// Bits times router-to-router hops.
    pub link_bits: f64,
    /// Bits written into and read from staging memories and the tiles' FIFOs.
    pub sram_bits: f64,
    /// Multiplications with their additions.
    pub macs: f64,
    /// Bits read from external memory.
    pub memory_bits: f64,
}

/// Energy in nJ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Energy {
    /// Routers and links, in nJ.
    pub link: f64,
    /// Staging memories and FIFOs, in nJ.
    pub sram: f64,
    /// Arithmetic, in nJ.
    pub mac: f64,
    /// External memory, in nJ.
    pub external_memory: f64,
    /// Total, in nJ.
    pub total: f64,
}

impl Energies {
    /// Energy of some activities.
    pub fn of(&self, done: &Activity) -> Energy {
        let link = done.link_bits * self.link_pj_per_bit / 1000.0;
        let sram = done.sram_bits * self.sram_pj_per_bit / 1000.0;
        let mac = done.macs * self.mac_pj / 1000.0;
        let external_memory = done.memory_bits * self.memory_pj_per_bit / 1000.0;
        Energy { link, sram, mac, external_memory, total: link + sram + mac + external_memory }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energies_add_up() {
        let done = Activity { link_bits: 8000.0, sram_bits: 640.0, macs: 500.0, memory_bits: 1000.0 };
        let energy = Energies::default().of(&done);
        assert_eq!((energy.link, energy.sram, energy.mac, energy.external_memory), (0.15, 0.2, 1.0, 3.92));
        assert!((energy.total - 5.27).abs() < 1e-12);
    }

    #[test]
    fn a_product_of_int8_costs_less_where_the_file_says_so() {
        let mac = |text: &str, format| {
            EnergyTable::parse(text).unwrap().energies(DEFAULT_TIER, format).unwrap().mac_pj
        };
        assert_eq!((mac(PUBLISHED, KvFormat::Fp8E4m3), mac(PUBLISHED, KvFormat::Int8)), (2.0, 0.5));
        assert_eq!(mac(&PUBLISHED.replace("pj_int8 = 0.5\n", ""), KvFormat::Int8), 2.0);
    }

    #[test]
    fn a_wrong_file_is_refused_with_its_place_and_the_way_out() {
        let of = |from: &str, to: &str| {
            assert!(PUBLISHED.contains(from), "{from}");
            EnergyTable::parse(&PUBLISHED.replacen(from, to, 1)).unwrap_err().to_string()
        };
        let negative = of("pj_per_bit = 0.3125", "pj_per_bit = -1.0");
        assert!(negative.starts_with("sram.pj_per_bit is -1, and must be"), "{negative}");
        let unknown = of("pj = 2.0", "joule = 2.0");
        assert!(unknown.contains("line 14") && unknown.contains("unknown field `joule`"), "{unknown}");
        let tier = EnergyTable::published().tier("dram").unwrap_err().to_string();
        assert!(tier.contains("the file has ddr, hbm; add [memory.dram]"), "{tier}");
    }
}
