//! A fabric that can be interrupted between steps.

use super::interrupt::{Interrupt, Interrupted};
use crate::cosim::dut::network::{Ejection, Entry, Injection, Network, StepStatus, COUNTERS};
use crate::design::{NodeId, Port};
use std::path::Path;

/// A holder of a fabric.
pub(super) trait Fabric {
    /// The fabric, shared.
    fn network(&self) -> &dyn Network;
    /// The fabric, exclusive.
    fn network_mut(&mut self) -> &mut dyn Network;
}

impl<N: Network> Fabric for &mut N {
    fn network(&self) -> &dyn Network {
        &**self
    }

    fn network_mut(&mut self) -> &mut dyn Network {
        &mut **self
    }
}

/// A fabric that ends with [`Interrupted`] at the next step after Ctrl-C.
pub(super) struct Watched<'a, F> {
    pub(super) fabric: F,
    pub(super) interrupt: &'a Interrupt,
    /// File of the waves being written: they are kept, and closed with the fabric.
    pub(super) waves: Option<&'a Path>,
}

impl<F: Fabric> Network for Watched<'_, F> {
    fn reset(&mut self) -> anyhow::Result<()> {
        self.fabric.network_mut().reset()
    }

    fn cycle(&self) -> u64 {
        self.fabric.network().cycle()
    }

    fn stalls(&self) -> Vec<f64> {
        self.fabric.network().stalls()
    }

    fn inject(&mut self, flit: &Injection<'_>) -> anyhow::Result<()> {
        self.fabric.network_mut().inject(flit)
    }

    fn payload_words(&self, all: usize) -> usize {
        self.fabric.network().payload_words(all)
    }

    fn step(&mut self, cycles: u64) -> anyhow::Result<StepStatus> {
        if self.interrupt.requested() {
            let waves = self
                .waves
                .map_or(String::new(), |path| format!("; waves until then are in {}", path.display()));
            let what = format!("in cycle {}; no result, no picture{waves}", self.cycle());
            return Err(Interrupted(what).into());
        }
        self.fabric.network_mut().step(cycles)
    }

    fn take_entries(&mut self, receive: &mut dyn FnMut(Entry)) {
        self.fabric.network_mut().take_entries(receive);
    }

    fn take_ejections(&mut self, receive: &mut dyn FnMut(Ejection<'_>)) {
        self.fabric.network_mut().take_ejections(receive);
    }

    fn counters(&self) -> Vec<[u32; COUNTERS]> {
        self.fabric.network().counters()
    }

    fn busy_vcs(&self) -> Vec<(NodeId, Port, u32)> {
        self.fabric.network().busy_vcs()
    }

    fn credits_home(&self) -> bool {
        self.fabric.network().credits_home()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::cosim::dut::model_mesh::ModelMesh;
    use crate::design::Design;

    /// The bound of a wait depends on them: a watched fabric whose tiles stall was judged as one whose tiles do not.
    #[test]
    fn the_tiles_that_stall_are_told() {
        let design = Design::from_config("watched", &Config::default()).unwrap();
        let mut model = ModelMesh::new(&design);
        model.stall(design.mesh.nodes().next().unwrap(), 0.5, 1);
        let interrupt = Interrupt::default();
        let watched = Watched { fabric: &mut model, interrupt: &interrupt, waves: None };
        assert_eq!(watched.stalls(), [0.5]);
    }
}
