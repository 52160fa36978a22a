//! Output of `meshkv check` as JSON.

use crate::cli::output::diagnostics::{self, Diagnostic};
use crate::cli::prepare::check::deadlock::DeadlockOutput;
use crate::cli::prepare::check::placement::PlacementOutput;
use crate::cli::prepare::check::throughput::ThroughputRow;
use crate::config::Report;
use crate::design::{ChannelUse, Class, Design, DestKind};
use crate::emit::ultra_rams;
use schemars::JsonSchema;
use serde::Serialize;

/// Sizes, rates and addresses that follow from a configuration.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct CheckOutput {
    /// Name of the configuration.
    name: String,
    /// Tiles from west to east.
    cols: u32,
    /// Tiles from south to north.
    rows: u32,
    /// Counts.
    #[serde(flatten)]
    pub(super) facts: Facts,
    /// True if routers replicate flits.
    multicast: bool,
    /// Bundles of wires of a flit, and fields of its header by class.
    pub(super) flit: Vec<FlitRow>,
    /// Memory channels of the card, each with the bytes of the cache that it holds.
    pub(super) channels: Vec<ChannelRow>,
    /// GB/s of KV that each part lets through, by class of workload.
    pub(super) throughput: Vec<ThroughputRow>,
    /// Warnings of the configuration, and those that it accepts.
    diagnostics: Vec<Diagnostic>,
    /// Waits of buffers for each other, with `--deadlock`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) deadlock: Option<DeadlockOutput>,
    /// Where macro-blocks land, with `--placement`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) placement: Option<PlacementOutput>,
}

/// Counts that follow from a configuration. Their descriptions are the prose of `meshkv check`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Facts {
    /// Routers, each with its tile.
    tiles: u64,
    /// Router to router, each direction counted.
    links: u64,
    /// Virtual channels of a port.
    vcs: u32,
    /// Flits the routers can hold.
    buffer_flits: u64,
    /// Bits of a flit on a row link: data, head, dest.
    flit_bits: u32,
    /// Placement stride a.
    takv_a: u32,
    /// Macro-blocks a tile must home (N_max).
    blocks_per_tile: u32,
    /// Segments of a layer at the longest context.
    segments: u32,
    /// Flits of one slice, K and V.
    slice_flits: u32,
    /// Flits of one staging window.
    window_flits: u32,
    /// Bytes of one slice in external memory.
    slice_bytes: u64,
    /// AXI4 read masters.
    memory_ports: u32,
    /// Tiles of a row that share one of them.
    tiles_per_port: u32,
    /// Bits of an address there.
    memory_addr_bits: u32,
    /// Memory channels of the card with a part of the cache.
    memory_channels_used: usize,
    /// URAM288 of staging memories, arrays and reduce roots, as `estimate` counts them.
    uram: u64,
}

/// One bundle of wires, or one field of the `head` bundle in one class of flit.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FlitRow {
    /// `data`, `dest`, `column_dest` or `head`.
    pub(super) bundle: &'static str,
    /// Class the field belongs to; `all` for bundles that every class has.
    pub(super) class: &'static str,
    /// Name of the field, or of the bundle.
    pub(super) name: &'static str,
    /// Its lowest bit in the bundle.
    pub(super) offset: u32,
    /// Its width in bits.
    pub(super) width: u32,
    /// Its meaning.
    pub(super) doc: &'static str,
}

/// A memory channel of the card, as the host's library lays out the cache.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ChannelRow {
    /// Its number.
    pub(super) channel: u32,
    /// Homes that have bytes in it.
    pub(super) homes: u32,
    /// Bytes of their caches.
    pub(super) bytes: u64,
}

impl CheckOutput {
    /// Output for a design that was read with these warnings.
    pub(super) fn new(design: &Design, warnings: &Report) -> CheckOutput {
        CheckOutput {
            name: design.name.clone(),
            cols: design.mesh.cols(),
            rows: design.mesh.rows(),
            facts: Facts::of(design),
            multicast: design.router.multicast,
            flit: flit_rows(design),
            channels: channel_rows(design),
            throughput: Vec::new(),
            diagnostics: diagnostics::of_report(warnings),
            deadlock: None,
            placement: None,
        }
    }
}

impl Facts {
    fn of(design: &Design) -> Facts {
        let (mesh, router, memory) = (design.mesh, design.router, &design.memory);
        let (cols, rows) = (u64::from(mesh.cols()), u64::from(mesh.rows()));
        Facts {
            tiles: cols * rows,
            links: 2 * ((cols - 1) * rows + (rows - 1) * cols),
            vcs: router.vcs(),
            buffer_flits: mesh.tiles() as u64 * 5 * u64::from(router.vcs()) * u64::from(router.vc_depth),
            flit_bits: design.flit.width(),
            takv_a: design.takv_a,
            blocks_per_tile: design.blocks_per_tile,
            segments: design.placement.segments,
            slice_flits: design.mare.slice_flits,
            window_flits: design.mare.window_flits,
            slice_bytes: memory.slice_bytes,
            memory_ports: memory.ports,
            tiles_per_port: memory.tiles_per_port,
            memory_addr_bits: memory.addr_width,
            memory_channels_used: design.channel_use().iter().filter(|channel| channel.homes > 0).count(),
            uram: ultra_rams(design),
        }
    }
}

fn channel_rows(design: &Design) -> Vec<ChannelRow> {
    let row = |(channel, of): (u32, ChannelUse)| ChannelRow { channel, homes: of.homes, bytes: of.bytes };
    (0..).zip(design.channel_use()).map(row).collect()
}

fn flit_rows(design: &Design) -> Vec<FlitRow> {
    let flit = &design.flit;
    let (set, column) = match flit.dest_kind {
        DestKind::Set => ("destination set, bit y * cols + x", "the set on column links, bit y"),
        DestKind::Coord => ("destination {y, x}", "the destination on column links, y"),
    };
    let bundle = |name, width, doc| FlitRow { bundle: name, class: "all", name, offset: 0, width, doc };
    let mut rows = vec![
        bundle(
            "data",
            flit.carried_width(),
            if flit.parity { "payload, and its parity in the top bit" } else { "payload" },
        ),
        bundle("dest", flit.dest_width, set),
        bundle("column_dest", flit.column_dest_width, column),
    ];
    for class in Class::ALL {
        rows.extend(flit.fields(class).iter().map(|field| FlitRow {
            bundle: "head",
            class: class.name(),
            name: field.name,
            offset: field.offset,
            width: field.width,
            doc: field.doc,
        }));
    }
    rows
}
