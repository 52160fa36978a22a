//! What goes into a design before a job's descriptors: scales, queries and the new tokens beside them.

use super::{Core, BATCH};
use crate::cosim::dut::DutError;
use crate::cosim::workloads::attention::error::AttentionError;
use crate::cosim::workloads::attention::job::Job;
use crate::cosim::workloads::Watchdog;

impl Core<'_> {
    /// Sends the scales and the queries of a job, and its new tokens beside them as far as they come.
    pub(super) fn send_queries(
        &mut self,
        job: &Job,
        stop: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(), AttentionError> {
        let missing = job.outputs();
        let heads = self.design.model.heads;
        let elements = 4 * self.design.bus.query_group_words as usize;
        let together = self.design.bus.scale_heads.unwrap_or(heads);
        for (group, words) in job.words_before_queries() {
            for (first, words) in (0..).step_by(together as usize).zip(words.chunks(together as usize)) {
                let halves = words.iter().flat_map(|word| [*word as u32, (word >> 32) as u32]);
                let mut data: Vec<u32> = halves.collect();
                data.resize(elements / 2, 0);
                self.send_group((0, first, group), &data, missing, stop)?;
            }
        }
        for stream in 0..job.streams {
            for head in 0..heads {
                for (at, group) in (0..).zip(job.query(head, stream).chunks(elements)) {
                    let pair = |two: &[u16]| u32::from(two[0]) | u32::from(two[1]) << 16;
                    let data: Vec<u32> = group.chunks(2).map(pair).collect();
                    self.send_group((stream, head, at), &data, missing, stop)?;
                }
            }
        }
        self.pins.set(self.one.query_valid, 0, 0);
        Ok(())
    }

    /// Offers a group of words until it is taken.
    fn send_group(
        &mut self,
        (stream, head, group): (u32, u32, u32),
        data: &[u32],
        missing: usize,
        stop: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(), AttentionError> {
        let watchdog = Watchdog::of(self.design);
        self.pins.set_part(self.one.query_data, 0, data);
        for (pin, value) in [
            (self.one.query_valid, 1),
            (self.one.query_stream, u64::from(stream)),
            (self.one.query_head, u64::from(head)),
            (self.one.query_group, u64::from(group)),
        ] {
            self.pins.set(pin, 0, value);
        }
        let asked = self.pins.cycle();
        loop {
            self.tick_inputs()?;
            if self.pins.get(self.one.query_ready, 0) == 1 {
                return Ok(());
            }
            let at = self.pins.cycle();
            if at.is_multiple_of(BATCH) && stop(0) {
                return Err(AttentionError::Stopped);
            }
            if watchdog.is_over(at - asked, &self.memory) {
                let cycles = at - asked;
                let which = ": a query is not taken".to_owned();
                return Err(AttentionError::Stuck { cycles, at, missing, heads: missing, which });
            }
        }
    }

    /// Runs a period before the descriptors of a job, in which a new token may go in. Memory is there from the first
    /// descriptor of the first job on.
    pub(super) fn tick_inputs(&mut self) -> Result<(), DutError> {
        if let Some(growth) = &mut self.growth {
            growth.present(&mut self.pins, None);
        }
        let cycle = self.since.map(|since| self.pins.cycle() - since);
        if let Some(cycle) = cycle {
            self.memory_pins.drive(&mut self.pins, &mut self.memory, cycle);
        }
        self.pins.tick()?;
        if let Some(cycle) = cycle {
            self.memory_pins.observe(&self.pins, &mut self.memory, cycle);
        }
        Ok(())
    }
}
