//! Errors that tiles report on ports of their own, beside any device.

use crate::cosim::dut::pins::{Pin, Pins};
use crate::cosim::dut::DutError;
use crate::cosim::faults::TIMEOUT;
use crate::design::{Design, Flaw, Mesh};
use crate::emit::ModuleSpec;
use std::fmt;

/// What a tile reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TileErrorKind {
    /// A read of external memory was answered by an error.
    Memory,
    /// External memory did not answer in time.
    Timeout,
    /// A word had a wrong parity at this place.
    Parity(Flaw),
}

/// A tile's report of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TileError {
    /// (x, y) of the tile.
    pub tile: (u32, u32),
    /// The error.
    pub kind: TileErrorKind,
}

impl TileError {
    /// Its name among the bits of ERROR, and ERROR_INFO.
    pub fn in_registers(&self, mesh: Mesh) -> (&'static str, u32) {
        let tile = mesh.node(self.tile.0, self.tile.1).expect("a tile of this mesh");
        match self.kind {
            TileErrorKind::Memory => ("MEMORY", tile.index() as u32),
            TileErrorKind::Timeout => ("MEMORY_TIMEOUT", tile.index() as u32),
            TileErrorKind::Parity(flaw) => ("PARITY", flaw.info(tile)),
        }
    }
}

impl fmt::Display for TileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (x, y) = self.tile;
        match self.kind {
            TileErrorKind::Memory => {
                write!(f, "external memory failed: a read of tile ({x}, {y}) was answered with an error")
            }
            TileErrorKind::Timeout => {
                write!(f, "external memory failed: a read of tile ({x}, {y}) was not answered within {TIMEOUT} cycles")
            }
            TileErrorKind::Parity(flaw) => {
                write!(f, "a word had a wrong parity at tile ({x}, {y}), {flaw}")
            }
        }
    }
}

/// Ports on which tiles report their errors.
#[derive(Debug, Clone, Copy)]
pub(in crate::cosim::workloads) struct ErrorPins {
    memory: Pin,
    timeout: Pin,
    /// `None` without `noc.parity`.
    parity: Option<Pin>,
}

impl ErrorPins {
    /// Looks them up in the fabric of `top`.
    ///
    /// # Errors
    /// If the fabric was built for another design.
    pub(in crate::cosim::workloads) fn find(
        pins: &mut Pins,
        top: &ModuleSpec,
        tiles: u32,
    ) -> Result<ErrorPins, DutError> {
        let parity = top.ports.iter().any(|port| port.name == "error_parity");
        Ok(ErrorPins {
            memory: pins.pin(top, "error_memory", tiles)?,
            timeout: pins.pin(top, "error_timeout", tiles)?,
            parity: parity.then(|| pins.pin(top, "error_parity", tiles)).transpose()?,
        })
    }

    /// The errors that stand, tile by tile.
    pub(in crate::cosim::workloads) fn standing(&self, pins: &Pins, design: &Design) -> Vec<TileError> {
        let mut found = Vec::new();
        for (at, node) in design.mesh.nodes().enumerate() {
            let tile = design.mesh.coords(node);
            let flaw = self.parity.and_then(|pin| Flaw::of(pins.get(pin, at) as u32));
            let kinds = [
                (pins.get(self.memory, at) == 1).then_some(TileErrorKind::Memory),
                (pins.get(self.timeout, at) == 1).then_some(TileErrorKind::Timeout),
                flaw.map(TileErrorKind::Parity),
            ];
            found.extend(kinds.into_iter().flatten().map(|kind| TileError { tile, kind }));
        }
        found
    }
}
