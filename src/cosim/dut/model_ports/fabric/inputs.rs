//! Reads the inputs of the fabric into the model's form.

use super::FabricPorts;
use crate::cosim::dut::model_ports::engine::Engine;
use crate::cosim::dut::model_ports::flits::part;
use crate::design::{Descriptor, Mapping, Sharing};
use crate::model::cycle::mare::PartFlit;
use crate::model::cycle::pad::ComputeIn;
use crate::model::cycle::takv::{Beat, MemoryIn, QueryGroup, TokenGroup};

impl FabricPorts {
    /// Reads the inputs of the period.
    pub(super) fn drive(&mut self) {
        let at = self.at;
        self.input.descriptor = self.ports.bit(at.desc_valid, 0).then(|| self.descriptor());
        self.input.query = self.ports.bit(at.query_valid, 0).then(|| QueryGroup {
            stream: self.ports.get32(at.query_stream, 0),
            head: self.ports.get32(at.query_head, 0),
            group: self.ports.get32(at.query_group, 0),
            words: self.ports.get_words(at.query_data),
        });
        self.input.more_queries = self.ports.bit(at.more_queries, 0);
        self.input.more_tokens = self.ports.bit(at.more_tokens, 0);
        self.input.token = self.ports.bit(at.token_valid, 0).then(|| TokenGroup {
            group: self.ports.get32(at.token_group, 0),
            words: self.ports.get_words(at.token_data),
        });
        self.input.page = self
            .ports
            .bit(at.page_valid, 0)
            .then(|| (self.ports.get32(at.page_entry, 0), self.ports.get32(at.page_number, 0)));
        for port in 0..self.input.memory.len() {
            let beat = self.ports.bit(at.m_axi_rvalid, port).then(|| Beat {
                id: self.ports.get32(at.m_axi_rid, port),
                bad: self.ports.get(at.m_axi_rresp, port) != 0,
                last: self.ports.bit(at.m_axi_rlast, port),
                data: self.ports.get(at.m_axi_rdata, port),
            });
            self.input.memory[port] = MemoryIn {
                request_ready: self.ports.bit(at.m_axi_arready, port),
                beat,
                write_credit: self.ports.bit(at.write_credit, port),
            };
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
            mapping: Mapping::of_number(get(at.desc_mapping)),
            sharing: if get(at.desc_share) == 1 { Sharing::Segment } else { Sharing::KvHead },
            close: get(at.desc_close) == 1,
            step: get(at.desc_step) == 1,
            append: get(at.desc_append) == 1,
        }
    }

    fn compute(&self, tile: usize) -> ComputeIn {
        let at = self.at;
        let part = self.ports.bit(at.part_valid, tile).then(|| PartFlit {
            stream: self.ports.get32(at.part_stream, tile),
            layer: self.ports.get32(at.part_layer, tile),
            head: self.ports.get32(at.part_head, tile),
            ..part(&self.ports, [at.part_first, at.part_last, at.part_others, at.part_data], tile)
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
}
