//! The whole design as a session of an inference engine has it: steps one after the other on one simulation. Memory,
//! places of homes, and all that the design keeps last from one step to the next.

use super::bench::Bench;
use super::core::{Core, RunOptions, Source};
use super::error::AttentionError;
use super::job::Job;
use super::result::AttentionResult;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::model_ports::FabricPorts;
use crate::cosim::dut::ports::DutPorts;
use crate::cosim::dut::DutError;
use crate::cosim::memory::{Behaviour, Image};
use crate::cosim::workloads::attention::observed::expected::Numbers;
use crate::design::Design;
use std::sync::mpsc::channel;

/// The design out of reset, and its memory.
pub struct Session<'a> {
    core: Core<'a>,
}

impl<'a> Session<'a> {
    /// Takes a device with the ports of [`Bench::ports`] and with numbers out of reset. `image` is what memory has.
    ///
    /// # Errors
    /// If it lacks a port, does not start, or cannot have these clocks.
    pub fn on(
        dut: Box<dyn DutPorts>,
        design: &'a Design,
        image: Image,
        behaviour: Behaviour,
        clocks: Clocks,
    ) -> Result<Session<'a>, DutError> {
        let top = Bench::ports(design);
        let core = Core::new(dut, &top, design, (behaviour, image), clocks, Source::Pins)?;
        Ok(Session { core })
    }

    /// Runs on the model of the design, with the same cycles.
    ///
    /// # Errors
    /// If PaD's clock is to have jitter.
    pub fn on_model(
        design: &'a Design,
        image: Image,
        behaviour: Behaviour,
        clocks: Clocks,
    ) -> Result<Session<'a>, DutError> {
        let top = Bench::ports(design);
        let (sender, jobs) = channel();
        let model = Box::new(FabricPorts::core(design, &top, Some(sender)));
        let source = Source::Model(Box::new(Numbers::new(design, jobs)));
        Ok(Session { core: Core::new(model, &top, design, (behaviour, image), clocks, source)? })
    }

    /// The same without numbers: memory has any, outputs are empty and not checked.
    ///
    /// # Errors
    /// As [`Session::on_model`].
    pub fn timing(design: &'a Design, behaviour: Behaviour, clocks: Clocks) -> Result<Session<'a>, DutError> {
        let (model, top) = (Bench::model(design), Bench::ports(design));
        let memory = (behaviour, Image::Hash(0));
        Ok(Session { core: Core::new(model, &top, design, memory, clocks, Source::Nobody)? })
    }

    /// Runs a step to the end of all that follows from it: new tokens are in memory, homes at their places. Counters of the
    /// result are not read. A root's output is refused in `stall` of 256 cycles; `stop` is called from time to time.
    ///
    /// # Errors
    /// If the fabric stops, nothing moves any more, or `stop` returns true.
    pub fn step(
        &mut self,
        job: &Job,
        stall: u8,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<AttentionResult, AttentionError> {
        let options = RunOptions { timeline: 0, stall, goes_on: true, has_queries: false };
        self.core.attend(job, options, &mut |_| stop())
    }

    /// Runs a step on the queries of the step before, which the design has kept.
    ///
    /// # Errors
    /// As [`Session::step`].
    pub fn step_on_kept_queries(
        &mut self,
        job: &Job,
        stall: u8,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<AttentionResult, AttentionError> {
        let options = RunOptions { timeline: 0, stall, goes_on: true, has_queries: true };
        self.core.attend(job, options, &mut |_| stop())
    }

    /// Contents of the external memory.
    pub fn image(&self) -> &Image {
        self.core.image()
    }

    /// Replaces the contents of the external memory between two steps.
    pub fn set_image(&mut self, image: Image) {
        *self.core.image_mut() = image;
    }
}
