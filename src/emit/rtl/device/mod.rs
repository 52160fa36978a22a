//! The interface to the host: registers, runs, queries, outputs; `docs/device.md` gives the reasons.

pub(super) mod bundles;
pub(super) mod control;
pub(super) mod counters;
pub(super) mod front;
pub(super) mod memory;
pub(super) mod params;
pub(super) mod reset;
pub(super) mod run;

use crate::design::Design;
use crate::emit::rtl::device::control::{control, descriptor_queue, list_reader};
use crate::emit::rtl::device::counters::{counter_choice, counter_view, pad_view, row_choice};
use crate::emit::rtl::device::front::{front, top};
use crate::emit::rtl::device::memory::{
    base_table, output_writer, query_reader, read_credits, read_guard, read_slices, token_reader,
    token_writer,
};
use crate::emit::rtl::device::params::DeviceParams;
use crate::emit::rtl::device::reset::{reset, reset_row, reset_stage};
use crate::emit::rtl::device::run::run;
use crate::emit::rtl::module::ModuleSpec;
use crate::emit::rtl::pad::params::PadParams;

/// Bodies of its modules.
pub(super) const TEMPLATES: &[(&str, &str)] = &[
    template!("device/meshkv_base_table.v"),
    template!("device/meshkv_control_registers.v"),
    template!("device/meshkv_counter_choice.v"),
    template!("device/meshkv_counter_view.v"),
    template!("device/meshkv_descriptor_queue.v"),
    template!("device/meshkv_front.v"),
    template!("device/meshkv_list_reader.v"),
    template!("device/meshkv_output_writer.v"),
    template!("device/meshkv_pad_view.v"),
    template!("device/meshkv_query_reader.v"),
    template!("device/meshkv_read_credits.v"),
    template!("device/meshkv_read_guard.v"),
    template!("device/meshkv_read_slices.v"),
    template!("device/meshkv_reset.v"),
    template!("device/meshkv_reset_row.v"),
    template!("device/meshkv_reset_stage.v"),
    template!("device/meshkv_row_choice.v"),
    template!("device/meshkv_run_control.v"),
    template!("device/meshkv_token_reader.v"),
    template!("device/meshkv_token_writer.v"),
    template!("device/meshkv_top.v"),
];

/// Every module of the block, each after those it instantiates: the top comes last.
pub(super) fn modules(design: &Design, core: &ModuleSpec) -> Vec<ModuleSpec> {
    let (w, c) = (DeviceParams::of(design), PadParams::of(design));
    let mut parts = vec![
        reset(&w, core),
        read_guard(&w, &c),
        read_credits(),
        read_slices(&w),
        query_reader(&w, &c),
        list_reader(&w, &c),
        output_writer(&w, &c, core),
        descriptor_queue(&w, &c, core),
        run(&w, &c),
        counter_view(&w, core),
        control(&w, &c),
    ];
    if let Some(append) = &c.control.append {
        parts.extend([token_reader(&w, &c), token_writer(&w, &c, append)]);
    }
    let front = front(&w, &c, &parts, core);
    let top = top(&front, core);
    let within =
        [reset_stage(), reset_row(core), row_choice(core), counter_choice(&w, core), pad_view(&w, core)];
    let bases = design.swaps().then(|| base_table(&w, &c));
    bases.into_iter().chain(within).chain(parts).chain([front, top]).collect()
}
