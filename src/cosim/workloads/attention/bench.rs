//! Attention of one job on the whole design, on compiled Verilog, its model, or both.

use super::core::{Core, RunOptions, Source};
use super::error::AttentionError;
use super::job::Job;
use super::result::AttentionResult;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::model_ports::FabricPorts;
use crate::cosim::dut::ports::{DutPorts, LinkFlip};
use crate::cosim::dut::DutError;
use crate::cosim::memory::{Behaviour, Image};
use crate::cosim::workloads::attention::observed::expected::Numbers;
use crate::design::Design;
use crate::emit::{self, ModuleSpec};
use std::sync::mpsc::channel;

/// The whole design out of reset, ready to run.
pub struct Bench<'a> {
    job: &'a Job<'a>,
    core: Core<'a>,
}

impl<'a> Bench<'a> {
    /// Runs on the model of the design, with the same cycles. Without `numbers` only times are
    /// computed: outputs are empty and not checked.
    ///
    /// # Errors
    /// If PaD's clock is to have jitter.
    pub fn on_model(
        job: &'a Job<'a>,
        behaviour: Behaviour,
        clocks: Clocks,
        numbers: bool,
    ) -> Result<Bench<'a>, DutError> {
        let (design, top) = (job.design, Bench::ports(job.design));
        let (sender, jobs) = channel();
        let model = FabricPorts::core(design, &top, numbers.then_some(sender));
        let source = match numbers {
            true => Source::Model(Box::new(Numbers::new(design, jobs))),
            false => Source::Nobody,
        };
        Bench::of(Box::new(model), job, behaviour, clocks, source)
    }

    /// Ports of the whole design.
    pub fn ports(design: &Design) -> ModuleSpec {
        let modules = emit::modules(design);
        modules.into_iter().find(|m| m.name == emit::CORE).expect("every design has a top")
    }

    /// The model behind these ports, which computes no numbers.
    pub fn model(design: &Design) -> Box<dyn DutPorts> {
        Box::new(FabricPorts::core(design, &Bench::ports(design), None))
    }

    /// Takes a device with these ports and with numbers out of reset.
    ///
    /// # Errors
    /// If it lacks a port, does not start, or cannot have these clocks.
    pub fn on(
        dut: Box<dyn DutPorts>,
        job: &'a Job<'a>,
        behaviour: Behaviour,
        clocks: Clocks,
    ) -> Result<Bench<'a>, DutError> {
        Bench::of(dut, job, behaviour, clocks, Source::Pins)
    }

    /// Inverts a bit of a flit on a link in the run.
    ///
    /// # Errors
    /// If the fabric has no such link.
    pub fn flip(&mut self, flip: &LinkFlip) -> Result<(), DutError> {
        self.core.flip(flip)
    }

    fn of(
        dut: Box<dyn DutPorts>,
        job: &'a Job<'a>,
        behaviour: Behaviour,
        clocks: Clocks,
        source: Source,
    ) -> Result<Bench<'a>, DutError> {
        let image = match source {
            Source::Pins | Source::Model(_) => job.image(),
            Source::Nobody => Image::Hash(0),
        };
        let top = Bench::ports(job.design);
        let core = Core::new(dut, &top, job.design, (behaviour, image), clocks, source)?;
        Ok(Bench { job, core })
    }

    /// Runs to the last output and records the first `timeline` cycles of each tile. A root's
    /// output is refused in `stall` of 256 cycles. `stop` is called from time to time with the
    /// outputs so far.
    ///
    /// # Errors
    /// If the fabric stops, nothing moves any more, or `stop` returns true.
    pub fn run(
        mut self,
        timeline: usize,
        stall: u8,
        stop: &mut dyn FnMut(usize) -> bool,
    ) -> Result<AttentionResult, AttentionError> {
        self.core.attend(self.job, RunOptions { timeline, stall, goes_on: false, has_queries: false }, stop)
    }
}
