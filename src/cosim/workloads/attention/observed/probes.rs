//! Probes of a running design other than its results: counters, stages, and the order of merges.

use crate::cosim::dut::pins::{Pin, Pins};
use crate::cosim::dut::{group_pins, DutError};
use crate::cosim::workloads::attention::result::{AttentionResult, Sample};
use crate::design::Design;
use crate::emit::ModuleSpec;

group_pins! {
    /// Indices of the scans of all tiles.
    ScanPins { stat_index event_index pad_index }
}

group_pins! {
    /// One per tile.
    TilePins { stat_data event_data pad_data pad_state }
}

group_pins! {
    /// One per column.
    MergePins { merge_valid merge_stream merge_head merge_y }
}

/// Outputs of the core for observation only.
#[derive(Clone, Copy)]
pub(in crate::cosim) struct Probes {
    scan: ScanPins,
    tiles: TilePins,
    columns: MergePins,
}

impl Probes {
    /// Looks them up in a device with these ports of the core.
    pub(in crate::cosim) fn find(
        pins: &mut Pins,
        top: &ModuleSpec,
        design: &Design,
    ) -> Result<Probes, DutError> {
        Ok(Probes {
            scan: ScanPins::find(pins, top, 1)?,
            tiles: TilePins::find(pins, top, design.mesh.tiles() as u32)?,
            columns: MergePins::find(pins, top, design.mesh.cols())?,
        })
    }

    /// Partial results whose merging began in the last period: column, (stream, head), row.
    pub(in crate::cosim) fn merges<'a>(
        &'a self,
        pins: &'a Pins,
        design: &'a Design,
    ) -> impl Iterator<Item = (u32, (u32, u32), u32)> + 'a {
        (0..design.mesh.cols()).filter_map(|x| {
            let get = |pin: Pin| pins.get(pin, x as usize) as u32;
            let columns = &self.columns;
            (get(columns.merge_valid) == 1).then(|| {
                let head = design.heads.of_column(x).start + get(columns.merge_head);
                (x, (get(columns.merge_stream), head), get(columns.merge_y))
            })
        })
    }

    /// Records the scanned counters and the states of the stages. `cycle` counts from the first descriptor on, or from
    /// the start of a device.
    pub(in crate::cosim) fn look(
        &self,
        pins: &Pins,
        result: &mut AttentionResult,
        cycle: u64,
        timeline: usize,
    ) {
        let get = |pin: Pin, at: usize| pins.get(pin, at);
        let (event, stat, pad) = (
            get(self.scan.event_index, 0) as usize,
            get(self.scan.stat_index, 0) as usize,
            get(self.scan.pad_index, 0) as usize,
        );
        let mut any = 0;
        for tile in 0..result.pad.len() {
            if let Some(counter) = result.events[tile].get_mut(event) {
                *counter = get(self.tiles.event_data, tile) as u32;
            }
            if let Some(counter) = result.links[tile].get_mut(stat) {
                *counter = get(self.tiles.stat_data, tile) as u32;
            }
            result.pad[tile][pad] = get(self.tiles.pad_data, tile) as u32;
            let state = get(self.tiles.pad_state, tile);
            any |= state;
            let bit = |at: u32| state >> at & 1 == 1;
            if bit(0) || bit(1) {
                result.kv_cycles = cycle + 1;
            }
            if result.timeline[tile].len() < timeline {
                result.timeline[tile].push(Sample {
                    keys: bit(0),
                    values: bit(1),
                    fetched: bit(2),
                    loads: bit(3),
                    results: bit(4),
                });
            }
        }
        let any = |bits: u64| any & bits != 0;
        result.passed.arrays(result.query_cycles + cycle + 1, [any(1 << 2), any(0b11), any(1 << 4)]);
    }
}
