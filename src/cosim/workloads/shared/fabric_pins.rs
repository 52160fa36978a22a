//! Port handles that every fabric bench needs: the descriptor input and the AXI memory ports.

use crate::cosim::dut::group_pins;
use crate::cosim::dut::pins::Pins;
use crate::cosim::memory::axi::Request;
use crate::cosim::memory::Memory;
use crate::design::Descriptor;
use crate::design::Sharing;

group_pins! {
    /// Descriptor input.
    DescriptorPins {
        desc_valid desc_ready desc_prefix desc_layer desc_first desc_stride desc_count desc_first_row desc_last_row
        desc_stream desc_streams desc_mapping desc_share desc_close desc_step
    }
}

impl DescriptorPins {
    /// Puts a descriptor on its port, or nothing.
    pub(in crate::cosim) fn present(&self, pins: &mut Pins, descriptor: Option<&Descriptor>) {
        pins.set(self.desc_valid, 0, u64::from(descriptor.is_some()));
        let Some(d) = descriptor else { return };
        let mapping = d.mapping.number();
        for (pin, value) in [
            (self.desc_prefix, d.prefix),
            (self.desc_layer, d.layer),
            (self.desc_first, d.first),
            (self.desc_stride, d.stride),
            (self.desc_count, d.count),
            (self.desc_first_row, d.first_row),
            (self.desc_last_row, d.last_row),
            (self.desc_stream, d.stream),
            (self.desc_streams, d.streams),
            (self.desc_mapping, mapping),
            (self.desc_share, u32::from(d.sharing == Sharing::Segment)),
            (self.desc_close, u32::from(d.close)),
            (self.desc_step, u32::from(d.step)),
        ] {
            pins.set(pin, 0, u64::from(value));
        }
    }

    /// True if the descriptor on the port is taken.
    pub(in crate::cosim) fn taken(&self, pins: &Pins) -> bool {
        pins.get(self.desc_ready, 0) == 1
    }
}

group_pins! {
    /// AXI4 read masters.
    MemoryPins {
        arvalid arready arid araddr arlen arsize arburst rvalid rready rid rdata rresp rlast
    }
}

impl MemoryPins {
    /// Sets the outputs of all memory ports in this period, each at its part of the pins.
    pub(in crate::cosim) fn drive(&self, pins: &mut Pins, memory: &mut Memory, cycle: u64) {
        for port in 0..memory.ports() {
            self.drive_port(pins, port, memory, port, cycle);
        }
    }

    /// Passes their requests to the memory; true if anything passed.
    pub(in crate::cosim) fn observe(&self, pins: &Pins, memory: &mut Memory, cycle: u64) -> bool {
        let mut moved = false;
        for port in 0..memory.ports() {
            moved |= self.observe_port(pins, port, memory, port, cycle);
        }
        moved
    }

    /// Sets the outputs of a memory port at a part of the pins.
    pub(in crate::cosim) fn drive_port(
        &self,
        pins: &mut Pins,
        part: usize,
        memory: &mut Memory,
        port: usize,
        cycle: u64,
    ) {
        let offer = memory.drive(port, cycle);
        pins.set(self.arready, part, u64::from(offer.request_ready));
        pins.set(self.rvalid, part, u64::from(offer.beat.is_some()));
        let Some(beat) = offer.beat else { return };
        pins.set(self.rid, part, u64::from(beat.id));
        pins.set(self.rresp, part, u64::from(beat.response));
        pins.set(self.rlast, part, u64::from(beat.last));
        pins.set_part(self.rdata, part, &beat.data);
    }

    /// Passes the requests there to the memory; true if anything passed.
    pub(in crate::cosim) fn observe_port(
        &self,
        pins: &Pins,
        part: usize,
        memory: &mut Memory,
        port: usize,
        cycle: u64,
    ) -> bool {
        let get = |pin| pins.get(pin, part);
        let request = (get(self.arvalid) == 1).then(|| Request {
            id: get(self.arid) as u32,
            address: get(self.araddr),
            len: get(self.arlen) as u32,
            size: get(self.arsize) as u32,
            burst: get(self.arburst) as u32,
        });
        memory.observe(port, cycle, request, get(self.rready) == 1)
    }
}
