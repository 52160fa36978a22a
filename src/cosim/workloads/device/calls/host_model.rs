//! A host and its link to the card: how long writes, reads and transfers take.
//!
//! The times are a file, `hosts/pcie3_x16.toml`, which ships with the program and can be replaced.

use super::doorbell::CallTimes;
use crate::cosim::memory::Behaviour;
use crate::design::Design;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The file that ships with the program.
const PCIE3_X16: &str = include_str!("../../../../../hosts/pcie3_x16.toml");

/// A host and its link to the card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostModel {
    /// Between the host's memory and the pins of the device.
    pub wire: Wire,
    /// What the processor spends.
    pub calls: CallCosts,
}

/// Times of the link itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wire {
    /// A posted write, from one side until the other can see it, in ns.
    pub write_ns: f64,
    /// A read by the card, from its request to the first data, in ns.
    pub read_ns: f64,
    /// A write by the card, until it is answered, in ns.
    pub answer_ns: f64,
    /// Payload to the card, in GB/s.
    pub to_card_gbs: f64,
    /// Payload to the host, in GB/s.
    pub to_host_gbs: f64,
    /// Where these figures are from.
    pub source: String,
}

/// Times of the host's processor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallCosts {
    /// A store to a register, in ns.
    pub register_write_ns: f64,
    /// A load from a register, in ns.
    pub register_read_ns: f64,
    /// A transfer of a buffer, without its bytes, in us.
    pub transfer_us: f64,
    /// Where these figures are from.
    pub source: String,
}

/// Reason why a file of a link is not taken.
#[derive(Debug, thiserror::Error)]
pub enum HostModelError {
    /// It is no such file.
    #[error("{0}\n  help: hosts/pcie3_x16.toml of the program has every key")]
    Syntax(#[from] toml::de::Error),
    /// A number that is no time or rate.
    #[error(
        "{key} is {value}, and must be {rule}\n  help: hosts/pcie3_x16.toml of the program has every key"
    )]
    Number {
        /// Its key.
        key: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        rule: &'static str,
    },
}

impl HostModel {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// If a key is missing or unknown, a rate is not above 0, or a time is negative.
    pub fn parse(text: &str) -> Result<HostModel, HostModelError> {
        let model: HostModel = toml::from_str(text)?;
        let HostModel { wire, calls } = &model;
        let times = [
            ("wire.write_ns", wire.write_ns),
            ("wire.read_ns", wire.read_ns),
            ("wire.answer_ns", wire.answer_ns),
            ("calls.register_write_ns", calls.register_write_ns),
            ("calls.register_read_ns", calls.register_read_ns),
            ("calls.transfer_us", calls.transfer_us),
        ];
        let rates = [("wire.to_card_gbs", wire.to_card_gbs), ("wire.to_host_gbs", wire.to_host_gbs)];
        for (key, value) in times {
            if !(0.0..=1e9).contains(&value) {
                return Err(HostModelError::Number { key, value, rule: "a time from 0 to 1e9" });
            }
        }
        for (key, value) in rates {
            if !(value > 0.0 && value.is_finite()) {
                return Err(HostModelError::Number { key, value, rule: "a rate above 0" });
            }
        }
        Ok(model)
    }

    /// Memory of the host as the card reads it, at the clock of a design, and as it writes there.
    pub fn memory(&self, design: &Design, like: &Behaviour) -> (Behaviour, Behaviour) {
        let cycles = |ns: f64| (ns * design.clock.noc_mhz / 1e3).round() as u32;
        // GB/s over MHz are kilobytes a cycle.
        let bytes = |gbs: f64| gbs * 1e3 / design.clock.noc_mhz;
        let reads = Behaviour {
            latency: cycles(self.wire.read_ns),
            bytes_per_cycle: bytes(self.wire.to_card_gbs),
            ..like.clone()
        };
        let writes = Behaviour {
            latency: cycles(self.wire.answer_ns),
            bytes_per_cycle: bytes(self.wire.to_host_gbs),
            ..like.clone()
        };
        (reads, writes)
    }

    /// Microseconds of the parts of a call, one behind the other: from the host to the card; until external memory is read; while
    /// it is; until the record has left; to the host. `noc_mhz`: the clock of its times.
    pub fn parts(&self, times: &CallTimes, noc_mhz: f64) -> [f64; 5] {
        let first = times.first_read.unwrap_or(times.rung);
        let last = times.last_read.unwrap_or(first);
        let end = times.last_write.unwrap_or(last);
        let us = |from: u64, to: u64| to.saturating_sub(from) as f64 / noc_mhz;
        [
            (self.calls.register_write_ns + self.wire.write_ns) / 1e3,
            us(times.rung, first),
            us(first, last),
            us(last, end),
            self.wire.write_ns / 1e3,
        ]
    }

    /// Microseconds of a transfer of a buffer by the host.
    pub fn transfer_us(&self, bytes: u64, to_card: bool) -> f64 {
        let gbs = if to_card { self.wire.to_card_gbs } else { self.wire.to_host_gbs };
        self.calls.transfer_us + bytes as f64 / gbs / 1e3
    }
}

impl Default for HostModel {
    fn default() -> HostModel {
        HostModel::parse(PCIE3_X16).expect("the file that ships with the program is legal")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn times_become_cycles_of_the_network_and_rates_bytes_of_them() {
        let mut config = Config::default();
        config.clock.noc_mhz = 250.0;
        let design = Design::from_config("t", &config).unwrap();
        let (reads, writes) = HostModel::default().memory(&design, &Behaviour::of(&design));
        assert_eq!((reads.latency, writes.latency), (250, 50));
        assert!((reads.bytes_per_cycle - 48.0).abs() < 1e-9 && (writes.bytes_per_cycle - 48.0).abs() < 1e-9);
        assert!((HostModel::default().transfer_us(12_000, true) - 20.0).abs() < 1e-9);
    }

    #[test]
    fn a_wrong_file_is_refused_by_its_key() {
        let whole = PCIE3_X16;
        let why = |text: &str| HostModel::parse(text).unwrap_err().to_string();
        assert!(why(&whole.replace("read_ns = 1000.0       #", "#")).contains("read_ns"));
        assert!(why(&whole.replace("read_ns = 1000.0", "read_ns = -1.0"))
            .starts_with("wire.read_ns is -1, and must be a time"));
        assert!(why(&whole.replace("to_host_gbs = 12.0", "to_host_gbs = 0.0"))
            .starts_with("wire.to_host_gbs is 0, and must be a rate"));
        assert!(why(&whole.replace("[calls]", "[call]")).contains("help: hosts/pcie3_x16.toml"));
    }
}
