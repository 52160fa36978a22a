//! The model of the whole fabric, or of all but the routers, behind packed ports.

mod inputs;
mod outputs;

use super::core::{CorePorts, TileJob};
use super::engine::Engine;
use super::packed::{numbers, Ports, PAYLOAD};
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::ports::DutPorts;
use crate::cosim::dut::DutError;
use crate::design::{Design, NodeId};
use crate::emit::ModuleSpec;
use crate::model::cycle::common::Reached;
use crate::model::cycle::fabric::{Endpoints, Fabric, FabricIn, LocalIn};
use crate::model::cycle::network::{Flit, Upset};
use crate::model::cycle::pad::ComputeIn;
use crate::model::cycle::takv::MemoryIn;
use std::sync::mpsc::Sender;

numbers! {
    query_valid query_ready query_stream query_head query_group query_data more_queries
    desc_valid desc_ready desc_prefix desc_layer desc_first desc_stride desc_count desc_first_row desc_last_row
    desc_stream desc_streams desc_mapping desc_share desc_close desc_step desc_append idle
    page_valid page_entry page_number
    token_valid token_group token_data more_tokens write_valid write_data write_credit writes_wait
    occupancy_valid occupancy_tile occupancy_value swap_valid swap_a swap_b
    vector_valid vector_ready vector_stream vector_head vector_word vector_data
    job_valid job_ready job_close job_tag job_mask job_stream job_streams job_first_row job_last_row job_mapping job_lag
    kv_valid kv_ready kv_tag kv_index kv_mask kv_data compute_idle
    part_valid part_ready part_first part_last part_others part_stream part_layer part_head part_data
    root_valid root_credit root_first root_last root_others root_stream root_layer root_head root_x root_y root_data
    m_axi_arvalid m_axi_arready m_axi_arid m_axi_araddr m_axi_arlen m_axi_arsize m_axi_arburst
    m_axi_rvalid m_axi_rready m_axi_rid m_axi_rdata m_axi_rresp m_axi_rlast
    error_memory error_timeout event_index event_data
    tx_valid tx_dest tx_head tx_data tx_credit rx_valid rx_head rx_data rx_credit
    vc_busy stat_index stat_data
}

/// The model of a fabric behind packed ports.
#[derive(Debug)]
pub struct FabricPorts {
    design: Design,
    engine: Engine,
    ports: Ports,
    at: Numbers,
    input: FabricIn,
    /// Router buffers that hold flits, as the port shows them.
    busy: Vec<u64>,
}

impl FabricPorts {
    /// The model with the ports of `top`: the whole fabric, or the endpoints of
    /// [`endpoint_ports`](crate::cosim::build::endpoint_ports).
    pub fn new(design: &Design, top: &ModuleSpec) -> FabricPorts {
        let ports = Ports::of(top, design);
        let engine = match ports.find("vc_busy") {
            Some(_) => Engine::Whole(Box::new(Fabric::new(design))),
            None => Engine::Endpoints(Box::new(Endpoints::new(design))),
        };
        FabricPorts::of(design, ports, engine)
    }

    /// The whole design, with the ports of its top. It computes no numbers; the receiver `jobs`
    /// gets every job and may compute them.
    pub fn core(design: &Design, top: &ModuleSpec, jobs: Option<Sender<TileJob>>) -> FabricPorts {
        let ports = Ports::of(top, design);
        let core = CorePorts::new(design, &ports, jobs);
        FabricPorts::of(design, ports, Engine::Core(Box::new(core)))
    }

    fn of(design: &Design, ports: Ports, engine: Engine) -> FabricPorts {
        let at = Numbers::of(&ports);
        let input = FabricIn {
            memory: vec![MemoryIn::default(); design.memory.ports as usize],
            computes: vec![ComputeIn::default(); design.mesh.tiles()],
            ..FabricIn::default()
        };
        FabricPorts { design: design.clone(), engine, ports, at, input, busy: vec![0; design.mesh.tiles()] }
    }

    /// Runs a period under reset.
    fn reset(&mut self) {
        let fresh = self.engine.cycle() == 0;
        match &mut self.engine {
            Engine::Core(core) => core.reset(&self.design),
            _ if fresh => {}
            Engine::Whole(fabric) => **fabric = Fabric::new(&self.design),
            Engine::Endpoints(endpoints) => **endpoints = Endpoints::new(&self.design),
        }
    }

    /// Outputs of the router to a tile, where the caller plays the routers.
    fn local(&self, tile: usize) -> LocalIn {
        let at = self.at;
        let valid = self.ports.get32(at.rx_valid, tile);
        let flit = || Flit {
            head: self.ports.get_wide(at.rx_head, tile),
            data: self.ports.get(at.rx_data, tile),
            dest: [0; 4],
        };
        let rx = (valid != 0).then(|| (valid.trailing_zeros(), flit()));
        LocalIn { rx, tx_credit: self.ports.get32(at.tx_credit, tile) }
    }

    /// Sets the outputs of a tile to its router.
    fn show_link(&mut self, tile: usize, sent: Option<(u32, Flit)>, credit: u32) {
        let at = self.at;
        self.ports.put(at.rx_credit, tile, credit);
        self.ports.put(at.tx_valid, tile, sent.map_or(0, |(vc, _)| 1_u32 << vc));
        let Some((_, flit)) = sent else { return };
        let words = |wide: u64| [wide as u32, (wide >> 32) as u32];
        let head = [words(flit.head as u64), words((flit.head >> 64) as u64)].concat();
        self.ports.put_words(at.tx_head, tile, &head);
        self.ports.put(at.tx_data, tile, flit.data);
        self.ports.put_words(at.tx_dest, tile, &flit.dest.map(words).concat());
    }

    /// Sets the outputs that the edge samples before the period passes.
    fn show_registers(&mut self) {
        for tile in 0..self.busy.len() {
            if let Engine::Endpoints(endpoints) = &self.engine {
                let port = endpoints.tiles()[tile].transport().port();
                let (sent, credit) = (port.tx().copied(), port.rx_credit());
                self.show_link(tile, sent, credit);
            }
            let Some(network) = self.engine.network() else { continue };
            let busy = network.busy(tile);
            if std::mem::replace(&mut self.busy[tile], busy) != busy {
                self.ports.put(self.at.vc_busy, tile, busy);
            }
        }
    }

    /// Sets the link counter of every router.
    fn show_counters(&mut self) {
        let Some(network) = self.engine.network() else { return };
        self.ports.put(self.at.stat_index, 0, network.counter_shown() as u64);
        for (tile, &total) in network.counters().iter().enumerate() {
            self.ports.put(self.at.stat_data, tile, total);
        }
    }

    /// Stops the run at an illegal input, as a check of the Verilog does.
    fn judge(&self) -> Result<(), DutError> {
        let tiles = self.engine.shown().tiles.iter();
        let Some(tile) = tiles.zip(self.design.mesh.nodes()).find(|(shown, _)| shown.named_again) else {
            return Ok(());
        };
        let (x, y) = self.design.mesh.coords(tile.1);
        Err(DutError::Stopped(format!(
            "in cycle {}, at the home in ({x}, {y}): a descriptor names a slice again before it was served",
            self.engine.cycle() - 1
        )))
    }
}

impl DutPorts for FabricPorts {
    fn find(&mut self, name: &str) -> Option<usize> {
        self.ports.find(name)
    }

    fn words(&self, port: usize, _bits: u32) -> &[u32] {
        self.ports.words(port)
    }

    fn words_mut(&mut self, port: usize, _bits: u32) -> &mut [u32] {
        self.ports.words_mut(port)
    }

    fn tick(&mut self, rst: bool) -> Result<(), DutError> {
        if rst {
            self.reset();
            return Ok(());
        }
        self.drive();
        self.show_registers();
        let played: Vec<_> = match &self.engine {
            Engine::Endpoints(_) => (0..self.busy.len()).map(|tile| self.local(tile)).collect(),
            Engine::Whole(_) | Engine::Core(_) => Vec::new(),
        };
        match &mut self.engine {
            Engine::Whole(fabric) => fabric.step(&self.input),
            Engine::Endpoints(endpoints) => endpoints.step(&self.input, &played),
            Engine::Core(core) => core.step(&self.ports, &mut self.input),
        }
        self.show();
        self.judge()
    }

    fn set_clocks(&mut self, clocks: &Clocks) -> Result<(), DutError> {
        match &mut self.engine {
            Engine::Core(core) if clocks.jitter == 0 => {
                core.set_clocks(clocks);
                Ok(())
            }
            _ if clocks.in_step() => Ok(()),
            _ => Err(DutError::Mismatch("the model has no clock with jitter".to_owned())),
        }
    }

    fn upset(&mut self, tile: NodeId, upset: Upset) -> Result<(), DutError> {
        let network = match &mut self.engine {
            Engine::Whole(fabric) => fabric.network_mut(),
            Engine::Core(core) => core.core.fabric_mut().network_mut(),
            Engine::Endpoints(_) => return Err(DutError::Mismatch("it has no routers to upset".to_owned())),
        };
        network.upset(tile, upset);
        Ok(())
    }

    fn reached(&self) -> Option<Reached> {
        Some(self.engine.reached())
    }

    fn payload_bits(&self) -> u32 {
        PAYLOAD
    }
}
