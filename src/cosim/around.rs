//! What stands around a fabric on every board: who sends descriptors, and the external memory on its AXI ports.

use super::axi::Request;
use super::decode::Descriptor;
use super::dut::DutError;
use super::memory::Memory;
use super::pins::{Pin, Pins};
use crate::design::{Mapping, Sharing};
use crate::emit::ModuleSpec;

/// A group of ports of the same number of parts, found by name.
macro_rules! pins {
    ($(#[$doc:meta])* $group:ident { $($name:ident)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $group {
            $(pub(super) $name: Pin,)+
        }

        impl $group {
            /// Finds them in the fabric of `top`.
            pub(super) fn find(pins: &mut Pins, top: &ModuleSpec, parts: u32) -> Result<$group, DutError> {
                Ok($group { $($name: pins.pin(top, stringify!($name), parts)?,)+ })
            }
        }
    };
}
pub(super) use pins;

pins! {
    /// Where descriptors go in.
    DescriptorPins {
        desc_valid desc_ready desc_prefix desc_layer desc_first desc_stride desc_count desc_first_row desc_last_row
        desc_stream desc_streams desc_mapping desc_share desc_close desc_step
    }
}

impl DescriptorPins {
    /// Puts a descriptor on its port, or nothing.
    pub(super) fn present(&self, pins: &mut Pins, descriptor: Option<&Descriptor>) {
        pins.set(self.desc_valid, 0, u64::from(descriptor.is_some()));
        let Some(d) = descriptor else { return };
        let mapping = match d.mapping {
            Mapping::HeadTile => 0,
            Mapping::RowAligned => 1,
            Mapping::StreamStriped => 2,
        };
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

    /// Whether what stands on the port is taken.
    pub(super) fn taken(&self, pins: &Pins) -> bool {
        pins.get(self.desc_ready, 0) == 1
    }
}

pins! {
    /// AXI4 read masters.
    MemoryPins {
        m_axi_arvalid m_axi_arready m_axi_arid m_axi_araddr m_axi_arlen m_axi_arsize m_axi_arburst
        m_axi_rvalid m_axi_rready m_axi_rid m_axi_rdata m_axi_rresp m_axi_rlast
    }
}

impl MemoryPins {
    /// What the memory's ports show in this period.
    pub(super) fn drive(&self, pins: &mut Pins, memory: &mut Memory, cycle: u64) {
        for port in 0..memory.ports() {
            let offer = memory.drive(port, cycle);
            pins.set(self.m_axi_arready, port, u64::from(offer.request_ready));
            pins.set(self.m_axi_rvalid, port, u64::from(offer.beat.is_some()));
            let Some(beat) = offer.beat else { continue };
            pins.set(self.m_axi_rid, port, u64::from(beat.id));
            pins.set(self.m_axi_rresp, port, u64::from(beat.response));
            pins.set(self.m_axi_rlast, port, u64::from(beat.last));
            pins.set_part(self.m_axi_rdata, port, &beat.data);
        }
    }

    /// What they were asked, and whether they were listened to; true if anything was.
    pub(super) fn observe(&self, pins: &Pins, memory: &mut Memory, cycle: u64) -> bool {
        let mut moved = false;
        for port in 0..memory.ports() {
            let get = |pin| pins.get(pin, port);
            let request = (get(self.m_axi_arvalid) == 1).then(|| Request {
                id: get(self.m_axi_arid) as u32,
                address: get(self.m_axi_araddr),
                len: get(self.m_axi_arlen) as u32,
                size: get(self.m_axi_arsize) as u32,
                burst: get(self.m_axi_arburst) as u32,
            });
            moved |= memory.observe(port, cycle, request, get(self.m_axi_rready) == 1);
        }
        moved
    }
}
