//! Wraps a verilated mesh or fabric and records waves for a window of cycles.

use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::error::DutError;
use crate::cosim::dut::network::{Ejection, Entry, Injection, Network, StepStatus, COUNTERS};
use crate::cosim::dut::ports::{DutPorts, LinkFlip};
use crate::cosim::dut::verilated::verilated_mesh::VerilatedMesh;
use crate::design::{NodeId, Port};
use crate::model::cycle::common::Reached;
use std::ops::Range;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The window has been written; later cycles need not be simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("waves were written up to cycle {0}")]
pub struct WavesWritten(pub u64);

/// A mesh built with waves, and its window. A step is never cut short: the caller has generated
/// traffic for all of it.
#[derive(Debug)]
pub struct WaveWindow {
    dut: VerilatedMesh,
    path: PathBuf,
    /// Resets before the recorded run, and its cycles.
    run: u32,
    cycles: Range<u64>,
    runs: u32,
    writing: bool,
}

impl WaveWindow {
    /// Records at least these `cycles`, in whole steps, after `run` resets. Then a step ends with
    /// [`WavesWritten`].
    pub fn new(mut dut: VerilatedMesh, path: &Path, run: u32, cycles: Range<u64>) -> WaveWindow {
        dut.record(true, true);
        WaveWindow { dut, path: path.to_owned(), run, cycles, runs: 0, writing: false }
    }
}

impl Network for WaveWindow {
    fn reset(&mut self) -> anyhow::Result<()> {
        self.runs += 1;
        self.writing = false;
        Network::reset(&mut self.dut)
    }

    fn cycle(&self) -> u64 {
        Network::cycle(&self.dut)
    }

    fn stalls(&self) -> Vec<f64> {
        Network::stalls(&self.dut)
    }

    fn inject(&mut self, flit: &Injection<'_>) -> anyhow::Result<()> {
        Network::inject(&mut self.dut, flit)
    }

    fn step(&mut self, cycles: u64) -> anyhow::Result<StepStatus> {
        let end = self.dut.cycle().saturating_add(cycles);
        if !self.writing && self.runs == self.run && self.cycles.start < end {
            self.dut.wave_start(&self.path)?;
            self.writing = true;
        }
        let status = Network::step(&mut self.dut, cycles)?;
        if self.writing && self.dut.cycle() >= self.cycles.end {
            self.dut.wave_stop();
            return Err(WavesWritten(self.dut.cycle()).into());
        }
        Ok(status)
    }

    fn take_entries(&mut self, receive: &mut dyn FnMut(Entry)) {
        self.dut.take_entries(receive);
    }

    fn take_ejections(&mut self, receive: &mut dyn FnMut(Ejection<'_>)) {
        self.dut.take_ejections(receive);
    }

    fn counters(&self) -> Vec<[u32; COUNTERS]> {
        Network::counters(&self.dut)
    }

    fn busy_vcs(&self) -> Vec<(NodeId, Port, u32)> {
        Network::busy_vcs(&self.dut)
    }

    fn credits_home(&self) -> bool {
        Network::credits_home(&self.dut)
    }
}

/// A fabric behind ports, built with waves, and its window.
#[derive(Debug)]
pub struct PortWaveWindow {
    dut: Box<dyn DutPorts>,
    path: PathBuf,
    cycles: Range<u64>,
    cycle: u64,
}

impl PortWaveWindow {
    /// Records these `cycles` since reset; then a tick ends with [`DutError::Written`].
    pub fn new(dut: Box<dyn DutPorts>, path: &Path, cycles: Range<u64>) -> PortWaveWindow {
        PortWaveWindow { dut, path: path.to_owned(), cycles, cycle: 0 }
    }
}

impl DutPorts for PortWaveWindow {
    fn find(&mut self, name: &str) -> Option<usize> {
        self.dut.find(name)
    }

    fn words(&self, port: usize, bits: u32) -> &[u32] {
        self.dut.words(port, bits)
    }

    fn words_mut(&mut self, port: usize, bits: u32) -> &mut [u32] {
        self.dut.words_mut(port, bits)
    }

    fn tick(&mut self, rst: bool) -> Result<(), DutError> {
        if rst {
            self.cycle = 0;
            return self.dut.tick(rst);
        }
        if self.cycle == self.cycles.start {
            self.dut.wave_start(&self.path)?;
        }
        self.dut.tick(rst)?;
        self.cycle += 1;
        if self.cycle == self.cycles.end {
            self.dut.wave_stop();
            return Err(DutError::Written(self.cycle));
        }
        Ok(())
    }

    fn set_clocks(&mut self, clocks: &Clocks) -> Result<(), DutError> {
        self.dut.set_clocks(clocks)
    }

    fn flip(&mut self, flip: &LinkFlip) -> Result<(), DutError> {
        self.dut.flip(flip)
    }

    fn flipped(&self) -> bool {
        self.dut.flipped()
    }

    fn reached(&self) -> Option<Reached> {
        self.dut.reached()
    }

    fn payload_bits(&self) -> u32 {
        self.dut.payload_bits()
    }
}
