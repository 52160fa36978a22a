//! Cells that are independent of the fabric.

pub(super) mod arbiter;
pub(super) mod clock_crossing;
pub(super) mod delay;
pub(super) mod event_counters;
pub(super) mod fifo;
pub(super) mod slr_crossing;

use crate::emit::rtl::common::arbiter::{arbiter2, arbiter4};
use crate::emit::rtl::common::clock_crossing::{async_fifo, async_pointer, async_register, synchronizer};
use crate::emit::rtl::common::delay::delay;
use crate::emit::rtl::common::event_counters::event_counters;
use crate::emit::rtl::common::fifo::fifo;
use crate::emit::rtl::common::slr_crossing::{crossing, crossing_chain};
use crate::emit::rtl::module::ModuleSpec;

/// Bodies of its modules.
pub(super) const TEMPLATES: &[(&str, &str)] = &[
    template!("common/meshkv_arbiter2.v"),
    template!("common/meshkv_arbiter4.v"),
    template!("common/meshkv_async_fifo.v"),
    template!("common/meshkv_async_pointer.v"),
    template!("common/meshkv_async_register.v"),
    template!("common/meshkv_crossing.v"),
    template!("common/meshkv_crossing_chain.v"),
    template!("common/meshkv_delay.v"),
    template!("common/meshkv_event_counters.v"),
    template!("common/meshkv_fifo.v"),
    template!("common/meshkv_synchronizer.v"),
];

/// Every module of the block, each after those it instantiates; `staged` routers need no arbiter of four.
pub(super) fn modules(staged: bool) -> Vec<ModuleSpec> {
    let arbiters = if staged { vec![arbiter2()] } else { vec![arbiter2(), arbiter4()] };
    let others = vec![
        delay(),
        event_counters(),
        crossing(),
        crossing_chain(),
        fifo(),
        async_pointer(),
        synchronizer(),
        async_fifo(),
        async_register(),
    ];
    arbiters.into_iter().chain(others).collect()
}
