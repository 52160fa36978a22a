//! Shape, timing and faults of the external memory.

use super::axi::Beat;
use super::channels::Layout;
use crate::design::{Design, Refresh};
use std::collections::BTreeMap;
use std::ops::Range;

/// Beats of the longest burst that any U280 memory port accepts (AXI3 behind the HBM switch).
pub(super) const LONGEST: u32 = 16;

/// Properties that all ports of the memory share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shape {
    /// AXI4 ports.
    pub ports: usize,
    /// Bytes of one beat, which is a flit.
    pub flit_bytes: u32,
    /// Beats of the longest burst.
    pub burst_flits: u32,
    /// Bytes from one slice to the next.
    pub slice_bytes: u64,
    /// Regions, one a home.
    pub regions: u64,
    /// Slices of a region.
    pub slices: u64,
    /// Bits of a byte of a region.
    pub region_width: u32,
    /// Bits of a slice's number within its region.
    pub local_width: u32,
}

impl Shape {
    /// The shape that a design needs.
    pub fn of(design: &Design) -> Shape {
        let (memory, model) = (&design.memory, &design.model);
        let placement = &design.placement;
        let caches = placement.numbered_caches(model.max_streams);
        let of_home = [caches, placement.blocks_of_home(), placement.block_slices()];
        Shape {
            ports: memory.ports as usize,
            flit_bytes: design.flit.data_width / 8,
            burst_flits: memory.burst_flits,
            slice_bytes: memory.slice_bytes,
            regions: u64::from(memory.ports) * u64::from(memory.tiles_per_port),
            slices: of_home.into_iter().fold(1, |n: u64, factor| n.saturating_mul(u64::from(factor))),
            region_width: memory.region_width,
            local_width: memory.local_width,
        }
    }

    /// The shape of a memory without slices behind one port.
    pub fn flat(flit_bytes: u32) -> Shape {
        let whole = Shape { ports: 1, flit_bytes, burst_flits: LONGEST, ..Shape::default() };
        Shape { slice_bytes: u64::MAX, regions: 1, slices: 1, region_width: u64::BITS, ..whole }
    }

    /// The number of the slice at an address, and the byte of it. None outside all regions.
    pub fn slice_at(&self, address: u64) -> Option<(u64, u64)> {
        let region = address.checked_shr(self.region_width).unwrap_or(0);
        let byte = address - region.checked_shl(self.region_width).unwrap_or(0);
        let slice = byte / self.slice_bytes;
        let inside = region < self.regions && slice < self.slices;
        inside.then(|| (region << self.local_width | slice, byte % self.slice_bytes))
    }
}

/// Timing of the memory's answers, and its faults.
#[derive(Debug, Clone, PartialEq)]
pub struct Behaviour {
    /// Peak bytes per cycle of a channel.
    pub bytes_per_cycle: f64,
    /// Rest of each channel for refresh.
    pub refresh: Option<Refresh>,
    /// Assignment of addresses to channels.
    pub layout: Layout,
    /// Least cycles from the acceptance of a request to its first beat.
    pub latency: u32,
    /// Largest extra latency of a request in cycles, drawn for each.
    pub jitter: u32,
    /// Requests of different IDs may overtake each other; those of one ID never do.
    pub reorder: bool,
    /// With `reorder`: beats of different IDs may take turns.
    pub interleave: bool,
    /// Requests that a port can hold before it refuses others.
    pub outstanding: usize,
    /// Cycles of 256 in which a port accepts no request.
    pub request_stall: u8,
    /// Cycles of 256 in which a port withholds a beat.
    pub beat_gap: u8,
    /// Faults.
    pub faults: Vec<Fault>,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Behaviour {
    /// The platform of a design: its bandwidth and latency, everything in order, no fault.
    pub fn of(design: &Design) -> Behaviour {
        Behaviour {
            bytes_per_cycle: design.memory.bytes_per_cycle_channel,
            refresh: design.memory.refresh,
            layout: Layout::of(design),
            latency: design.memory.latency_cycles,
            jitter: 0,
            reorder: false,
            interleave: false,
            outstanding: 64,
            request_stall: 0,
            beat_gap: 0,
            faults: Vec::new(),
            seed: 1,
        }
    }

    /// Bytes per cycle of a channel on average, refresh taken off.
    pub fn mean_bytes_per_cycle(&self) -> f64 {
        self.bytes_per_cycle * self.refresh.map_or(1.0, |refresh| refresh.left())
    }

    /// The same platform in its worst form: late, out of order, with gaps and refusals.
    #[must_use]
    pub fn unruly(self, seed: u64) -> Behaviour {
        Behaviour {
            jitter: 2 * self.latency,
            reorder: true,
            interleave: true,
            request_stall: 100,
            beat_gap: 60,
            seed,
            ..self
        }
    }
}

/// A fault at one port, or at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The port; `None` for all of them.
    pub port: Option<usize>,
    /// Addresses of the beats that fail. [`FaultKind::Deaf`], [`FaultKind::Shut`] and [`FaultKind::Still`] ignore it.
    pub addresses: Range<u64>,
    /// Number of the first request, as the port accepts them, to which it applies.
    pub from: u64,
    /// Number of the first request after them to which it does not.
    pub to: u64,
    /// Kind of the fault.
    pub kind: FaultKind,
}

impl Fault {
    /// A fault of a whole port.
    pub fn of_port(port: usize, kind: FaultKind) -> Fault {
        Fault { port: Some(port), addresses: 0..u64::MAX, from: 0, to: u64::MAX, kind }
    }

    /// The same, but not for the first requests.
    #[must_use]
    pub fn after(self, requests: u64) -> Fault {
        Fault { from: requests, ..self }
    }

    /// The same for one request alone, by its number at the port.
    #[must_use]
    pub fn only(self, number: u64) -> Fault {
        Fault { from: number, to: number + 1, ..self }
    }

    /// True if it applies to this port, address and request.
    pub(in crate::cosim) fn hits(&self, port: usize, address: u64, number: u64) -> bool {
        let here = self.port.is_none_or(|of| of == port);
        let whole = matches!(self.kind, FaultKind::Deaf | FaultKind::Shut);
        let now = matches!(self.kind, FaultKind::Still { .. }) || (self.from..self.to).contains(&number);
        here && now && (whole || self.addresses.contains(&address))
    }
}

/// Kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Beats answer SLVERR.
    SlaveError,
    /// Beats answer DECERR.
    DecodeError,
    /// Requests that begin there are accepted and never answered.
    Mute,
    /// Requests that begin there are answered so many cycles late.
    Late(u32),
    /// The port accepts no request.
    Deaf,
    /// The port accepts no write data.
    Shut,
    /// Requests are answered twice, the second time unasked.
    Twice,
    /// The last beat but one is marked as the last; a request of one beat is answered well.
    EarlyLast,
    /// The last beat is not marked.
    NoLast,
    /// A bit of the first beat is inverted.
    Flip(u32),
    /// The port accepts and sends nothing from a cycle on, up to another.
    Still {
        /// First cycle.
        from: u64,
        /// First cycle after it.
        to: u64,
    },
}

impl FaultKind {
    /// True if the port stands still in a cycle.
    pub(super) fn stills(self, cycle: u64) -> bool {
        matches!(self, FaultKind::Still { from, to } if (from..to).contains(&cycle))
    }
}

/// The first cycle in which each fault of a list took effect at a port, by its place in the list.
#[derive(Debug, Clone, Default)]
pub(super) struct Struck(BTreeMap<usize, u64>);

impl Struck {
    /// Notes that a fault takes effect in a cycle.
    pub(super) fn by(&mut self, fault: usize, cycle: u64) {
        self.0.entry(fault).or_insert(cycle);
    }

    /// Cycle of a fault.
    pub(super) fn at(&self, fault: usize) -> Option<u64> {
        self.0.get(&fault).copied()
    }
}

/// Outputs of a port in a period.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// Ready for a request.
    pub request_ready: bool,
    /// The beat on the wires.
    pub beat: Option<&'a Beat>,
}

/// The master of a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Its name, for findings.
    pub name: String,
    /// Base address that it adds to its addresses.
    pub base: Base,
    /// Rule that it reuses an ID only after all requests with this ID have been answered.
    pub unique_ids: bool,
}

/// Offsets that a master adds to its addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Base {
    /// One for all.
    One(u64),
    /// One for each part of memory. The number of a part is above its `part_width` bits.
    OfPart {
        /// The offsets, by part.
        offsets: Vec<u64>,
        /// Bits of a byte of a part.
        part_width: u32,
    },
}

impl Base {
    /// The address without its offset.
    pub fn inside(&self, address: u64) -> u64 {
        match self {
            Base::One(offset) => address.wrapping_sub(*offset),
            Base::OfPart { offsets, part_width } => {
                let without = offsets.iter().map(|offset| address.wrapping_sub(*offset));
                let found = (0..).zip(without).find(|(part, inside)| inside >> part_width == *part);
                found.map_or(u64::MAX, |(_, inside)| inside)
            }
        }
    }
}
