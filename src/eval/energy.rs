//! Energy of a decode step: counted activities times published energies.
//!
//! The published figures are of ASICs in different processes. They compare configurations on one
//! scale. They do not predict the power of an FPGA.

use serde::Serialize;

/// Energies of single activities, each with its source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Energies {
    /// A bit from one router to the next, through router and link, in pJ.
    pub link_pj_per_bit: f64,
    /// A bit read from or written into a memory of 32 KiB, about one URAM288, in pJ.
    pub sram_pj_per_bit: f64,
    /// A product of two FP16 numbers added up in FP32, in pJ.
    pub mac_pj: f64,
    /// A bit read from external memory, in pJ.
    pub memory_pj_per_bit: f64,
}

impl Default for Energies {
    fn default() -> Energies {
        Energies {
            // FlooNoC (Fischer et al., IEEE TVLSI 2025): 0.15 pJ a byte and hop, 12 nm, 512-bit links.
            link_pj_per_bit: 0.15 / 8.0,
            // Horowitz (ISSCC 2014): 20 pJ for 64 bits of a 32 KB SRAM, 45 nm.
            sram_pj_per_bit: 20.0 / 64.0,
            // Horowitz (ISSCC 2014): FP16 product 1.1 pJ, FP32 sum 0.9 pJ, 45 nm.
            mac_pj: 1.1 + 0.9,
            // O'Connor et al. (MICRO 2017): HBM2 3.92 pJ a bit.
            memory_pj_per_bit: 3.92,
        }
    }
}

/// Sources of [`Energies::default`], in a line.
pub const ENERGY_SOURCES: &str =
    "link: FlooNoC (TVLSI 2025), 0.15 pJ/B/hop; SRAM and MAC: Horowitz (ISSCC 2014); \
     external memory: HBM2, O'Connor et al. (MICRO 2017)";

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
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Energy {
    /// Routers and links.
    pub link: f64,
    /// Staging memories and FIFOs.
    pub sram: f64,
    /// Arithmetic.
    pub mac: f64,
    /// External memory.
    pub external_memory: f64,
    /// Total.
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
}
