//! Ports of the whole fabric that a run of fetches drives and reads, looked up by name.

use crate::cosim::dut::pins::{Pin, Pins};
use crate::cosim::dut::DutError;
use crate::emit::ModuleSpec;

/// Ports of the fabric.
pub(in crate::cosim) struct Ports {
    pub(in crate::cosim) cmd_valid: Pin,
    pub(in crate::cosim) cmd_ready: Pin,
    pub(in crate::cosim) cmd_tag: Pin,
    pub(in crate::cosim) cmd_home: Pin,
    pub(in crate::cosim) cmd_mask: Pin,
    pub(in crate::cosim) cmd_first: Pin,
    pub(in crate::cosim) cmd_last: Pin,
    pub(in crate::cosim) kv_valid: Pin,
    pub(in crate::cosim) kv_ready: Pin,
    pub(in crate::cosim) kv_tag: Pin,
    pub(in crate::cosim) kv_index: Pin,
    pub(in crate::cosim) kv_mask: Pin,
    pub(in crate::cosim) kv_data: Pin,
    pub(in crate::cosim) fill_valid: Pin,
    pub(in crate::cosim) fill_addr: Pin,
    pub(in crate::cosim) fill_data: Pin,
    pub(in crate::cosim) publish_valid: Pin,
    pub(in crate::cosim) publish_slot: Pin,
    pub(in crate::cosim) claim_valid: Pin,
    pub(in crate::cosim) claim_slot: Pin,
    pub(in crate::cosim) claim_tag: Pin,
    pub(in crate::cosim) data_sent: Pin,
    pub(in crate::cosim) data_credit: Pin,
    pub(in crate::cosim) vc_busy: Pin,
    pub(in crate::cosim) stat_index: Pin,
    pub(in crate::cosim) stat_data: Pin,
    pub(in crate::cosim) event_index: Pin,
    pub(in crate::cosim) event_data: Pin,
}

impl Ports {
    /// Looks them up in the fabric of `top`, with so many tiles.
    pub(in crate::cosim) fn find(pins: &mut Pins, top: &ModuleSpec, tiles: u32) -> Result<Ports, DutError> {
        let mut pin = |name| pins.pin(top, name, tiles);
        let ports = Ports {
            cmd_valid: pin("cmd_valid")?,
            cmd_ready: pin("cmd_ready")?,
            cmd_tag: pin("cmd_tag")?,
            cmd_home: pin("cmd_home")?,
            cmd_mask: pin("cmd_mask")?,
            cmd_first: pin("cmd_first")?,
            cmd_last: pin("cmd_last")?,
            kv_valid: pin("kv_valid")?,
            kv_ready: pin("kv_ready")?,
            kv_tag: pin("kv_tag")?,
            kv_index: pin("kv_index")?,
            kv_mask: pin("kv_mask")?,
            kv_data: pin("kv_data")?,
            fill_valid: pin("fill_valid")?,
            fill_addr: pin("fill_addr")?,
            fill_data: pin("fill_data")?,
            publish_valid: pin("publish_valid")?,
            publish_slot: pin("publish_slot")?,
            claim_valid: pin("claim_valid")?,
            claim_slot: pin("claim_slot")?,
            claim_tag: pin("claim_tag")?,
            data_sent: pin("data_sent")?,
            data_credit: pin("data_credit")?,
            vc_busy: pin("vc_busy")?,
            stat_data: pin("stat_data")?,
            event_data: pin("event_data")?,
            stat_index: pins.pin(top, "stat_index", 1)?,
            event_index: pins.pin(top, "event_index", 1)?,
        };
        Ok(ports)
    }
}
