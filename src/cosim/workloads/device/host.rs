//! A running device with its platform.

use super::axi_lite_master::Registers;
use super::calls::{CallTimes, Calls};
use super::error::DeviceError;
use super::platform::{Faults, Platform, Slaves};
use super::watched::Watched;
use crate::cosim::build::wrap::device_wrapper::COMPUTE_RESET;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::pins::{Pin, Pins};
use crate::cosim::dut::ports::{DutPorts, LinkFlip};
use crate::cosim::dut::DutError;
use crate::cosim::memory::{Bytes, Image};
use crate::cosim::workloads::attention::{AttentionResult, Probes};
use crate::cosim::workloads::shared::limit::Moved;
use crate::design::Design;
use crate::model::cycle::common::Reached;
use std::collections::BTreeMap;

/// Cycles after which a register access must have been answered.
const PATIENCE: u64 = 2_000;

/// A device out of reset.
pub struct Device {
    design: Design,
    pins: Pins,
    registers: Registers,
    slaves: Slaves,
    interrupt: Pin,
    compute_reset: Pin,
    probes: Probes,
    /// Rows whose partial results were merged, by stream and head.
    merged: BTreeMap<(u32, u32), Vec<u32>>,
    /// The run that is recorded.
    watched: Option<Watched>,
    /// Events of calls, while they are recorded.
    calls: Option<Calls>,
    /// Times of the last call by a doorbell, while they are recorded, and beats of external memory before this cycle.
    call: Option<(CallTimes, u64)>,
    clocks: Clocks,
}

impl Device {
    /// Takes a device with the ports of [`shell`](crate::cosim::build::wrap::device_wrapper::shell) out
    /// of reset, with a platform.
    ///
    /// # Errors
    /// If it is of another design, does not start, or cannot have these clocks.
    pub fn new(
        dut: Box<dyn DutPorts>,
        design: &Design,
        platform: &Platform,
        clocks: &Clocks,
    ) -> Result<Device, DutError> {
        let shell = crate::cosim::build::wrap::device_wrapper::shell(design);
        let mut pins = Pins::open(dut, &shell, clocks)?;
        Ok(Device {
            registers: Registers::find(&mut pins, &shell, platform.lazy, platform.io.seed)?,
            slaves: Slaves::find(&mut pins, &shell, design, platform)?,
            interrupt: pins.pin(&shell, "irq", 1)?,
            compute_reset: pins.pin(&shell, COMPUTE_RESET, 1)?,
            probes: Probes::find(&mut pins, &shell, design)?,
            merged: BTreeMap::new(),
            watched: None,
            calls: None,
            call: None,
            clocks: *clocks,
            design: design.clone(),
            pins,
        })
    }

    /// Runs a period.
    ///
    /// # Errors
    /// [`DutError::Stopped`] if a check fires.
    pub fn tick(&mut self) -> Result<(), DutError> {
        let cycle = self.pins.cycle();
        self.slaves.drive(&mut self.pins, cycle);
        self.registers.drive(&mut self.pins);
        self.pins.tick()?;
        self.slaves.observe(&self.pins, cycle);
        self.registers.observe(&self.pins, cycle);
        let mut merges = false;
        for (_, of, y) in self.probes.merges(&self.pins, &self.design) {
            self.merged.entry(of).or_default().push(y);
            merges = true;
        }
        if let Some(calls) = &mut self.calls {
            let interrupt = self.pins.get(self.interrupt, 0) == 1;
            let (fetches, writes) = self.slaves.moves(&self.pins);
            calls.see(cycle, [self.registers.starts(), fetches, writes, interrupt]);
        }
        if let Some((call, before)) = &mut self.call {
            let (asks, writes) = self.slaves.moves(&self.pins);
            let beats = self.slaves.beats();
            call.see(cycle, [self.registers.starts(), asks, beats != *before, writes]);
            *before = beats;
        }
        if let Some(watched) = &mut self.watched {
            let shown = (&self.pins, &self.probes, &self.slaves);
            watched.see(cycle, [self.registers.starts(), merges], shown);
        }
        Ok(())
    }

    /// Resets it and its platform for some periods.
    ///
    /// # Errors
    /// As [`Device::tick`].
    pub fn reset(&mut self, periods: u64) -> Result<(), DutError> {
        for _ in 0..periods {
            let cycle = self.pins.cycle();
            self.slaves.in_reset(&mut self.pins, cycle);
            self.registers.in_reset(&mut self.pins, cycle);
            self.pins.tick_in_reset()?;
        }
        Ok(())
    }

    /// Asserts or releases `ap_rst_n_2`, the reset of PaD alone.
    pub fn hold_compute(&mut self, held: bool) {
        self.pins.set(self.compute_reset, 0, u64::from(held));
    }

    /// Reads a register.
    ///
    /// # Errors
    /// If it is not answered.
    pub fn read(&mut self, offset: u32) -> Result<u32, DeviceError> {
        self.access(None, Some(offset))
    }

    /// Writes a register.
    ///
    /// # Errors
    /// If it is not answered.
    pub fn write(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        self.access(Some((offset, value, 0xf)), None).map(drop)
    }

    /// Writes the bytes of a register that `strobes` select, and reads a register at the same time.
    ///
    /// # Errors
    /// If either is not answered.
    pub fn access(&mut self, write: Option<(u32, u32, u32)>, read: Option<u32>) -> Result<u32, DeviceError> {
        if let Some((offset, value, strobes)) = write {
            self.registers.write(offset, value, strobes);
        }
        if let Some(offset) = read {
            self.registers.read(offset);
        }
        let begun = self.cycle();
        while self.registers.busy() {
            self.tick()?;
            let (at, waited) = (self.cycle(), self.cycle() - begun);
            if waited > PATIENCE {
                let offset = read.or(write.map(|w| w.0)).unwrap_or_default();
                return Err(DeviceError::Silent { at, offset, waited });
            }
        }
        Ok(self.registers.word())
    }

    /// Value of the interrupt line in the last period.
    pub fn interrupt(&self) -> bool {
        self.pins.get(self.interrupt, 0) == 1
    }

    /// Periods so far.
    pub fn cycle(&self) -> u64 {
        self.pins.cycle()
    }

    /// Register accesses so far.
    pub fn accesses(&self) -> u64 {
        self.registers.accesses().iter().sum()
    }

    /// Writes of registers so far, and reads.
    pub fn writes_and_reads(&self) -> [u64; 2] {
        self.registers.accesses()
    }

    /// Bytes of outputs written so far.
    pub fn output_bytes(&self) -> u64 {
        self.slaves.outputs.beats() * u64::from(self.design.flit.data_width / 8)
    }

    /// Replaces the faults.
    pub fn set_faults(&mut self, faults: Faults) {
        self.slaves.set_faults(faults);
    }

    /// The first cycle in which each fault took effect, in the order of [`Faults`]: those of reads of external memory, of
    /// queries, of writes of outputs, of writes of new tokens.
    pub fn struck(&self) -> [Vec<Option<u64>>; 4] {
        self.slaves.struck()
    }

    /// Rare states that the core has reached; `None` if it is Verilog alone.
    pub fn reached(&self) -> Option<Reached> {
        self.pins.reached()
    }

    /// Requests so far: of each port of external memory, of reads of queries, of writes of outputs.
    pub fn requests(&self) -> (Vec<u64>, u64, u64) {
        let Slaves { hbm, queries, outputs, .. } = &self.slaves;
        let of_hbm = (0..hbm.ports()).map(|port| hbm.counts(port).requests).collect();
        (of_hbm, queries.counts(0).requests, outputs.requests())
    }

    /// Writes of new tokens so far, by port of external memory.
    pub fn token_writes(&self) -> Vec<u64> {
        self.slaves.tokens.iter().map(|slave| slave.requests()).collect()
    }

    /// Beats of new tokens written into external memory so far.
    pub fn token_beats(&self) -> u64 {
        self.slaves.tokens.iter().map(|slave| slave.beats()).sum()
    }

    /// Contents of external memory.
    pub fn image(&self) -> &Image {
        self.slaves.hbm.image()
    }

    /// Beats of queries, outputs and lists so far.
    pub fn io_beats(&self) -> u64 {
        self.slaves.io_beats()
    }

    /// Beats read so far from each port of external memory.
    pub fn beats(&self) -> Vec<u64> {
        (0..self.slaves.hbm.ports()).map(|port| self.slaves.hbm.counts(port).beats).collect()
    }

    /// Requests that memory has accepted and not completed.
    pub fn waiting(&self) -> usize {
        self.slaves.waiting()
    }

    /// Puts a buffer of queries into memory.
    pub fn put_queries(&mut self, address: u64, bytes: Vec<u8>) {
        let image = self.slaves.queries.image_mut();
        let mut all = if let Image::Buffers(all) = image { std::mem::take(all) } else { Bytes::default() };
        all.put(address, bytes);
        *image = Image::Buffers(all);
    }

    /// The buffer at an address from which queries and lists are read.
    pub fn queries(&self, address: u64) -> Option<&[u8]> {
        match self.slaves.queries.image() {
            Image::Buffers(all) => all.at(address),
            _ => None,
        }
    }

    /// Puts an empty buffer of outputs into memory.
    pub fn put_outputs(&mut self, address: u64, bytes: Vec<u8>) {
        self.slaves.buffers.put(address, bytes);
    }

    /// The buffer of outputs at an address.
    pub fn outputs(&self, address: u64) -> Option<&[u8]> {
        self.slaves.buffers.at(address)
    }

    /// Sets the contents of external memory.
    pub fn set_image(&mut self, image: Image) {
        *self.slaves.hbm.image_mut() = image;
    }

    /// Contents of external memory, to change them in place.
    pub fn image_mut(&mut self) -> &mut Image {
        self.slaves.hbm.image_mut()
    }

    /// Rows whose partial results were merged since the last call, by stream and head.
    pub fn take_merged(&mut self) -> BTreeMap<(u32, u32), Vec<u32>> {
        std::mem::take(&mut self.merged)
    }

    /// Records counters, the events of a run and so many cycles of the stages from now on.
    pub fn watch(&mut self, result: AttentionResult, timeline: usize) {
        self.watched = Some(Watched::new(result, timeline, self.pins.cycle(), &self.slaves));
    }

    /// The record since [`Device::watch`].
    pub fn unwatch(&mut self) -> Option<AttentionResult> {
        self.watched.take().map(|watched| watched.result)
    }

    /// Records the events of calls from now on.
    pub fn time_calls(&mut self) {
        self.calls = Some(Calls::default());
    }

    /// The record since [`Device::time_calls`].
    pub fn take_calls(&mut self) -> Option<Calls> {
        self.calls.take()
    }

    /// Records the times of calls by a doorbell from now on.
    pub fn time_a_call(&mut self) {
        self.call = Some((CallTimes::default(), self.slaves.beats()));
    }

    /// Times of the last of them.
    pub fn call_times(&self) -> CallTimes {
        self.call.map(|(times, _)| times).unwrap_or_default()
    }

    /// Broken rules so far, on any channel: their number, and the first.
    pub fn violations(&self) -> (u64, Vec<String>) {
        let mut all = (0, Vec::new());
        for (count, first) in self.slaves.violations().chain([self.registers.violations()]) {
            all.0 += count;
            all.1.extend(first.iter().map(|v| v.message.clone()));
        }
        all
    }

    /// Inverts a bit of a flit on a link of the core.
    ///
    /// # Errors
    /// If the core has no such link of its own.
    pub fn flip(&mut self, flip: &LinkFlip) -> Result<(), DutError> {
        self.pins.flip(flip)
    }

    /// Cycle in which that flit came; `None` if it has not.
    pub fn flipped(&self) -> Option<u64> {
        self.pins.flipped()
    }

    /// Counters of its memory, and of its tiles while a run is recorded.
    pub(super) fn moved(&self) -> Moved {
        let (links, events) =
            self.watched.as_ref().map_or((&[][..], &[][..]), |w| (&w.result.links, &w.result.events));
        Moved::of(links, events, Some(&self.slaves.hbm))
    }

    /// The clocks.
    pub(super) fn clocks(&self) -> Clocks {
        self.clocks
    }

    /// Sets the clocks from the next period on.
    ///
    /// # Errors
    /// If it does not have two clocks.
    pub fn set_clocks(&mut self, clocks: &Clocks) -> Result<(), DutError> {
        self.clocks = *clocks;
        self.pins.set_clocks(clocks)
    }
}
