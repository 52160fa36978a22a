//! Writes a period of the model to the outputs of the fabric.

use super::FabricPorts;
use crate::cosim::dut::model_ports::engine::Engine;
use crate::cosim::dut::model_ports::flits::{show_kv, show_part};
use crate::design::index_bits;
use crate::model::cycle::fabric::Shown;

impl FabricPorts {
    /// Writes the outputs of the period.
    pub(super) fn show(&mut self) {
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
            let (word, busy) = self.engine.shown().writes[port];
            self.ports.put(at.write_valid, port, u32::from(word.is_some()));
            self.ports.put(at.writes_wait, port, u32::from(busy));
            if let Some(word) = word {
                self.ports.put(at.write_data, port, word);
            }
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
        let kv = [at.kv_valid, at.kv_tag, at.kv_index, at.kv_mask, at.kv_data];
        show_kv(&mut self.ports, kv, tile, shown.kv.as_ref());
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
        self.ports.put(at.job_mapping, tile, job.mapping.number());
        self.ports.put(at.job_lag, tile, job.lag);
    }

    fn show_root(&mut self, tile: usize, shown: &Shown) {
        let at = self.at;
        self.ports.put(at.root_valid, tile, shown.root.map_or(0, |root| root.valid));
        let Some(root) = shown.root else { return };
        let part = [at.root_first, at.root_last, at.root_others, at.root_data];
        show_part(&mut self.ports, part, tile, &root.part);
        self.ports.put(at.root_stream, tile, root.part.stream);
        self.ports.put(at.root_layer, tile, root.part.layer);
        self.ports.put(at.root_head, tile, root.part.head);
        self.ports.put(at.root_x, tile, root.x);
        self.ports.put(at.root_y, tile, root.y);
    }
}
