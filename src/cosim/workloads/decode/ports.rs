//! Ports of the whole fabric that a decode step drives and reads, looked up by name.

use crate::cosim::dut::pins::{Pin, Pins};
use crate::cosim::dut::DutError;
use crate::cosim::workloads::decode::played::queries::QueryPins;
use crate::cosim::workloads::shared::fabric_pins::{DescriptorPins, MemoryPins};
use crate::cosim::workloads::shared::page_writer::PageWriter;
use crate::cosim::workloads::shared::tile_errors::ErrorPins;
use crate::cosim::workloads::shared::token_writers::{TokenPins, WritePins};
use crate::emit::ModuleSpec;

/// Declares the ports by the number of parts they have.
macro_rules! ports {
    (one: $($one:ident)+; swap: $($swap:ident)+; idle: $idle:ident; tile: $($tile:ident)+;) => {
        /// Outputs of a fabric with swapping homes between two steps.
        #[derive(Clone, Copy)]
        pub(super) struct SwapPorts {
            $(pub(super) $swap: Pin,)+
        }

        /// Ports of the fabric.
        pub(super) struct Ports {
            $(pub(super) $one: Pin,)+
            /// `None` if homes never swap.
            pub(super) swaps: Option<SwapPorts>,
            /// `None` if stages overlap: the fabric then has no input for an idle PaD.
            pub(super) $idle: Option<Pin>,
            $(pub(super) $tile: Pin,)+
            pub(super) errors: ErrorPins,
            /// `None` without `noc.parity`.
            pub(super) part_parity: Option<Pin>,
            pub(super) queries: QueryPins,
            pub(super) descriptors: DescriptorPins,
            pub(super) memory: MemoryPins,
            /// `None` without pages.
            pub(super) pages: Option<PageWriter>,
            /// `None` if the cache is read only.
            pub(super) tokens: Option<(TokenPins, WritePins)>,
        }

        impl Ports {
            /// Looks them up in the fabric of `top`, with so many tiles and memory ports.
            pub(super) fn find(
                pins: &mut Pins,
                top: &ModuleSpec,
                tiles: u32,
                memory: u32,
            ) -> Result<Ports, DutError> {
                let has = |name: &str| top.ports.iter().any(|p| p.name == name);
                let swaps = match has("swap_valid") {
                    true => Some(SwapPorts { $($swap: pins.pin(top, stringify!($swap), 1)?,)+ }),
                    false => None,
                };
                let idle = stringify!($idle);
                let $idle = has(idle).then(|| pins.pin(top, idle, tiles)).transpose()?;
                Ok(Ports {
                    swaps,
                    $idle,
                    $($one: pins.pin(top, stringify!($one), 1)?,)+
                    $($tile: pins.pin(top, stringify!($tile), tiles)?,)+
                    errors: ErrorPins::find(pins, top, tiles)?,
                    part_parity: has("part_parity").then(|| pins.pin(top, "part_parity", tiles)).transpose()?,
                    queries: QueryPins::find(pins, top, 1)?,
                    descriptors: DescriptorPins::find(pins, top, 1)?,
                    memory: MemoryPins::named(pins, top, "m_axi_", memory)?,
                    pages: PageWriter::find(pins, top)?,
                    tokens: match has("token_valid") {
                        true => Some((TokenPins::find(pins, top, 1)?, WritePins::find(pins, top, memory)?)),
                        false => None,
                    },
                })
            }
        }
    };
}

ports! {
    one: idle stat_index event_index;
    swap: swap_valid swap_a swap_b occupancy_valid occupancy_tile occupancy_value;
    idle: compute_idle;
    tile: job_valid job_ready job_close job_tag job_mask job_stream job_streams job_first_row job_last_row
        job_mapping job_lag
        kv_valid kv_ready kv_tag kv_index kv_mask kv_data
        part_valid part_ready part_first part_last part_others part_stream part_layer part_head part_data
        vector_valid vector_ready root_credit root_others
        root_valid root_first root_last root_stream root_layer root_head root_x root_y root_data
        vc_busy stat_data event_data;
}
