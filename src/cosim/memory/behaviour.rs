//! Shape of the external memory, the way it answers, and its faults.

use super::axi::Beat;
use crate::design::{Design, PlacementKind};
use std::ops::Range;

/// Beats of the longest burst that any U280 memory port takes (AXI3 behind the HBM switch).
pub(super) const LONGEST: u32 = 16;

/// What every port of the memory has in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// AXI4 ports.
    pub ports: usize,
    /// Bytes of one beat, which is a flit.
    pub flit_bytes: u32,
    /// Beats of the longest burst.
    pub burst_flits: u32,
    /// Bytes from one slice to the next.
    pub slice_bytes: u64,
    /// Slices that fit the homes' regions.
    pub slices: u64,
}

impl Shape {
    /// The shape a design asks for.
    pub fn of(design: &Design) -> Shape {
        let (memory, model) = (&design.memory, &design.config.model);
        let homes = if design.placement.kind == PlacementKind::Hub { 1 } else { design.mesh.tiles() as u64 };
        let of_home = [model.max_streams, design.placement.blocks_of_home(), model.kv_heads];
        Shape {
            ports: memory.ports as usize,
            flit_bytes: design.flit.data_width / 8,
            burst_flits: memory.burst_flits,
            slice_bytes: memory.slice_bytes,
            slices: of_home.into_iter().fold(homes, |n, factor| n.saturating_mul(u64::from(factor))),
        }
    }
}

/// How the memory answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Behaviour {
    /// Bytes a port gives in a cycle, on average.
    pub bytes_per_cycle: f64,
    /// Cycles from the acceptance of a request to its first beat, at least.
    pub latency: u32,
    /// Most cycles by which a request may take longer, drawn for each.
    pub jitter: u32,
    /// Requests of different IDs may overtake one another; those of one ID never do.
    pub reorder: bool,
    /// With `reorder`: beats of different IDs may take turns.
    pub interleave: bool,
    /// Requests a port holds; while it holds as many it takes no other.
    pub outstanding: usize,
    /// Of 256 cycles, those in which a port takes no request.
    pub request_stall: u8,
    /// Of 256 cycles, those in which a port shows no beat that it could show.
    pub beat_gap: u8,
    /// What goes wrong.
    pub faults: Vec<Fault>,
    /// Of all that is drawn.
    pub seed: u64,
}

impl Behaviour {
    /// The platform of a design: its bandwidth and latency, everything in order, no fault.
    pub fn of(design: &Design) -> Behaviour {
        Behaviour {
            bytes_per_cycle: design.memory.bytes_per_cycle_port,
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

    /// The same platform at its most unpleasant: late, out of order, with gaps and refusals.
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

/// Something that goes wrong at one port, or at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The port; none for all of them.
    pub port: Option<usize>,
    /// Where: beats of these addresses. Of no importance to [`FaultKind::Deaf`] and [`FaultKind::Shut`].
    pub addresses: Range<u64>,
    /// When: from the request of this number on that the port takes.
    pub from: u64,
    /// What.
    pub kind: FaultKind,
}

impl Fault {
    /// A fault of a whole port.
    pub fn of_port(port: usize, kind: FaultKind) -> Fault {
        Fault { port: Some(port), addresses: 0..u64::MAX, from: 0, kind }
    }

    /// The same, but the first requests are spared.
    #[must_use]
    pub fn after(self, requests: u64) -> Fault {
        Fault { from: requests, ..self }
    }

    /// Whether it is of this port, address and request.
    pub(in crate::cosim) fn hits(&self, port: usize, address: u64, number: u64) -> bool {
        let here = self.port.is_none_or(|of| of == port) && number >= self.from;
        let whole = matches!(self.kind, FaultKind::Deaf | FaultKind::Shut);
        here && (whole || self.addresses.contains(&address))
    }
}

/// What can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Beats answer SLVERR.
    SlaveError,
    /// Beats answer DECERR.
    DecodeError,
    /// Requests that begin there are taken and never answered.
    Mute,
    /// Requests that begin there are answered so many cycles late.
    Late(u32),
    /// The port takes no request.
    Deaf,
    /// The port takes no data of writes.
    Shut,
}

/// What a port shows in a period.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// It takes a request.
    pub request_ready: bool,
    /// The beat it shows.
    pub beat: Option<&'a Beat>,
}

/// Who asks at a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Its name, for findings.
    pub name: String,
    /// What it adds to every address.
    pub base: u64,
    /// It promises to use an ID again only when what it was used for has been answered.
    pub unique_ids: bool,
}
