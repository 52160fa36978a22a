//! Registers of the routers.

pub(super) mod claims;
pub(super) mod input_port;
pub(super) mod output_port;
pub(super) mod virtual_channel;
