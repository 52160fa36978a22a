//! The model of the core with numbers on its outputs, computed by the datapath. A device can have
//! it in place of compiled Verilog.

use super::job::Job;
use super::own::Own;
use crate::cosim::bits::{get_bits, put_bits};
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::model_ports::FabricPorts;
use crate::cosim::dut::ports::DutPorts;
use crate::cosim::dut::DutError;
use crate::cosim::workloads::attention::observed::expected::{Head, Numbers};
use crate::cosim::workloads::attention::observed::visit_order::Visit;
use crate::design::{Design, Mapping, Sharing};
use crate::emit::{self, ModuleSpec};
use crate::model::cycle::common::Reached;
use crate::model::datapath::tensors::Tensors;
use crate::model::State;
use std::ops::Range;
use std::sync::mpsc::channel;

/// A port of the model, and the bits of each column.
#[derive(Debug, Clone, Copy)]
struct Column {
    port: usize,
    total: u32,
    bits: u32,
}

/// Ports of the model that carry outputs and merges.
const OUT: [&str; 7] =
    ["out_valid", "out_stream", "out_head", "out_index", "out_last", "out_ready", "out_partial"];
const MERGE: [&str; 4] = ["merge_valid", "merge_stream", "merge_head", "merge_y"];
/// The ports whose data is computed here.
const DATA: &str = "out_data";
const SATURATED: &str = "out_saturated";

/// The model of the core for one job.
#[derive(Debug)]
pub struct ModelCore {
    model: FabricPorts,
    numbers: Numbers,
    design: Design,
    tensors: Tensors,
    position: usize,
    streams: u32,
    own: Option<Vec<Own>>,
    prefix: u32,
    rows: Range<u32>,
    mappings: Vec<Mapping>,
    sharing: Sharing,
    out: Vec<Column>,
    merge: Vec<Column>,
    /// The model's number of the output port; the model drives only the first bits of the port.
    data_port: usize,
    data: Vec<u32>,
    saturated_port: usize,
    saturated: Vec<u32>,
    /// The current output of each column.
    outputs: Vec<Vec<u16>>,
}

impl ModelCore {
    /// The model before its reset. Every descriptor that it gets must belong to this job.
    ///
    /// # Panics
    /// If the design has no core: a bug in this crate.
    pub fn new(job: &Job) -> ModelCore {
        let modules = emit::modules(job.design);
        let core = modules.iter().find(|m| m.name == emit::CORE).expect("every design has a core");
        let (sender, jobs) = channel();
        let mut model = FabricPorts::core(job.design, core, Some(sender));
        let cols = job.design.mesh.cols();
        let mut find =
            |names: &[&str]| names.iter().map(|name| column(&mut model, core, name, cols)).collect();
        let (out, merge): (Vec<Column>, Vec<Column>) = (find(&OUT), find(&MERGE));
        let data = column(&mut model, core, DATA, cols);
        let saturated = column(&mut model, core, SATURATED, cols);
        ModelCore {
            numbers: Numbers::new(job.design, jobs),
            design: job.design.clone(),
            tensors: job.tensors.clone(),
            position: job.position,
            streams: job.streams,
            own: job.own.clone(),
            prefix: job.prefix,
            rows: job.rows.clone(),
            mappings: job.mappings.clone(),
            sharing: job.sharing,
            out,
            merge,
            data_port: data.port,
            data: vec![0; data.total.div_ceil(32) as usize],
            saturated_port: saturated.port,
            saturated: vec![0; saturated.total.div_ceil(32) as usize],
            outputs: vec![Vec::new(); cols as usize],
            model,
        }
    }

    fn get(&self, of: Column, x: u32) -> u32 {
        get_bits(self.model.words(of.port, of.total), (x * of.bits) as usize, of.bits).next().unwrap_or(0)
    }

    /// Takes the merges of a period and sets its outputs.
    fn look(&mut self) {
        for x in 0..self.design.mesh.cols() {
            let first_head = self.design.heads.of_column(x).start;
            let merge: Vec<u32> = self.merge.iter().map(|of| self.get(*of, x)).collect();
            if let [1, stream, head, y] = merge[..] {
                let tile = self.design.mesh.node(x, y).expect("a tile of the mesh");
                self.numbers.merge(&self.design, Visit { tile, stream, head: first_head + head });
            }
            let out: Vec<u32> = self.out.iter().map(|of| self.get(*of, x)).collect();
            if let [1, stream, head, index, last, ready, partial] = out[..] {
                if self.outputs[x as usize].is_empty() {
                    let head = self.output((stream, first_head + head), partial == 1);
                    put_bits(&mut self.saturated, x as usize, 1, &[u32::from(head.void)]);
                    self.outputs[x as usize] = match partial {
                        1 => State::in_flits(&head.output, (self.design.flit.data_width / 16) as usize),
                        _ => head.output,
                    };
                }
                self.show(x, index);
                if (last, ready) == (1, 1) {
                    self.outputs[x as usize].clear();
                }
            }
        }
    }

    fn output(&mut self, of: (u32, u32), partials: bool) -> Head {
        let job = Job {
            design: &self.design,
            tensors: &self.tensors,
            position: self.position,
            streams: self.streams,
            own: self.own.clone(),
            prefix: self.prefix,
            rows: self.rows.clone(),
            mappings: self.mappings.clone(),
            sharing: self.sharing,
            partials,
        };
        self.numbers.output(&job, of)
    }

    /// Puts a flit of a column's output on its part of the port.
    fn show(&mut self, x: u32, index: u32) {
        let bits = self.design.flit.data_width;
        let elements = (bits / 16) as usize;
        let output = &self.outputs[x as usize];
        let here = output.iter().skip(index as usize * elements).take(elements);
        let mut words = vec![0; bits.div_ceil(32) as usize];
        for (i, element) in here.enumerate() {
            words[i / 2] |= u32::from(*element) << (16 * (i % 2));
        }
        put_bits(&mut self.data, (x * bits) as usize, bits, &words);
    }
}

fn column(model: &mut FabricPorts, core: &ModuleSpec, name: &str, cols: u32) -> Column {
    let spec = core.ports.iter().find(|p| p.name == name).expect("a core has outputs");
    let port = model.find(name).expect("the model has the ports of the core");
    Column { port, total: spec.width.bits, bits: spec.width.bits / cols }
}

impl DutPorts for ModelCore {
    fn find(&mut self, name: &str) -> Option<usize> {
        self.model.find(name)
    }

    fn words(&self, port: usize, bits: u32) -> &[u32] {
        if port == self.data_port {
            return &self.data;
        }
        if port == self.saturated_port {
            return &self.saturated;
        }
        self.model.words(port, bits)
    }

    fn words_mut(&mut self, port: usize, bits: u32) -> &mut [u32] {
        self.model.words_mut(port, bits)
    }

    fn tick(&mut self, rst: bool) -> Result<(), DutError> {
        self.model.tick(rst)?;
        if rst {
            self.numbers.forget();
            self.outputs.iter_mut().for_each(Vec::clear);
        } else {
            self.look();
        }
        Ok(())
    }

    fn set_clocks(&mut self, clocks: &Clocks) -> Result<(), DutError> {
        self.model.set_clocks(clocks)
    }

    fn reached(&self) -> Option<Reached> {
        self.model.reached()
    }

    fn payload_bits(&self) -> u32 {
        self.model.payload_bits()
    }
}
