//! The processing elements of a tile, and the lanes of a reduce root.

use crate::config::{Config, KvFormat, KvScales, Narrow};
use crate::design::pad::octave;
use crate::design::pad::root::{finish_cycles, finish_lanes, packet_cycles, root_lanes, DIVISION};

/// Sizes of the arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pe {
    /// Format of the elements of K and V.
    pub format: KvFormat,
    /// Factors beside them.
    pub scales: KvScales,
    /// Elements of a row of K or V (d_h). Those behind [`Model::head_dim`](crate::design::Model::head_dim) are 0.
    pub head_dim: u32,
    /// Rows of the array: contexts that process a flit at the same time.
    pub array_rows: u32,
    /// Stationary numbers of 9 bits, where two rows share their multipliers.
    pub narrow: Narrow,
    /// Numbers of o that a reduce root merges in a cycle.
    pub root_lanes: u32,
    /// Numbers of a finished head that leave a reduce root in a cycle.
    pub finish_lanes: u32,
    /// True if prefetch, multiply and reduce overlap (PaD); else they follow one another.
    pub overlap: bool,
}

impl Pe {
    /// True if a host gives the scales of logits and outputs.
    pub fn is_scaled(&self) -> bool {
        self.scales != KvScales::None
    }

    /// True if each token has scales beside its slice in memory.
    pub fn has_token_scales(&self) -> bool {
        self.scales == KvScales::Token
    }

    /// Powers of two by which a scale of logits that a host gives may place dots higher. Scales of tokens may place them one
    /// higher.
    pub fn most_rise(&self) -> u32 {
        octave::most_rise(self.format) - u32::from(self.has_token_scales())
    }

    /// The sizes of a configuration.
    pub(in crate::design) fn new(config: &Config) -> Pe {
        Pe {
            format: config.kv.format,
            scales: config.kv.scales_of_format(),
            head_dim: config.pe.head_dim,
            array_rows: config.pe.array_rows,
            narrow: config.pe.narrow,
            root_lanes: root_lanes(config),
            finish_lanes: finish_lanes(config),
            overlap: config.pad.enable,
        }
    }

    /// Fewest cycles from the merging of a head at a root to its last element, with nothing beside it that hides the
    /// division.
    pub(in crate::design) fn last_head_cycles(&self) -> u64 {
        DIVISION + finish_cycles(self.head_dim, self.finish_lanes)
    }

    /// Fewest cycles of so many packets at a root, of which so many end their head.
    pub fn root_cycles(&self, packets: u64, heads: u64) -> u64 {
        let finishing = heads * finish_cycles(self.head_dim, self.finish_lanes);
        (packets * packet_cycles(self.head_dim, self.root_lanes)).max(finishing)
    }
}

#[cfg(test)]
mod tests {
    use crate::design::pad::pe::*;

    #[test]
    fn a_root_takes_as_long_as_its_merging_or_its_finishing() {
        let pe = Pe::new(&Config::default());
        assert_eq!([(80, 20), (8, 8)].map(|(packets, heads)| pe.root_cycles(packets, heads)), [720, 272]);
    }
}
