//! The whole design: the fabric, what computes at every tile, and the reduce roots of all columns.

use super::endpoints::{FabricIn, FabricShown};
use super::fabric::Fabric;
use super::tile::Shown;
use crate::design::Design;
use crate::model::cycle::pad::{ComputeIn, Pad, Told};
use crate::model::cycle::reduce::{Merge, OutFlit, ReduceRoot};
use crate::model::cycle::takv::Ask;

/// Edges of the clock of what computes in a period of the network's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edges {
    /// Before the period's end.
    pub before: u32,
    /// One falls together with its end.
    pub at_end: bool,
}

impl Edges {
    /// One clock for all.
    pub const IN_STEP: Edges = Edges { before: 0, at_end: true };
}

/// What computes at a tile, as it is seen from outside in a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PadShown {
    /// What stages do, a bit each, as `pad_state` has them.
    pub state: u32,
    /// The counter that is shown, and its total.
    pub counter: (usize, u32),
    /// A job that was told in this period.
    pub told: Option<Ask>,
}

/// What a reduce root shows in a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RootShown {
    /// A flit of an output.
    pub out: Option<OutFlit>,
    /// What begins to be merged.
    pub merge: Option<Merge>,
}

/// Fabric, pads and roots.
#[derive(Debug)]
pub struct Core {
    fabric: Fabric,
    pads: Vec<Pad>,
    roots: Vec<ReduceRoot>,
    pad_shown: Vec<PadShown>,
    root_shown: Vec<RootShown>,
}

impl Core {
    /// Out of reset.
    pub fn new(design: &Design) -> Core {
        let mesh = design.mesh;
        let tiles = mesh.nodes().map(|node| mesh.coords(node));
        Core {
            fabric: Fabric::new(design),
            pads: tiles.map(|(x, y)| Pad::new(design, x, y)).collect(),
            roots: (0..mesh.cols()).map(|_| ReduceRoot::new(design)).collect(),
            pad_shown: vec![PadShown::default(); mesh.tiles()],
            root_shown: vec![RootShown::default(); mesh.cols() as usize],
        }
    }

    /// The fabric.
    pub fn fabric(&self) -> &Fabric {
        &self.fabric
    }

    /// The fabric, to be upset.
    pub fn fabric_mut(&mut self) -> &mut Fabric {
        &mut self.fabric
    }

    /// What ports of the fabric showed in the last period.
    pub fn shown(&self) -> &FabricShown {
        self.fabric.shown()
    }

    /// The same of what computes, by tile.
    pub fn pads(&self) -> &[PadShown] {
        &self.pad_shown
    }

    /// The same of the roots, by column.
    pub fn roots(&self) -> &[RootShown] {
        &self.root_shown
    }

    /// Passes a period of the network's clock; of `input` what computes is filled in. `out_ready` has a column's
    /// output taken.
    pub fn step(&mut self, input: &mut FabricIn, out_ready: &[bool], edges: Edges) {
        for (t, pad) in self.pads.iter_mut().enumerate() {
            for _ in 0..edges.before {
                let takes = pad.look(self.fabric.kv(t));
                pad.pe_edge(&pad.between());
                self.fabric.kv_edge(t, takes);
            }
            pad.look(self.fabric.kv(t));
            let (state, counter) = (pad.state(), pad.counter());
            self.pad_shown[t] = PadShown { state, counter, told: None };
            let offers = pad.offers(self.fabric.hears_query(t));
            input.computes[t] = ComputeIn { apart: !edges.at_end, ..offers };
        }
        for (x, root) in self.roots.iter().enumerate() {
            self.root_shown[x] = RootShown { out: root.out(), merge: root.merge() };
            input.computes[x].root_credit = root.credit();
        }
        self.fabric.step(input);
        for (t, pad) in self.pads.iter_mut().enumerate() {
            let (before, shown) = (pad.between(), &self.fabric.shown().tiles[t]);
            let told = told(shown, &input.computes[t]);
            if let Some(Told::Job(ask)) = told {
                self.pad_shown[t].told = Some(ask);
            }
            pad.noc_edge(told, shown.part_ready, &before);
            if edges.at_end {
                pad.pe_edge(&before);
            }
        }
        for (x, root) in self.roots.iter_mut().enumerate() {
            root.step(self.fabric.shown().tiles[x].root.as_ref(), out_ready[x]);
        }
    }
}

/// What a tile told what computes in the last period.
fn told(shown: &Shown, offered: &ComputeIn) -> Option<Told> {
    if shown.vector.is_some() {
        return offered.vector_ready.then_some(Told::Query);
    }
    shown.job.filter(|_| offered.job_ready).map(Told::Job)
}
