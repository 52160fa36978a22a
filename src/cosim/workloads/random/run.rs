//! Periods of a fabric under random stimulus.

use super::pace::Seen;
use super::state::RandomFabric;
use std::time::Instant;

impl RandomFabric {
    /// Runs some periods.
    ///
    /// # Errors
    /// The difference of two fabrics that are compared.
    pub fn run(&mut self, periods: u64) -> Result<(), String> {
        (0..periods).try_for_each(|_| self.tick())
    }

    fn tick(&mut self) -> Result<(), String> {
        if self.pace.descriptors && self.descriptors.is_empty() {
            let next = self.descriptor();
            self.descriptors.push_back(next);
        }
        self.offer_descriptor();
        self.offer_parts();
        self.offer_query();
        for (at, name) in ["more_queries", "more_tokens"].into_iter().enumerate() {
            if self.ports.contains_key(name) {
                self.set(name, 0, u64::from(self.expected[at] > 0));
            }
            self.expected[at] = self.expected[at].saturating_sub(1);
        }
        for tile in 0..self.parts.len() {
            let (job, kv) = (self.below(16) < self.pace.takes, self.below(16) < self.pace.takes);
            self.set("job_ready", tile, u64::from(job));
            self.set("kv_ready", tile, u64::from(kv));
            let vector = self.below(16) < self.pace.takes;
            self.set("vector_ready", tile, u64::from(vector));
            if self.ports.contains_key("compute_idle") {
                let idle = self.below(16) < self.pace.takes;
                self.set("compute_idle", tile, u64::from(idle));
            }
            // What came from the network or the tile itself has left the root's buffers.
            let credits = self.get("root_valid", tile);
            self.set("root_credit", tile, credits);
        }
        self.answer();
        self.drive_network();
        let started = Instant::now();
        self.pins.tick().map_err(|e| e.to_string())?;
        self.running += started.elapsed();
        self.count();
        self.take();
        self.read_network();
        let event = self.get("event_index", 0) as usize;
        for tile in 0..self.events.len() {
            self.events[tile][event] = self.get("event_data", tile);
        }
        Ok(())
    }

    /// Updates the stimulus by the transfers of the last clock edge.
    fn take(&mut self) {
        if self.get("desc_valid", 0) & self.get("desc_ready", 0) == 1 {
            self.descriptors.pop_front();
        }
        if self.get("query_valid", 0) & self.get("query_ready", 0) == 1 {
            self.set("query_valid", 0, 0);
        }
        for tile in 0..self.parts.len() {
            if self.get("part_valid", tile) & self.get("part_ready", tile) == 1 {
                self.parts[tile] -= 1;
                self.set("part_valid", tile, 0);
            }
        }
        self.take_bursts();
    }

    fn count(&mut self) {
        let sum = |valid: &str, ready: Option<&str>| {
            let parts = 0..self.ports[valid].parts;
            let takes = |part| ready.is_none_or(|ready| self.get(ready, part) == 1);
            parts.filter(|&part| self.get(valid, part) != 0 && takes(part)).count() as u64
        };
        let swaps = self.ports.contains_key("swap_valid");
        let now = Seen {
            descriptors: sum("desc_valid", Some("desc_ready")),
            jobs: sum("job_valid", Some("job_ready")),
            flits: sum("kv_valid", Some("kv_ready")),
            roots: sum("root_valid", None),
            bursts: sum("m_axi_arvalid", Some("m_axi_arready")),
            beats: sum("m_axi_rvalid", Some("m_axi_rready")),
            occupancies: if swaps { sum("occupancy_valid", None) } else { 0 },
            swaps: if swaps { sum("swap_valid", None) } else { 0 },
            sent: 0,
        };
        let seen = &mut self.seen;
        seen.descriptors += now.descriptors;
        seen.jobs += now.jobs;
        seen.flits += now.flits;
        seen.roots += now.roots;
        seen.bursts += now.bursts;
        seen.beats += now.beats;
        seen.occupancies += now.occupancies;
        seen.swaps += now.swaps;
    }
}
