//! State of a run of decode steps, except that of the fabric.

use super::counts::StepCounts;
use super::plan::Plan;
use super::scoreboard::ledger::DecodeScoreboard;
use crate::cosim::dut::model_ports::PeClock;
use crate::cosim::dut::network::COUNTERS;
use crate::cosim::memory::{Memory, Shape};
use crate::cosim::workloads::decode::played::new_tokens::NewTokens;
use crate::cosim::workloads::decode::played::queries::Queries;
use crate::cosim::workloads::decode::played::tile_array::Compute;
use crate::cosim::workloads::shared::tile_errors::TileError;
use crate::design::Design;
use crate::emit::TILE_EVENTS;
use crate::model::cycle::reduce::ReduceRoot;

pub(super) struct Run<'a> {
    pub(super) start: u64,
    pub(super) plan: &'a Plan,
    pub(super) ledger: DecodeScoreboard<'a>,
    pub(super) memory: Memory,
    pub(super) computes: Vec<Compute>,
    /// Model of the reduce root of every column.
    pub(super) roots: Vec<ReduceRoot>,
    /// PaD's clock.
    pub(super) clock: PeClock,
    pub(super) queries: Queries,
    /// `None` if the cache is read only.
    pub(super) tokens: Option<NewTokens<'a>>,
    /// PART packets that came to each root.
    pub(super) packets: Vec<u64>,
    /// Descriptors accepted, over all steps.
    pub(super) accepted: usize,
    /// True if a descriptor was on the port in this period.
    pub(super) presented: bool,
    pub(super) steps: Vec<StepCounts>,
    /// Occupancies reported, over all steps.
    pub(super) occupancies: usize,
    /// Last cycle with any movement.
    pub(super) moved: u64,
    pub(super) events: Vec<[u32; TILE_EVENTS.len()]>,
    pub(super) links: Vec<[u32; COUNTERS]>,
    pub(super) faults: Vec<TileError>,
    /// Occupancies reported in a step.
    pub(super) shown_by_step: usize,
}

impl<'a> Run<'a> {
    /// State at the begin of a run. If homes may `swap`, every step reports its occupancies.
    pub(super) fn new(design: &'a Design, plan: &'a Plan, swaps: bool, start: u64) -> Run<'a> {
        let tiles = design.mesh.tiles();
        let mut clock = PeClock::new();
        clock.set(&plan.clocks);
        Run {
            start,
            plan,
            ledger: DecodeScoreboard::new(design, plan.seed, plan.order),
            memory: Memory::new(Shape::of(design), plan.memory.clone(), plan.image.clone()),
            computes: design.mesh.nodes().map(|tile| Compute::new(design, tile, plan.seed)).collect(),
            roots: (0..design.mesh.cols()).map(|_| ReduceRoot::new(design)).collect(),
            clock,
            queries: Queries::new(design),
            tokens: NewTokens::new(design, plan.seed, &plan.image),
            packets: vec![0; design.mesh.cols() as usize],
            accepted: 0,
            presented: false,
            steps: vec![StepCounts::default(); plan.steps as usize],
            occupancies: 0,
            moved: start,
            events: vec![[0; TILE_EVENTS.len()]; tiles],
            links: vec![[0; COUNTERS]; tiles],
            faults: Vec::new(),
            shown_by_step: if swaps { tiles } else { 0 },
        }
    }

    /// Descriptors of all steps.
    pub(super) fn descriptors(&self) -> usize {
        self.plan.descriptors.len() * self.steps.len()
    }

    /// The step of a descriptor, by its number in the run.
    pub(super) fn step_of(&self, number: usize) -> usize {
        number / self.plan.descriptors.len().max(1)
    }

    /// True if everything of a step has come, and the fabric has reported its occupancies.
    pub(super) fn is_done(&self, step: usize) -> bool {
        self.accepted >= (step + 1) * self.plan.descriptors.len()
            && self.ledger.is_done(step)
            && self.tokens.as_ref().is_none_or(NewTokens::are_written)
            && self.occupancies >= (step + 1) * self.shown_by_step
    }

    /// True if the next descriptor may be sent. A layer's queries come from the layer before, and a
    /// step's from the step before: neither begins before the other's results are there. Queries go
    /// in before descriptors.
    pub(super) fn is_due(&mut self) -> bool {
        if self.accepted >= self.descriptors() {
            return false;
        }
        let (step, number) = (self.step_of(self.accepted), self.accepted % self.plan.descriptors.len());
        let layer = |number: usize| self.plan.descriptors[number].layer;
        let begins = number == 0 || layer(number) != layer(number - 1);
        if !begins {
            return true;
        }
        // Once tokens of this layer have begun to go in, those of the layer before are written.
        let due = self.plan.overlap
            || self.tokens.as_ref().is_some_and(|tokens| tokens.have_begun(self.accepted))
            || match number {
                0 => step == 0 || self.is_done(step - 1),
                _ => self.ledger.is_done(step) && self.tokens.as_ref().is_none_or(NewTokens::are_written),
            };
        let of_layer = self.plan.descriptors[number..].iter().take_while(|d| d.layer == layer(number));
        if !due {
            return false;
        }
        let tokens_in = match &mut self.tokens {
            Some(tokens) => tokens.are_in(self.accepted, of_layer.clone(), self.memory.image_mut()),
            None => true,
        };
        self.queries.are_in(self.accepted, of_layer) && tokens_in
    }

    pub(super) fn over(&self) -> bool {
        (0..self.steps.len()).all(|step| self.is_done(step))
    }
}
