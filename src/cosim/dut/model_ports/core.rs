//! The ports that the whole design has in addition to the fabric's: outputs, merges and counters of
//! PaD.

use super::packed::{numbers, Ports};
use super::pe_clock::PeClock;
use crate::cosim::dut::clocks::Clocks;
use crate::design::Design;
use crate::model::cycle::fabric::{Core, FabricIn};
use crate::model::cycle::takv::Ask;
use std::sync::mpsc::Sender;

numbers! {
    partials out_valid out_ready out_stream out_layer out_head out_index out_last out_partial
    merge_valid merge_stream merge_head merge_y merge_sum_valid merge_sum_first
    pad_index pad_data pad_state
}

/// A job that a tile gives to its PaD, with the number of the tile.
pub type TileJob = (usize, Ask);

/// The model of the whole design, and its ports.
#[derive(Debug)]
pub(super) struct CorePorts {
    pub(super) core: Core,
    clock: PeClock,
    out_ready: Vec<bool>,
    /// Receiver of every job, which computes the numbers.
    jobs: Option<Sender<TileJob>>,
    at: Numbers,
    pad_states: Vec<u32>,
}

impl CorePorts {
    pub(super) fn new(design: &Design, ports: &Ports, jobs: Option<Sender<TileJob>>) -> CorePorts {
        CorePorts {
            core: Core::new(design),
            clock: PeClock::new(),
            out_ready: vec![false; design.mesh.cols() as usize],
            jobs,
            at: Numbers::of(ports),
            pad_states: vec![0; design.mesh.tiles()],
        }
    }

    pub(super) fn set_clocks(&mut self, clocks: &Clocks) {
        self.clock.set(clocks);
    }

    /// Runs a period under reset, after which everything is as created.
    pub(super) fn reset(&mut self, design: &Design) {
        self.clock.period(true);
        if self.core.fabric().cycle() > 0 {
            self.core = Core::new(design);
        }
    }

    /// Runs a period.
    pub(super) fn step(&mut self, ports: &Ports, input: &mut FabricIn) {
        for (x, ready) in self.out_ready.iter_mut().enumerate() {
            *ready = ports.bit(self.at.out_ready, x);
        }
        if let Some(partials) = self.at.partials {
            self.core.ask_partials(ports.words(partials));
        }
        self.core.step(input, &self.out_ready, self.clock.period(false));
        let Some(jobs) = &self.jobs else { return };
        for (tile, pad) in self.core.pads().iter().enumerate() {
            // The receiver may be gone.
            let _ = pad.job.map(|ask| jobs.send((tile, ask)));
        }
    }

    /// Sets the outputs of the period.
    pub(super) fn show(&mut self, ports: &mut Ports) {
        let at = self.at;
        for (x, root) in self.core.roots().iter().enumerate() {
            ports.put(at.out_valid, x, u32::from(root.out.is_some()));
            ports.put(at.merge_valid, x, u32::from(root.merge.is_some()));
            ports.put(at.merge_sum_valid, x, u32::from(root.summed.is_some()));
            ports.put(at.merge_sum_first, x, u32::from(root.summed.is_some_and(|sum| sum.first)));
            if let Some(out) = root.out {
                ports.put(at.out_stream, x, out.stream);
                ports.put(at.out_layer, x, out.layer);
                ports.put(at.out_head, x, out.head);
                ports.put(at.out_index, x, out.index);
                ports.put(at.out_last, x, u32::from(out.last));
                ports.put(at.out_partial, x, u32::from(out.partial));
            }
            if let Some(merge) = root.merge {
                ports.put(at.merge_stream, x, merge.stream);
                ports.put(at.merge_head, x, merge.head);
                ports.put(at.merge_y, x, merge.y);
            }
        }
        for (tile, pad) in self.core.pads().iter().enumerate() {
            ports.put(at.pad_data, tile, pad.counter.1);
            if std::mem::replace(&mut self.pad_states[tile], pad.state) != pad.state {
                ports.put(at.pad_state, tile, pad.state);
            }
        }
        ports.put(at.pad_index, 0, self.core.pads()[0].counter.0 as u32);
    }
}
