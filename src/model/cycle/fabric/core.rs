//! Core: the fabric, the PaD of every tile, and the reduce root of every column.

use super::endpoints::{FabricIn, FabricShown};
use super::fabric::Fabric;
use super::tile::Shown;
use crate::design::Design;
use crate::model::cycle::pad::{ComputeIn, Pad, PadCommand};
use crate::model::cycle::reduce::{Merge, OutFlit, ReduceRoot, Summed};
use crate::model::cycle::takv::Ask;
use crate::model::datapath::HeadScales;

/// Edges of the PaD's clock in a period of the network's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edges {
    /// Edges before the period's end.
    pub before: u32,
    /// One edge coincides with its end.
    pub at_end: bool,
}

impl Edges {
    /// One clock for both.
    pub const IN_STEP: Edges = Edges { before: 0, at_end: true };
}

/// Outputs of a PaD in a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PadShown {
    /// Activity of the stages, a bit each, as in `pad_state`.
    pub state: u32,
    /// Counter at the port, and its total.
    pub counter: (usize, u32),
    /// Job sent to the PaD in this period.
    pub job: Option<Ask>,
}

/// Outputs of a reduce root in a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RootShown {
    /// Flit of an output.
    pub out: Option<OutFlit>,
    /// Merge that begins.
    pub merge: Option<Merge>,
    /// Sum of a head's last partial.
    pub summed: Option<Summed>,
}

/// Fabric, PaDs and roots.
#[derive(Debug)]
pub struct Core {
    fabric: Fabric,
    pads: Vec<Pad>,
    roots: Vec<ReduceRoot>,
    /// Streams whose heads return partial results, a bit each.
    partials: Box<[u32]>,
    /// Words of a query.
    query_words: u32,
    /// Number of the first word with sinks; none if there are none.
    sink_words: Option<u32>,
    pad_shown: Vec<PadShown>,
    root_shown: Vec<RootShown>,
}

impl Core {
    /// Creates the core in its reset state.
    pub fn new(design: &Design) -> Core {
        let mesh = design.mesh;
        let tiles = mesh.nodes().map(|node| mesh.coords(node));
        Core {
            fabric: Fabric::new(design),
            pads: tiles.map(|(x, y)| Pad::new(design, x, y)).collect(),
            roots: (0..mesh.cols()).map(|_| ReduceRoot::new(design)).collect(),
            partials: vec![0; design.model.max_streams.div_ceil(32) as usize].into(),
            query_words: design.pe.head_dim / 4,
            sink_words: design.has_sinks().then(|| design.bus.sink_group() * design.bus.query_group_words),
            pad_shown: vec![PadShown::default(); mesh.tiles()],
            root_shown: vec![RootShown::default(); mesh.cols() as usize],
        }
    }

    /// The fabric.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// The fabric, for fault injection.
    pub fn fabric_mut(&mut self) -> &mut Fabric {
        &mut self.fabric
    }

    /// Outputs of the fabric in the last period.
    pub fn shown(&self) -> &FabricShown {
        self.fabric.shown()
    }

    /// Outputs of the PaDs in the last period, by tile.
    pub fn pads(&self) -> &[PadShown] {
        &self.pad_shown
    }

    /// Outputs of the roots in the last period, by column.
    pub fn roots(&self) -> &[RootShown] {
        &self.root_shown
    }

    /// Streams whose heads return partial results from now on, a bit each.
    pub fn ask_partials(&mut self, streams: &[u32]) {
        for (mine, words) in self.partials.iter_mut().zip(streams) {
            *mine = *words;
        }
    }

    /// Advances one period of the network's clock and fills in the PaDs' part of `input`. `out_ready`: by
    /// column, the output is taken.
    pub fn step(&mut self, input: &mut FabricIn, out_ready: &[bool], edges: Edges) {
        for (t, pad) in self.pads.iter_mut().enumerate() {
            for _ in 0..edges.before {
                let takes = pad.look(self.fabric.kv(t));
                pad.pe_edge(&pad.between());
                self.fabric.kv_edge(t, takes);
            }
            pad.look(self.fabric.kv(t));
            let (state, counter) = (pad.state(), pad.counter());
            self.pad_shown[t] = PadShown { state, counter, job: None };
            let offers = pad.offers(self.fabric.hears_query(t));
            input.computes[t] = ComputeIn { apart: !edges.at_end, ..offers };
        }
        for (x, root) in self.roots.iter().enumerate() {
            self.root_shown[x] = RootShown { out: root.out(), merge: root.merge(), summed: root.summed() };
            input.computes[x].root_credit = root.credit();
        }
        self.fabric.step(input);
        for (t, pad) in self.pads.iter_mut().enumerate() {
            let (before, shown) = (pad.between(), &self.fabric.shown().tiles[t]);
            let command = command(shown, &input.computes[t], (self.query_words, self.sink_words));
            if let Some(PadCommand::Job(ask)) = command {
                self.pad_shown[t].job = Some(ask);
            }
            pad.noc_edge(command, shown.part_ready, &before);
            if edges.at_end {
                pad.pe_edge(&before);
            }
        }
        for (x, root) in self.roots.iter_mut().enumerate() {
            root.step(self.fabric.shown().tiles[x].root.as_ref(), out_ready[x], &self.partials);
        }
    }
}

/// Command that a tile sent to its PaD in the last period. A query has so many words; those behind them have scales, and from a
/// number on sinks.
fn command(shown: &Shown, offered: &ComputeIn, (words, sinks): (u32, Option<u32>)) -> Option<PadCommand> {
    if let Some(query) = shown.vector {
        let command = match query.word < words {
            true => PadCommand::Query,
            false if sinks.is_some_and(|first| query.word >= first) => PadCommand::Sink,
            false => PadCommand::Scales(query.head, HeadScales::narrow_of(query.data)),
        };
        return offered.vector_ready.then_some(command);
    }
    shown.job.filter(|_| offered.job_ready).map(PadCommand::Job)
}
