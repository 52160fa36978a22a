//! Plans: which slices are where, and which tile asks when for what.

use crate::design::{Design, NodeId};

/// A slice: (l, s, g) of one stream or shared prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SliceId {
    /// Stream or shared prefix.
    pub stream: u32,
    /// Layer l.
    pub layer: u32,
    /// Segment s of the layer.
    pub segment: u32,
    /// KV head g.
    pub slice: u32,
}

impl SliceId {
    /// The tag as the fabric writes it, without generation.
    pub fn tag(self, design: &Design) -> u64 {
        let values = [self.stream, self.layer, self.segment, self.slice];
        let fields = design.flit.kv_data.iter().zip(values);
        fields.fold(0, |tag, (field, value)| tag | u64::from(value) << field.offset)
    }

    /// The slice that a tag names.
    pub fn of_tag(design: &Design, tag: u64) -> SliceId {
        let mut fields = design.flit.kv_data.iter();
        let mut value = || fields.next().map_or(0, |f| (tag >> f.offset) as u32 & ((1 << f.width) - 1));
        SliceId { stream: value(), layer: value(), segment: value(), slice: value() }
    }
}

/// A slice in the staging memory of its home.
#[derive(Debug, Clone, Copy)]
pub struct Resident {
    /// Which.
    pub slice: SliceId,
    /// Where.
    pub home: NodeId,
    /// Cycle in which it becomes known; 0 is before the first command.
    pub cycle: u64,
}

/// A tile asks for a range of a slice.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// First cycle it may be presented; commands of a tile are presented in order.
    pub cycle: u64,
    /// Which slice.
    pub slice: SliceId,
    /// Its home.
    pub home: NodeId,
    /// Heads of the tile that want it, a bit each.
    pub mask: u64,
    /// First flit.
    pub first: u32,
    /// Last flit.
    pub last: u32,
}

/// All that happens in a run.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// What is where.
    pub residents: Vec<Resident>,
    /// What each tile asks for.
    pub commands: Vec<Vec<Command>>,
    /// Of 256 cycles, those in which a tile does not take what has come.
    pub stall: u8,
    /// Of stalls and payloads.
    pub seed: u64,
    /// Cycles without a flit or a command after which the run is stuck.
    pub watchdog: u64,
}
