//! The ports of the fabric as the model shows them.
//!
//! Payloads are their low 64 bits: of a flit of memory or of PART that is enough to tell which one it is.

use super::bits::{get_bits, put_bits};
use super::dut::DutError;
use super::socket::Socket;
use crate::design::Design;
use crate::emit::{ModuleSpec, PortSpec};
use crate::model::cycle::around::{Around, FabricIn, LocalIn};
use crate::model::cycle::control::{Beat, Descriptor, MemoryIn, Query};
use crate::model::cycle::flit::Flit;
use crate::model::cycle::tile::{ComputeIn, Shown};
use crate::model::cycle::transport::PartFlit;

/// Bits of a payload that the model carries.
const PAYLOAD: u32 = 64;

/// A packed port.
#[derive(Debug, Clone)]
struct Packed {
    name: String,
    words: Vec<u32>,
    /// Bits of one part.
    width: u32,
}

impl Packed {
    fn new(port: &PortSpec, design: &Design) -> Packed {
        let of = |what: &str| port.width.expr.split('*').any(|factor| factor == what);
        let parts = match (of("TILES"), of("PORTS")) {
            (true, _) => design.mesh.tiles() as u32,
            (_, true) => design.memory.ports,
            _ => 1,
        };
        let bits = port.width.bits;
        Packed { name: port.name.clone(), words: vec![0; bits.div_ceil(32) as usize], width: bits / parts }
    }

    /// The low 64 bits of a part.
    fn get(&self, part: usize) -> u64 {
        let width = self.width.min(PAYLOAD);
        let words = get_bits(&self.words, part * self.width as usize, width);
        words.zip([0, 32]).fold(0, |value, (word, shift)| value | u64::from(word) << shift)
    }

    /// Sets the low bits of a part.
    fn put(&mut self, part: usize, value: u128) {
        let words: [u32; 4] = std::array::from_fn(|i| (value >> (32 * i)) as u32);
        put_bits(&mut self.words, part * self.width as usize, self.width.min(u128::BITS), &words);
    }
}

/// Numbers of ports, found once by name; those that a design has not are none.
macro_rules! numbers {
    ($($name:ident)+) => {
        #[derive(Debug, Clone, Copy)]
        struct Numbers {
            $($name: Option<usize>,)+
        }

        impl Numbers {
            fn of(ports: &[Packed]) -> Numbers {
                let find = |name: &str| ports.iter().position(|port| port.name == name);
                Numbers { $($name: find(stringify!($name)),)+ }
            }
        }
    };
}

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
}

/// The model of tiles and periphery behind packed ports.
#[derive(Debug)]
pub struct ModelledAround {
    design: Design,
    around: Around,
    ports: Vec<Packed>,
    at: Numbers,
    input: FabricIn,
    locals: Vec<LocalIn>,
}

impl ModelledAround {
    /// With the ports of `top`.
    pub fn new(design: &Design, top: &ModuleSpec) -> ModelledAround {
        let ports: Vec<_> = top.ports.iter().map(|port| Packed::new(port, design)).collect();
        let at = Numbers::of(&ports);
        let input = FabricIn {
            memory: vec![MemoryIn::default(); design.memory.ports as usize],
            computes: vec![ComputeIn::default(); design.mesh.tiles()],
            ..FabricIn::default()
        };
        let locals = vec![LocalIn::default(); design.mesh.tiles()];
        ModelledAround { design: design.clone(), around: Around::new(design), ports, at, input, locals }
    }

    fn get(&self, port: Option<usize>, part: usize) -> u64 {
        port.map_or(0, |port| self.ports[port].get(part))
    }

    fn get32(&self, port: Option<usize>, part: usize) -> u32 {
        self.get(port, part) as u32
    }

    fn bit(&self, port: Option<usize>, part: usize) -> bool {
        self.get(port, part) == 1
    }

    fn put(&mut self, port: Option<usize>, part: usize, value: impl Into<u128>) {
        if let Some(port) = port {
            self.ports[port].put(part, value.into());
        }
    }

    /// Inputs of the period.
    fn drive(&mut self) {
        let at = self.at;
        self.input.descriptor = self.bit(at.desc_valid, 0).then(|| self.descriptor());
        self.input.query = self.bit(at.query_valid, 0).then(|| Query {
            stream: self.get32(at.query_stream, 0),
            head: self.get32(at.query_head, 0),
            word: self.get32(at.query_word, 0),
            data: self.get(at.query_data, 0),
        });
        for port in 0..self.input.memory.len() {
            let beat = self.bit(at.m_axi_rvalid, port).then(|| Beat {
                id: self.get32(at.m_axi_rid, port),
                bad: self.get(at.m_axi_rresp, port) != 0,
                last: self.bit(at.m_axi_rlast, port),
                data: self.get(at.m_axi_rdata, port),
            });
            self.input.memory[port] = MemoryIn { request_ready: self.bit(at.m_axi_arready, port), beat };
        }
        for tile in 0..self.input.computes.len() {
            self.input.computes[tile] = self.compute(tile);
            self.locals[tile] = self.local(tile);
        }
    }

    fn descriptor(&self) -> Descriptor {
        let at = self.at;
        let get = |port| self.get32(port, 0);
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
        let part = self.bit(at.part_valid, tile).then(|| PartFlit {
            first: self.bit(at.part_first, tile),
            last: self.bit(at.part_last, tile),
            alone: self.bit(at.part_alone, tile),
            stream: self.get32(at.part_stream, tile),
            layer: self.get32(at.part_layer, tile),
            head: self.get32(at.part_head, tile),
            data: self.get(at.part_data, tile),
        });
        ComputeIn {
            vector_ready: self.bit(at.vector_ready, tile),
            job_ready: self.bit(at.job_ready, tile),
            kv_ready: self.bit(at.kv_ready, tile),
            idle: self.bit(at.compute_idle, tile),
            part,
            root_credit: self.get32(at.root_credit, tile),
        }
    }

    /// What the router shows a tile, where it is played from outside.
    fn local(&self, tile: usize) -> LocalIn {
        let at = self.at;
        let valid = self.get32(at.rx_valid, tile);
        let head = |port: &Packed| {
            let words = get_bits(&port.words, tile * port.width as usize, port.width);
            words.zip([0, 32, 64, 96]).fold(0, |head, (word, shift)| head | u128::from(word) << shift)
        };
        let rx = (valid != 0).then(|| {
            let head = at.rx_head.map_or(0, |port| head(&self.ports[port]));
            (valid.trailing_zeros(), Flit { head, data: self.get(at.rx_data, tile), dest: [0; 4] })
        });
        LocalIn { rx, tx_credit: self.get32(at.tx_credit, tile) }
    }

    /// What the routers see, as it is before the period passes.
    fn show_links(&mut self) {
        let at = self.at;
        for tile in 0..self.locals.len() {
            let port = self.around.tiles()[tile].transport().port();
            let (sent, credit) = (port.tx().copied(), port.rx_credit());
            self.put(at.rx_credit, tile, credit);
            self.put(at.tx_valid, tile, sent.map_or(0, |(vc, _)| 1_u32 << vc));
            let Some((_, flit)) = sent else { continue };
            self.put(at.tx_head, tile, flit.head);
            self.put(at.tx_data, tile, flit.data);
            let words = flit.dest.map(|word| [word as u32, (word >> 32) as u32]).concat();
            if let Some(dest) = at.tx_dest.map(|port| &mut self.ports[port]) {
                put_bits(&mut dest.words, tile * dest.width as usize, dest.width, &words);
            }
        }
    }

    /// What the period carried.
    fn show(&mut self) {
        let at = self.at;
        let shown = self.around.shown().clone();
        let control = shown.control;
        self.put(at.desc_ready, 0, u32::from(control.descriptor_ready));
        self.put(at.query_ready, 0, u32::from(control.query_ready));
        self.put(at.idle, 0, u32::from(control.idle));
        self.put(at.occupancy_valid, 0, u32::from(control.swap.occupancy.is_some()));
        if let Some((tile, value)) = control.swap.occupancy {
            self.put(at.occupancy_tile, 0, self.coordinates(tile));
            self.put(at.occupancy_value, 0, value);
        }
        self.put(at.swap_valid, 0, u32::from(control.swap.swap.is_some()));
        if let Some((a, b)) = control.swap.swap {
            self.put(at.swap_a, 0, self.coordinates(a));
            self.put(at.swap_b, 0, self.coordinates(b));
        }
        for (port, read) in shown.reads.iter().enumerate() {
            self.put(at.m_axi_rready, port, 1_u32);
            self.put(at.m_axi_arvalid, port, u32::from(read.is_some()));
            let Some(read) = read else { continue };
            self.put(at.m_axi_arid, port, read.id);
            self.put(at.m_axi_araddr, port, read.address);
            self.put(at.m_axi_arlen, port, read.len);
            self.put(at.m_axi_arsize, port, (self.design.flit.data_width / 8).ilog2());
            self.put(at.m_axi_arburst, port, 1_u32);
        }
        for (tile, shown) in shown.tiles.iter().enumerate() {
            self.show_tile(tile, shown);
        }
        self.put(at.event_index, 0, shown.tiles[0].event.0 as u32);
    }

    fn coordinates(&self, tile: usize) -> u32 {
        let (x, y) = (tile as u32 % self.design.mesh.cols(), tile as u32 / self.design.mesh.cols());
        y << crate::design::index_bits(self.design.mesh.cols()) | x
    }

    fn show_tile(&mut self, tile: usize, shown: &Shown) {
        let at = self.at;
        self.put(at.event_data, tile, shown.event.1);
        self.put(at.error_memory, tile, u32::from(shown.error_memory));
        self.put(at.error_timeout, tile, u32::from(shown.error_timeout));
        self.put(at.part_ready, tile, u32::from(shown.part_ready));
        self.put(at.vector_valid, tile, u32::from(shown.vector.is_some()));
        if let Some(vector) = shown.vector {
            self.put(at.vector_stream, tile, vector.stream);
            self.put(at.vector_head, tile, vector.head);
            self.put(at.vector_word, tile, vector.word);
            self.put(at.vector_data, tile, vector.data);
        }
        self.put(at.kv_valid, tile, u32::from(shown.kv.is_some()));
        if let Some(kv) = shown.kv {
            self.put(at.kv_tag, tile, kv.tag);
            self.put(at.kv_index, tile, kv.index);
            self.put(at.kv_mask, tile, kv.mask);
            self.put(at.kv_data, tile, kv.data);
        }
        self.show_job(tile, shown);
        self.show_root(tile, shown);
    }

    fn show_job(&mut self, tile: usize, shown: &Shown) {
        let at = self.at;
        self.put(at.job_valid, tile, u32::from(shown.job.is_some()));
        let Some(job) = shown.job else { return };
        self.put(at.job_close, tile, u32::from(job.close));
        self.put(at.job_tag, tile, job.tag);
        self.put(at.job_mask, tile, job.mask);
        self.put(at.job_stream, tile, job.stream);
        self.put(at.job_streams, tile, job.streams);
        self.put(at.job_first_row, tile, job.rows.0);
        self.put(at.job_last_row, tile, job.rows.1);
        self.put(at.job_mapping, tile, job.mapping);
        self.put(at.job_lag, tile, job.lag);
    }

    fn show_root(&mut self, tile: usize, shown: &Shown) {
        let at = self.at;
        self.put(at.root_valid, tile, shown.root.map_or(0, |root| root.valid));
        let Some(root) = shown.root else { return };
        self.put(at.root_first, tile, u32::from(root.part.first));
        self.put(at.root_last, tile, u32::from(root.part.last));
        self.put(at.root_alone, tile, u32::from(root.part.alone));
        self.put(at.root_stream, tile, root.part.stream);
        self.put(at.root_layer, tile, root.part.layer);
        self.put(at.root_head, tile, root.part.head);
        self.put(at.root_x, tile, root.x);
        self.put(at.root_y, tile, root.y);
        self.put(at.root_data, tile, root.part.data);
    }
}

impl Socket for ModelledAround {
    fn find(&mut self, name: &str) -> Option<usize> {
        self.ports.iter().position(|port| port.name == name)
    }

    fn words(&self, port: usize, _bits: u32) -> &[u32] {
        &self.ports[port].words
    }

    fn words_mut(&mut self, port: usize, _bits: u32) -> &mut [u32] {
        &mut self.ports[port].words
    }

    fn tick(&mut self, rst: bool) -> Result<(), DutError> {
        if rst {
            if self.around.cycle() > 0 {
                self.around = Around::new(&self.design);
            }
            return Ok(());
        }
        self.drive();
        self.show_links();
        self.around.step(&self.input, &self.locals);
        self.show();
        Ok(())
    }

    fn payload_bits(&self) -> u32 {
        PAYLOAD
    }
}
