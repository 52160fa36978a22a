//! Runs model and Verilog side by side with the same flits and compares all outputs in every cycle.
//!
//! [`Lockstep`] is a [`Network`] like each of the two it runs, so it accepts any traffic. In each
//! period it compares every link between routers and into every tile: the valid bit of each virtual
//! channel, header, destination, and the bit that marks a flit for the next router too. It also
//! compares every credit, and every entry into and delivery from the mesh with its payload. After
//! each step it compares all counters, all virtual channels that hold a flit, and whether all
//! credits are home. The first difference ends the run. [`PortLockstep`](super::PortLockstep) does the same at the ports
//! of a whole fabric.

use super::difference::{field, Difference, Place};
use super::links::Links;
use crate::cosim::dut::model_mesh::ModelMesh;
use crate::cosim::dut::network::{
    Ejection, Entry, Injection, Network, StepStatus, COUNTERS, COUNTERS_PER_PORT,
};
use crate::cosim::dut::verilated::verilated_mesh::VerilatedMesh;
use crate::cosim::dut::DutError;
use crate::design::{Design, Mesh, NodeId, Port};
use crate::model::cycle::network::{Upset, TOTALS};

/// A delivery, the same on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Delivery {
    cycle: u64,
    tile: NodeId,
    vc: u32,
    head: Vec<u32>,
    data: Vec<u32>,
}

/// Model and Verilog.
#[derive(Debug)]
pub struct Lockstep {
    mesh: Mesh,
    rtl: VerilatedMesh,
    model: ModelMesh,
    links: Links,
    /// Resets since its creation.
    runs: u32,
    upset: Option<(u64, NodeId, Upset)>,
    /// Compared routers times cycles.
    compared: u64,
    // Entries and deliveries of this step, the same on both sides, for the caller.
    entries: Vec<Entry>,
    deliveries: Vec<Delivery>,
    // Of one period; the memory is reused.
    entries_now: [Vec<Entry>; 2],
    deliveries_now: [Vec<Delivery>; 2],
}

impl Lockstep {
    /// Pairs a verilated fabric that has just been reset with the model of the same design.
    ///
    /// # Errors
    /// If the library cannot show the fabric's links.
    pub fn new(mut rtl: VerilatedMesh, design: &Design) -> Result<Lockstep, DutError> {
        rtl.record(true, true);
        let links = Links::new(design, &rtl)?;
        Ok(Lockstep {
            mesh: design.mesh,
            rtl,
            model: ModelMesh::new(design),
            links,
            runs: 0,
            upset: None,
            compared: 0,
            entries: Vec::new(),
            deliveries: Vec::new(),
            entries_now: Default::default(),
            deliveries_now: Default::default(),
        })
    }

    /// See [`VerilatedMesh::watchdog`].
    pub fn watchdog(&mut self, cycles: u64) {
        self.rtl.watchdog(cycles);
        self.model.watchdog(cycles);
    }

    /// See [`VerilatedMesh::stall`].
    pub fn stall(&mut self, tile: NodeId, probability: f64, seed: u64) {
        self.rtl.stall(tile, probability, seed);
        self.model.stall(tile, probability, seed);
    }

    /// Changes the model's state before a cycle of every run; the comparison must find it.
    pub fn upset_at(&mut self, cycle: u64, tile: NodeId, upset: Upset) {
        self.upset = Some((cycle, tile, upset));
    }

    /// Routers times cycles compared so far.
    pub fn router_cycles(&self) -> u64 {
        self.compared
    }

    /// Runs one period in both.
    fn period(&mut self) -> anyhow::Result<StepStatus> {
        if let Some((_, tile, upset)) = self.upset.filter(|(cycle, ..)| *cycle == self.rtl.cycle()) {
            self.model.upset(tile, upset);
        }
        let status = self.rtl.step(1)?;
        let modelled = self.model.step(1)?;
        self.compare_tiles()?;
        let cycle = self.rtl.cycle();
        if let Some((place, rtl, model)) = self.links.compare(&self.rtl, &self.model) {
            return Err(self.difference(cycle, place, rtl, model));
        }
        self.compared += self.mesh.tiles() as u64;
        if status != modelled {
            let [rtl, model] = [status, modelled].map(|status| format!("{status:?}"));
            return Err(self.difference(cycle, Place::Fabric("watchdog"), rtl, model));
        }
        Ok(status)
    }

    /// Compares entries and deliveries at the tiles in the last period.
    fn compare_tiles(&mut self) -> anyhow::Result<()> {
        let networks: [&mut dyn Network; 2] = [&mut self.rtl, &mut self.model];
        for (i, network) in networks.into_iter().enumerate() {
            let (entries, deliveries) = (&mut self.entries_now[i], &mut self.deliveries_now[i]);
            entries.clear();
            deliveries.clear();
            network.take_entries(&mut |entry| entries.push(entry));
            network.take_ejections(&mut |Ejection { cycle, tile, vc, head, data }| {
                deliveries.push(Delivery { cycle, tile, vc, head: head.to_vec(), data: data.to_vec() });
            });
        }
        if self.entries_now[0] != self.entries_now[1] || self.deliveries_now[0] != self.deliveries_now[1] {
            return Err(self.name_tile());
        }
        self.entries.append(&mut self.entries_now[0]);
        self.deliveries.append(&mut self.deliveries_now[0]);
        Ok(())
    }

    /// The first tile at which entries or deliveries differ.
    fn name_tile(&self) -> anyhow::Error {
        let cycle = self.rtl.cycle() - 1;
        let [rtl, model] = &self.entries_now;
        for node in self.mesh.nodes() {
            let at =
                |list: &[Entry]| list.iter().find(|e| e.tile == node).map(|e| (e.class, e.sequence, e.vc));
            let [a, b] = [rtl, model].map(|list| at(list));
            if a != b {
                let [a, b] = [a, b].map(|entry| entry.map_or("none".to_owned(), |e| format!("{e:?}")));
                return self.difference(cycle, Place::Link(node, Port::Local, "entry"), a, b);
            }
            let at = |i: usize| self.deliveries_now[i].iter().find(|d| d.tile == node);
            if let Some((name, a, b)) = unlike(at(0), at(1)) {
                return self.difference(cycle, Place::Link(node, Port::Local, name), a, b);
            }
        }
        let [a, b] = [rtl, model].map(|list| format!("{list:?}"));
        self.difference(cycle, Place::Fabric("order of entries"), a, b)
    }

    /// Compares the state that is checked after every step: counters, occupied channels and credits.
    fn compare_registers(&self) -> anyhow::Result<()> {
        let cycle = self.rtl.cycle();
        let [rtl, model] = [Network::counters(&self.rtl), self.model.counters()];
        for (node, (rtl, model)) in self.mesh.nodes().zip(rtl.iter().zip(&model)) {
            if let Some(i) = (0..TOTALS).find(|&i| rtl[i] != model[i]) {
                let port = Port::ALL[i / COUNTERS_PER_PORT];
                let place = Place::Link(node, port, super::difference::COUNTERS[i % COUNTERS_PER_PORT]);
                return Err(self.difference(cycle, place, rtl[i].to_string(), model[i].to_string()));
            }
        }
        let [rtl, model] = [Network::busy_vcs(&self.rtl), self.model.busy_vcs()];
        let only = |a: &[(NodeId, Port, u32)], b: &[_]| a.iter().copied().find(|vc| !b.contains(vc));
        if let Some((node, port, vc)) = only(&rtl, &model).or_else(|| only(&model, &rtl)) {
            let held = |list: &[_]| if list.contains(&(node, port, vc)) { "holds a flit" } else { "empty" };
            let [a, b] = [held(&rtl), held(&model)].map(str::to_owned);
            return Err(self.difference(cycle, Place::Buffer(node, port, vc), a, b));
        }
        let [rtl, model] = [Network::credits_home(&self.rtl), self.model.credits_home()];
        if rtl != model {
            let place = Place::Fabric("credits of all tiles home");
            return Err(self.difference(cycle, place, rtl.to_string(), model.to_string()));
        }
        Ok(())
    }

    fn difference(&self, cycle: u64, place: Place, rtl: String, model: String) -> anyhow::Error {
        Difference::new(self.mesh, self.runs, cycle, place, rtl, model).into()
    }
}

/// The first field of a delivery that differs, and both values.
fn unlike(rtl: Option<&Delivery>, model: Option<&Delivery>) -> Option<(&'static str, String, String)> {
    let (Some(a), Some(b)) = (rtl, model) else {
        let [a, b] = [rtl, model].map(|d| d.map_or("none".to_owned(), |d| format!("one on VC {}", d.vc)));
        return (a != b).then_some(("delivery", a, b));
    };
    let fields: [(_, &[u32], &[u32]); 3] =
        [("VC", &[a.vc], &[b.vc]), ("head", &a.head, &b.head), ("payload", &a.data, &b.data)];
    let (name, a, b) = fields.into_iter().find(|(_, a, b)| a != b)?;
    Some((name, field(a), field(b)))
}

impl Network for Lockstep {
    fn reset(&mut self) -> anyhow::Result<()> {
        self.runs += 1;
        self.entries.clear();
        self.deliveries.clear();
        Network::reset(&mut self.rtl)?;
        self.model.reset()
    }

    fn cycle(&self) -> u64 {
        Network::cycle(&self.rtl)
    }

    fn inject(&mut self, flit: &Injection<'_>) -> anyhow::Result<()> {
        Network::inject(&mut self.rtl, flit)?;
        self.model.inject(flit)
    }

    fn stalls(&self) -> Vec<f64> {
        self.rtl.stalls()
    }

    fn step(&mut self, cycles: u64) -> anyhow::Result<StepStatus> {
        let mut status = StepStatus::Done;
        for _ in 0..cycles {
            status = self.period()?;
            if status == StepStatus::Stuck {
                break;
            }
        }
        self.compare_registers()?;
        Ok(status)
    }

    fn take_entries(&mut self, receive: &mut dyn FnMut(Entry)) {
        self.entries.drain(..).for_each(receive);
    }

    fn take_ejections(&mut self, receive: &mut dyn FnMut(Ejection<'_>)) {
        for Delivery { cycle, tile, vc, head, data } in self.deliveries.drain(..) {
            receive(Ejection { cycle, tile, vc, head: &head, data: &data });
        }
    }

    fn counters(&self) -> Vec<[u32; COUNTERS]> {
        Network::counters(&self.rtl)
    }

    fn busy_vcs(&self) -> Vec<(NodeId, Port, u32)> {
        Network::busy_vcs(&self.rtl)
    }

    fn credits_home(&self) -> bool {
        Network::credits_home(&self.rtl)
    }
}
