//! The whole fabric, or all of it beside the routers, behind packed ports.

use super::super::clocks::Clocks;
use super::super::dut::DutError;
use super::super::socket::Socket;
use super::core::{CorePorts, ToldJob};
use super::packed::{numbers, Ports};
use super::PAYLOAD;
use crate::design::{index_bits, Design, NodeId};
use crate::emit::ModuleSpec;
use crate::model::cycle::around::{Around, FabricIn, FabricShown, LocalIn};
use crate::model::cycle::control::{Beat, Descriptor, MemoryIn, Query};
use crate::model::cycle::fabric::{Fabric, Network};
use crate::model::cycle::flit::Flit;
use crate::model::cycle::mesh::Upset;
use crate::model::cycle::tile::{ComputeIn, Shown};
use crate::model::cycle::transport::PartFlit;
use std::sync::mpsc::Sender;

numbers! {
    query_valid query_ready query_stream query_head query_word query_data
    desc_valid desc_ready desc_prefix desc_layer desc_first desc_stride desc_count desc_first_row desc_last_row
    desc_stream desc_streams desc_mapping desc_share desc_close desc_step idle
    occupancy_valid occupancy_tile occupancy_value swap_valid swap_a swap_b
    vector_valid vector_ready vector_stream vector_head vector_word vector_data
    job_valid job_ready job_close job_tag job_mask job_stream job_streams job_first_row job_last_row job_mapping job_lag
    kv_valid kv_ready kv_tag kv_index kv_mask kv_data compute_idle
    part_valid part_ready part_first part_last part_alone part_stream part_layer part_head part_data
    root_valid root_credit root_first root_last root_alone root_stream root_layer root_head root_x root_y root_data
    m_axi_arvalid m_axi_arready m_axi_arid m_axi_araddr m_axi_arlen m_axi_arsize m_axi_arburst
    m_axi_rvalid m_axi_rready m_axi_rid m_axi_rdata m_axi_rresp m_axi_rlast
    error_memory error_timeout event_index event_data
    tx_valid tx_dest tx_head tx_data tx_credit rx_valid rx_head rx_data rx_credit
    vc_busy stat_index stat_data
}

/// What is behind the ports.
#[derive(Debug)]
enum Engine {
    Whole(Box<Fabric>),
    /// The links to the routers are ports.
    Around(Box<Around>),
    /// What computes is there too.
    Core(Box<CorePorts>),
}

impl Engine {
    fn cycle(&self) -> u64 {
        match self {
            Engine::Whole(fabric) => fabric.cycle(),
            Engine::Around(around) => around.cycle(),
            Engine::Core(core) => core.core.fabric().cycle(),
        }
    }

    fn shown(&self) -> &FabricShown {
        match self {
            Engine::Whole(fabric) => fabric.shown(),
            Engine::Around(around) => around.shown(),
            Engine::Core(core) => core.core.shown(),
        }
    }

    fn network(&self) -> Option<&Network> {
        match self {
            Engine::Whole(fabric) => Some(fabric.network()),
            Engine::Around(_) => None,
            Engine::Core(core) => Some(core.core.fabric().network()),
        }
    }
}

/// The model of a fabric behind packed ports.
#[derive(Debug)]
pub struct FabricPorts {
    design: Design,
    engine: Engine,
    ports: Ports,
    at: Numbers,
    input: FabricIn,
    /// Buffers of routers that hold flits, as they are shown.
    busy: Vec<u64>,
}

impl FabricPorts {
    /// With the ports of `top`: of the whole fabric, or of what [`around_ports`](super::super::verilate::around_ports) has.
    pub fn new(design: &Design, top: &ModuleSpec) -> FabricPorts {
        let ports = Ports::of(top, design);
        let engine = match ports.find("vc_busy") {
            Some(_) => Engine::Whole(Box::new(Fabric::new(design))),
            None => Engine::Around(Box::new(Around::new(design))),
        };
        FabricPorts::of(design, ports, engine)
    }

    /// The whole design, with the ports of its top. No number is computed; who does so hears of every job.
    pub fn core(design: &Design, top: &ModuleSpec, told: Option<Sender<ToldJob>>) -> FabricPorts {
        let ports = Ports::of(top, design);
        let core = CorePorts::new(design, &ports, told);
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

    /// Inputs of the period.
    fn drive(&mut self) {
        let at = self.at;
        self.input.descriptor = self.ports.bit(at.desc_valid, 0).then(|| self.descriptor());
        self.input.query = self.ports.bit(at.query_valid, 0).then(|| Query {
            stream: self.ports.get32(at.query_stream, 0),
            head: self.ports.get32(at.query_head, 0),
            word: self.ports.get32(at.query_word, 0),
            data: self.ports.get(at.query_data, 0),
        });
        for port in 0..self.input.memory.len() {
            let beat = self.ports.bit(at.m_axi_rvalid, port).then(|| Beat {
                id: self.ports.get32(at.m_axi_rid, port),
                bad: self.ports.get(at.m_axi_rresp, port) != 0,
                last: self.ports.bit(at.m_axi_rlast, port),
                data: self.ports.get(at.m_axi_rdata, port),
            });
            self.input.memory[port] =
                MemoryIn { request_ready: self.ports.bit(at.m_axi_arready, port), beat };
        }
        if matches!(self.engine, Engine::Core(_)) {
            return;
        }
        for tile in 0..self.input.computes.len() {
            self.input.computes[tile] = self.compute(tile);
        }
    }

    fn descriptor(&self) -> Descriptor {
        let at = self.at;
        let get = |port| self.ports.get32(port, 0);
        Descriptor {
            prefix: get(at.desc_prefix),
            layer: get(at.desc_layer),
            first: get(at.desc_first),
            stride: get(at.desc_stride),
            count: get(at.desc_count),
            first_row: get(at.desc_first_row),
            last_row: get(at.desc_last_row),
            stream: get(at.desc_stream),
            streams: get(at.desc_streams),
            mapping: get(at.desc_mapping),
            share: get(at.desc_share) == 1,
            close: get(at.desc_close) == 1,
            step: get(at.desc_step) == 1,
        }
    }

    fn compute(&self, tile: usize) -> ComputeIn {
        let at = self.at;
        let part = self.ports.bit(at.part_valid, tile).then(|| PartFlit {
            first: self.ports.bit(at.part_first, tile),
            last: self.ports.bit(at.part_last, tile),
            alone: self.ports.bit(at.part_alone, tile),
            stream: self.ports.get32(at.part_stream, tile),
            layer: self.ports.get32(at.part_layer, tile),
            head: self.ports.get32(at.part_head, tile),
            data: self.ports.get(at.part_data, tile),
        });
        ComputeIn {
            vector_ready: self.ports.bit(at.vector_ready, tile),
            job_ready: self.ports.bit(at.job_ready, tile),
            kv_ready: self.ports.bit(at.kv_ready, tile),
            apart: false,
            idle: self.ports.bit(at.compute_idle, tile),
            part,
            root_credit: self.ports.get32(at.root_credit, tile),
        }
    }

    /// A period under reset.
    fn reset(&mut self) {
        let fresh = self.engine.cycle() == 0;
        match &mut self.engine {
            Engine::Core(core) => core.reset(&self.design),
            _ if fresh => {}
            Engine::Whole(fabric) => **fabric = Fabric::new(&self.design),
            Engine::Around(around) => **around = Around::new(&self.design),
        }
    }

    /// What the router shows a tile, where it is played from outside.
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

    /// What the routers see of a tile.
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

    /// What of registers is seen before the period passes, as the edge sees it.
    fn show_registers(&mut self) {
        for tile in 0..self.busy.len() {
            if let Engine::Around(around) = &self.engine {
                let port = around.tiles()[tile].transport().port();
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

    /// The link counter of every router.
    fn show_counters(&mut self) {
        let Some(network) = self.engine.network() else { return };
        self.ports.put(self.at.stat_index, 0, network.counter_shown() as u64);
        for tile in 0..self.busy.len() {
            self.ports.put(self.at.stat_data, tile, network.counter(tile));
        }
    }

    /// What whoever drives the fabric must not do stops it, as a check of the Verilog does.
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

    /// What the period carried.
    fn show(&mut self) {
        let at = self.at;
        let control = self.engine.shown().control;
        self.ports.put(at.desc_ready, 0, u32::from(control.descriptor_ready));
        self.ports.put(at.query_ready, 0, u32::from(control.query_ready));
        self.ports.put(at.idle, 0, u32::from(control.idle));
        self.ports.put(at.occupancy_valid, 0, u32::from(control.swap.occupancy.is_some()));
        if let Some((tile, value)) = control.swap.occupancy {
            self.ports.put(at.occupancy_tile, 0, self.coordinates(tile));
            self.ports.put(at.occupancy_value, 0, value);
        }
        self.ports.put(at.swap_valid, 0, u32::from(control.swap.swap.is_some()));
        if let Some((a, b)) = control.swap.swap {
            self.ports.put(at.swap_a, 0, self.coordinates(a));
            self.ports.put(at.swap_b, 0, self.coordinates(b));
        }
        for port in 0..self.input.memory.len() {
            let read = self.engine.shown().reads[port];
            self.ports.put(at.m_axi_rready, port, 1_u32);
            self.ports.put(at.m_axi_arvalid, port, u32::from(read.is_some()));
            let Some(read) = read else { continue };
            self.ports.put(at.m_axi_arid, port, read.id);
            self.ports.put(at.m_axi_araddr, port, read.address);
            self.ports.put(at.m_axi_arlen, port, read.len);
            self.ports.put(at.m_axi_arsize, port, (self.design.flit.data_width / 8).ilog2());
            self.ports.put(at.m_axi_arburst, port, 1_u32);
        }
        for tile in 0..self.busy.len() {
            let shown = self.engine.shown().tiles[tile];
            self.show_tile(tile, &shown);
        }
        self.ports.put(at.event_index, 0, self.engine.shown().tiles[0].event.0 as u32);
        self.show_counters();
        if let Engine::Core(core) = &mut self.engine {
            core.show(&mut self.ports);
        }
    }

    fn coordinates(&self, tile: usize) -> u32 {
        let (x, y) = (tile as u32 % self.design.mesh.cols(), tile as u32 / self.design.mesh.cols());
        y << index_bits(self.design.mesh.cols()) | x
    }

    fn show_tile(&mut self, tile: usize, shown: &Shown) {
        let at = self.at;
        self.ports.put(at.event_data, tile, shown.event.1);
        self.ports.put(at.error_memory, tile, u32::from(shown.error_memory));
        self.ports.put(at.error_timeout, tile, u32::from(shown.error_timeout));
        self.ports.put(at.part_ready, tile, u32::from(shown.part_ready));
        self.ports.put(at.vector_valid, tile, u32::from(shown.vector.is_some()));
        if let Some(vector) = shown.vector {
            self.ports.put(at.vector_stream, tile, vector.stream);
            self.ports.put(at.vector_head, tile, vector.head);
            self.ports.put(at.vector_word, tile, vector.word);
            self.ports.put(at.vector_data, tile, vector.data);
        }
        self.ports.put(at.kv_valid, tile, u32::from(shown.kv.is_some()));
        if let Some(kv) = shown.kv {
            self.ports.put(at.kv_tag, tile, kv.tag);
            self.ports.put(at.kv_index, tile, kv.index);
            self.ports.put(at.kv_mask, tile, kv.mask);
            self.ports.put(at.kv_data, tile, kv.data);
        }
        self.show_job(tile, shown);
        self.show_root(tile, shown);
    }

    fn show_job(&mut self, tile: usize, shown: &Shown) {
        let at = self.at;
        self.ports.put(at.job_valid, tile, u32::from(shown.job.is_some()));
        let Some(job) = shown.job else { return };
        self.ports.put(at.job_close, tile, u32::from(job.close));
        self.ports.put(at.job_tag, tile, job.tag);
        self.ports.put(at.job_mask, tile, job.mask);
        self.ports.put(at.job_stream, tile, job.stream);
        self.ports.put(at.job_streams, tile, job.streams);
        self.ports.put(at.job_first_row, tile, job.rows.0);
        self.ports.put(at.job_last_row, tile, job.rows.1);
        self.ports.put(at.job_mapping, tile, job.mapping);
        self.ports.put(at.job_lag, tile, job.lag);
    }

    fn show_root(&mut self, tile: usize, shown: &Shown) {
        let at = self.at;
        self.ports.put(at.root_valid, tile, shown.root.map_or(0, |root| root.valid));
        let Some(root) = shown.root else { return };
        self.ports.put(at.root_first, tile, u32::from(root.part.first));
        self.ports.put(at.root_last, tile, u32::from(root.part.last));
        self.ports.put(at.root_alone, tile, u32::from(root.part.alone));
        self.ports.put(at.root_stream, tile, root.part.stream);
        self.ports.put(at.root_layer, tile, root.part.layer);
        self.ports.put(at.root_head, tile, root.part.head);
        self.ports.put(at.root_x, tile, root.x);
        self.ports.put(at.root_y, tile, root.y);
        self.ports.put(at.root_data, tile, root.part.data);
    }
}

impl Socket for FabricPorts {
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
            Engine::Around(_) => (0..self.busy.len()).map(|tile| self.local(tile)).collect(),
            Engine::Whole(_) | Engine::Core(_) => Vec::new(),
        };
        match &mut self.engine {
            Engine::Whole(fabric) => fabric.step(&self.input),
            Engine::Around(around) => around.step(&self.input, &played),
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
            Engine::Around(_) => return Err(DutError::Mismatch("it has no routers to upset".to_owned())),
        };
        network.upset(tile, upset);
        Ok(())
    }

    fn payload_bits(&self) -> u32 {
        PAYLOAD
    }
}
