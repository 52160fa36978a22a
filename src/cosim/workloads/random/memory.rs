//! A memory that answers with a hash of the address, now and then with an error.

use super::port::Burst;
use super::state::RandomFabric;

impl RandomFabric {
    /// Answers bursts in any order, without interleaving.
    pub(super) fn answer(&mut self) {
        let cycle = self.pins.cycle();
        for p in 0..self.memory.len() {
            let ready = self.below(4) != 0;
            self.set("m_axi_arready", p, u64::from(ready));
            let port = &mut self.memory[p];
            if port.answering.is_none() {
                let next = port.waiting.iter().position(|burst| burst.ready <= cycle);
                port.answering = next.map(|i| (port.waiting.remove(i), 0));
            }
            let pauses = self.pace.errors > 0 && self.below(8) == 0;
            let port = &mut self.memory[p];
            let Some((burst, beat)) = port.answering.take_if(|_| !pauses) else {
                self.set("m_axi_rvalid", p, 0);
                continue;
            };
            let last = beat + 1 == burst.beats;
            let bytes = u64::from(self.design.flit.data_width / 8);
            self.set("m_axi_rvalid", p, 1);
            self.set("m_axi_rid", p, burst.id);
            self.set("m_axi_rresp", p, if burst.bad { 2 } else { 0 });
            self.set("m_axi_rlast", p, u64::from(last));
            self.set_wide("m_axi_rdata", p, burst.address + beat * bytes);
            self.memory[p].answering = (!last).then_some((burst, beat + 1));
        }
    }

    /// Accepts the reads of the last clock edge.
    pub(super) fn take_bursts(&mut self) {
        for p in 0..self.memory.len() {
            if self.get("m_axi_arvalid", p) & self.get("m_axi_arready", p) == 1 {
                let ready = self.pins.cycle() + self.below(self.pace.latency);
                let bad = self.below(256) < self.pace.errors;
                let (id, address) = (self.get("m_axi_arid", p), self.get("m_axi_araddr", p));
                let beats = self.get("m_axi_arlen", p) + 1;
                self.memory[p].waiting.push(Burst { ready, id, address, beats, bad });
            }
        }
    }
}
